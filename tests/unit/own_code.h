/* The program of the test itself, as a large piece of code that a compiler made. Tests include
 * <cmocka.h> first. */
#pragma once
#include "flow/flow.h"
#include "flow/private.h"

struct own_code {
	struct image *image;
	struct flow *flow;
	const struct procedure *procedures;
	uint32_t count; /* of procedures */
	struct private_registers private;
};

static void own_code_open(struct own_code *o)
{
	struct err e;
	assert_int_equal(image_open(&o->image, "/proc/self/exe", &e), 0);
	assert_int_equal(flow_open(&o->flow, o->image, &e), 0);
	flow_discover(o->flow);
	o->procedures = flow_procedures(o->flow, &o->count);
	private_find(&o->private, o->flow);
}

static void own_code_close(struct own_code *o)
{
	private_release(&o->private);
	flow_close(o->flow);
	image_close(o->image);
}
