/* Balls on a table: they roll, bounce off the cushions, and off each other. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* As if each were in a file of its own: the compiler leaves calls of them alone. */
#define SEPARATE __attribute__((noinline))

enum { BALLS = 1500, FRAMES = 900, STEPS_PER_FRAME = 2 };

static const double width = 100, height = 50, radius = 0.2, step = 0.01;

struct ball {
	double x, y, vx, vy;
};

static struct ball balls[BALLS];
static long most; /* collisions in one step */

static double random_within(double low, double high)
{
	return low + (high - low) * rand() / RAND_MAX;
}

static void set_up(void)
{
	srand(1);
	for (int i = 0; i < BALLS; i++)
		balls[i] = (struct ball){random_within(0, width), random_within(0, height),
					 random_within(-5, 5), random_within(-5, 5)};
}

static void roll(struct ball *b)
{
	b->x += b->vx * step;
	b->y += b->vy * step;
	if (b->x < 0 || b->x > width)
		b->vx = copysign(b->vx, width / 2 - b->x);
	if (b->y < 0 || b->y > height)
		b->vy = copysign(b->vy, height / 2 - b->y);
}

/* Two balls of the same mass exchange what they have of their velocities along the line between
 * them, unless they part already: then it returns 0. */
static int bounce(struct ball *a, struct ball *b)
{
	double dx = b->x - a->x, dy = b->y - a->y, square = dx * dx + dy * dy;
	double along = (a->vx - b->vx) * dx + (a->vy - b->vy) * dy;
	if (along <= 0 || square == 0)
		return 0;
	a->vx -= along / square * dx;
	a->vy -= along / square * dy;
	b->vx += along / square * dx;
	b->vy += along / square * dy;
	return 1;
}

SEPARATE static long collide(void)
{
	long collisions = 0;
	for (int i = 0; i < BALLS; i++) {
		struct ball a = balls[i];
		for (int j = i + 1; j < BALLS; j++) {
			double dx = balls[j].x - a.x, dy = balls[j].y - a.y;
			if (sqrt(dx * dx + dy * dy) < 2 * radius)
				collisions += bounce(&balls[i], &balls[j]);
		}
	}
	return collisions;
}

SEPARATE static long advance(void)
{
	for (int i = 0; i < BALLS; i++)
		roll(&balls[i]);
	long now = collide();
	most = now > most ? now : most;
	return now;
}

static double energy(void)
{
	double sum = 0;
	for (int i = 0; i < BALLS; i++)
		sum += balls[i].vx * balls[i].vx + balls[i].vy * balls[i].vy;
	return sum / 2;
}

SEPARATE static long simulate(void)
{
	long collisions = 0;
	for (int s = 0; s < STEPS_PER_FRAME; s++)
		collisions += advance();
	return collisions;
}

int main(void)
{
	set_up();
	double before = energy();
	long collisions = 0;
	for (int frame = 0; frame < FRAMES; frame++)
		collisions += simulate();
	printf("%ld collisions, at most %ld at once; energy changed by %.1e\n", collisions, most,
	       energy() - before);
	return 0;
}
