/* The program of the test itself, as a large piece of code that a compiler made. Tests include
 * <cmocka.h> first. */
#pragma once
#include "flow/flow.h"
#include "flow/private.h"

struct own_code {
	struct module *module;
	struct flow *flow;
	const struct function *functions;
	uint32_t count; /* of functions */
	struct private_registers private;
};

static void own_code_open(struct own_code *o)
{
	struct err e;
	assert_int_equal(module_open(&o->module, "/proc/self/exe", &e), 0);
	assert_int_equal(flow_open(&o->flow, o->module, &e), 0);
	flow_discover(o->flow);
	o->functions = flow_functions(o->flow, &o->count);
	private_find(&o->private, o->flow);
}

static void own_code_close(struct own_code *o)
{
	private_release(&o->private);
	flow_close(o->flow);
	module_close(o->module);
}
