// Objects that are called through their tables, held by pointers, in no order. usage: shapes ROUNDS
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

struct shape {
	virtual ~shape() = default;
	virtual double area() const = 0;
	virtual void grow(double by) = 0;
	virtual int corners() const
	{
		return 0;
	}
};

struct circle : shape {
	double radius;
	explicit circle(double r) : radius(r)
	{
	}
	double area() const override
	{
		return 3.14159265 * radius * radius;
	}
	void grow(double by) override
	{
		radius += by;
	}
};

struct box : shape {
	double width, height;
	box(double w, double h) : width(w), height(h)
	{
	}
	double area() const override
	{
		return width * height;
	}
	void grow(double by) override
	{
		width += by, height += by;
	}
	int corners() const override
	{
		return 4;
	}
};

struct group : shape {
	std::vector<std::unique_ptr<shape>> parts;
	double area() const override
	{
		double sum = 0;
		for (const auto &p : parts)
			sum += p->area();
		return sum;
	}
	void grow(double by) override
	{
		for (auto &p : parts)
			p->grow(by / 2);
	}
	int corners() const override
	{
		int sum = 0;
		for (const auto &p : parts)
			sum += p->corners();
		return sum;
	}
};

static std::unique_ptr<shape> make(unsigned &seed, int depth)
{
	seed = seed * 1103515245 + 12345;
	unsigned kind = (seed >> 16) % (depth ? 3 : 2);
	if (kind == 0)
		return std::make_unique<circle>(seed % 7);
	if (kind == 1)
		return std::make_unique<box>(seed % 5, seed % 3);
	auto g = std::make_unique<group>();
	for (int i = 0; i < 6; i++)
		g->parts.push_back(make(seed, depth - 1));
	return g;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
	unsigned seed = 7;
	std::vector<std::unique_ptr<shape>> all;
	double area = 0;
	long corners = 0;
	for (int i = 0; i < 300; i++)
		all.push_back(make(seed, 3));
	for (int r = 0; r < rounds; r++)
		for (auto &s : all) {
			s->grow(0.001);
			area += s->area();
			corners += s->corners();
		}
	std::printf("%.6e %ld\n", area, corners);
	return 0;
}
