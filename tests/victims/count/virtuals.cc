/* Virtual calls: sites with one, two and three classes behind them, loops in the methods, calls in constructors. */
#include "truth.h"

struct Shape {
	u64 size;
	explicit Shape(u64 n) : size(n) {}
	virtual ~Shape() {}
	virtual u64 area(u64 x) const = 0;
	virtual u64 grown(u64 x) const { return x + size; }
};

extern "C" KEEP u64 virtual_leaf(u64 x)
{
	CALLED(virtual_leaf);
	return x * 3 + 1;
}

/* Names that tests find in the symbol table. */
struct Square : Shape {
	using Shape::Shape;
	KEEP u64 area(u64 x) const override __asm__("square_area");
};

struct Circle : Shape {
	using Shape::Shape;
	KEEP u64 area(u64 x) const override __asm__("circle_area");
	KEEP u64 grown(u64 x) const override __asm__("circle_grown");
};

struct Group : Shape {
	const Shape *of[3];
	Group(const Shape *a, const Shape *b, const Shape *c) : Shape(3), of{a, b, c} {}
	KEEP u64 area(u64 x) const override __asm__("group_area");
};

u64 Square::area(u64 x) const
{
	LOOP(square);
	CALLED(square_area);
	ENTER(square);
	for (u64 i = 0; i < size; i++) {
		ITER(square);
		x = x * 3 + i;
		BARRIER();
	}
	LEAVE(square);
	return x;
}

u64 Circle::area(u64 x) const
{
	CALLED(circle_area);
	return virtual_leaf(x) * 3 + size;
}

u64 Circle::grown(u64 x) const
{
	CALLED(circle_grown);
	return area(x) + area(x + 1);
}

u64 Group::area(u64 x) const
{
	LOOP(group);
	CALLED(group_area);
	ENTER(group);
	for (u64 i = 0; i < size; i++) {
		ITER(group);
		x = of[i]->area(x) + of[(i + 1) % 3]->grown(x);
	}
	LEAVE(group);
	return x;
}

extern "C" KEEP u64 virtual_sum(const Shape *const *shapes, u64 n, u64 x)
{
	LOOP(shapes);
	CALLED(virtual_sum);
	ENTER(shapes);
	for (u64 i = 0; i < n; i++) {
		ITER(shapes);
		x = shapes[i]->area(x) ^ i;
	}
	LEAVE(shapes);
	return x;
}

extern "C" u64 victim_virtuals(void)
{
	Square s(3), t(5);
	Circle c(7);
	Group g(&s, &c, &t), h(&g, &s, &g);
	const Shape *same[] = {&s, &t, &s, &t}, *two[] = {&s, &c, &s, &c, &t}, *three[] = {&s, &c, &g, &c, &h, &s};
	u64 sum = 0;
	for (u64 i = 0; i < 10; i++) {
		sum = virtual_sum(same, 4, sum + i);
		sum = virtual_sum(two, 5, sum ^ i);
		sum = virtual_sum(three, i % 7, sum);
	}
	return sum;
}
