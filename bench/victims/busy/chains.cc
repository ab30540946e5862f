// Decay chains of nuclides: many small objects, each with virtual calls of a few nanoseconds.
// usage: chains STEPS
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

class Nuclide
{
      public:
	virtual ~Nuclide() = default;
	virtual double rate(double flux) const = 0;
	virtual unsigned daughter() const = 0;
};

class Decaying : public Nuclide
{
      public:
	Decaying(double constant, unsigned to) : constant(constant), to(to)
	{
	}
	double rate(double) const override
	{
		return constant;
	}
	unsigned daughter() const override
	{
		return to;
	}

      private:
	double constant;
	unsigned to;
};

class Capturing : public Nuclide
{
      public:
	Capturing(double section, unsigned to) : section(section), to(to)
	{
	}
	double rate(double flux) const override
	{
		return section * flux / (1 + 0.01 * flux);
	}
	unsigned daughter() const override
	{
		return to;
	}

      private:
	double section;
	unsigned to;
};

class Inventory
{
      public:
	explicit Inventory(unsigned size) : amounts(size, 1.0), changes(size)
	{
		for (unsigned i = 0; i < size; i++) {
			unsigned to = (i * 7 + 3) % size;
			if (i % 3)
				nuclides.push_back(
					std::make_unique<Decaying>(1e-3 * (1 + i % 11), to));
			else
				nuclides.push_back(
					std::make_unique<Capturing>(2e-3 * (1 + i % 5), to));
		}
	}

	void step(double flux, double dt)
	{
		for (double &change : changes)
			change = 0;
		for (unsigned i = 0; i < nuclides.size(); i++)
			transmute(i, flux, dt);
		for (unsigned i = 0; i < amounts.size(); i++)
			amounts[i] += changes[i];
	}

	double total() const
	{
		double sum = 0;
		for (unsigned i = 0; i < amounts.size(); i++)
			sum += amounts[i] * (1 + i % 17);
		return sum;
	}

      private:
	__attribute__((noinline)) void transmute(unsigned i, double flux, double dt)
	{
		double gone = amounts[i] * nuclides[i]->rate(flux) * dt;
		changes[i] -= gone;
		changes[nuclides[i]->daughter()] += gone;
	}

	std::vector<std::unique_ptr<Nuclide>> nuclides;
	std::vector<double> amounts, changes;
};

int main(int argc, char **argv)
{
	long steps = argc > 1 ? std::atol(argv[1]) : 1000;
	Inventory inventory(1600);
	for (long i = 0; i < steps; i++)
		inventory.step(1 + i % 7, 0.1);
	std::printf("%.9g\n", inventory.total());
}
