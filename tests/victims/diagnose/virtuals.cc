// Hot behind a virtual call.
#include "victim.h"

static uint64_t first, hot;

struct Shape {
	virtual ~Shape() = default;
	virtual uint64_t area(uint64_t x) const = 0;
};

struct Sphere : Shape {
	uint64_t area(uint64_t x) const override;
};

struct Box : Shape {
	uint64_t area(uint64_t x) const override;
};

OWN uint64_t Sphere::area(uint64_t x) const
{
	for (int i = 0; i < 500000; i++) /* hot: sphere */
		STIR(x);
	return x;
}

OWN uint64_t Box::area(uint64_t x) const
{
	for (int i = 0; i < 80000; i++)
		STIR(x);
	return x;
}

OWN static Shape *make(char kind)
{
	if (kind == 's')
		return new Sphere;
	return new Box;
}

OWN static uint64_t measure(Shape *const *shapes, int count, uint64_t x)
{
	for (int i = 0; i < count; i++) { /* hot: measure */
		bool sphere = i == 1;
		uint64_t rest = 0;
		CPU_OF(*(sphere ? &hot : &rest), x = shapes[i]->area(x) + 1);
	}
	return x;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	Shape *shapes[] = {make('b'), make('s')};
	while (running()) /* hot: main */
		same(&first, measure(shapes, 2, 7));
	finish("virtuals");
	tell_cpu("Sphere::area", hot);
	for (Shape *s : shapes)
		delete s;
}
