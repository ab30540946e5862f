/* pprof's profile.proto, encoded by hand: a message is a list of fields, each a key (field number
 * and wire type) followed by a varint, or by a length and bytes. The file is compressed with gzip.
 *
 * A location is an address with its lines, innermost first: the inlined calls and loops around
 * the address are further lines of the same location. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "profile/export_paths.h"

enum wire { WIRE_VARINT = 0, WIRE_BYTES = 2 };

/* Numbers of the fields that we write, message by message. */
enum pprof_field {
	PPROF_SAMPLE_TYPE = 1,
	PPROF_SAMPLE = 2,
	PPROF_MAPPING = 3,
	PPROF_LOCATION = 4,
	PPROF_FUNCTION = 5,
	PPROF_STRING = 6,
	PPROF_DURATION = 10,
	PPROF_PERIOD_TYPE = 11,
	PPROF_PERIOD = 12,
	PPROF_COMMENT = 13,
	PPROF_DEFAULT_TYPE = 14,
};
enum { TYPE_TYPE = 1, TYPE_UNIT = 2 };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_STRING = 2, LABEL_NUMBER = 3 };
enum {
	MAPPING_ID = 1,
	MAPPING_START = 2,
	MAPPING_LIMIT = 3,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILES = 8,
	MAPPING_HAS_LINES = 9,
	MAPPING_HAS_INLINES = 10,
};
enum { LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4 };

/* Most locations of one sample. Deeper recursion loses its middle frames. */
enum { DEPTH_MAX = 2000 };

struct pprof {
	const struct profile *p;
	const struct export_options *o;
	struct text_pool strings;
	/* Used as a hash table: its nodes from 1 on are the distinct locations. */
	struct profile places;
	uint32_t *location;       /* by node */
	bool *focused;            /* by node */
	struct hashmap functions; /* name and file -> id */
	struct text out, message, part;
};

static void put_varint(struct text *t, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		text_char(t, (char)(v | 0x80));
	text_char(t, (char)v);
}

/* A field that is absent has the value 0, so zeros need not be written. */
static void put_number(struct text *t, unsigned field, uint64_t v)
{
	if (!v)
		return;
	put_varint(t, field << 3 | WIRE_VARINT);
	put_varint(t, v);
}

static void put_bytes(struct text *t, unsigned field, const char *bytes, size_t n)
{
	put_varint(t, field << 3 | WIRE_BYTES);
	put_varint(t, n);
	text_addn(t, n ? bytes : "", n);
}

/* Writes a message as a field of another one, and clears it. */
static void put_message(struct text *t, unsigned field, struct text *message)
{
	put_bytes(t, field, message->data, message->len);
	text_clear(message);
}

static uint32_t string_of(struct pprof *x, const char *s)
{
	return text_pool_add(&x->strings, s);
}

static void put_type(struct pprof *x, unsigned field, const char *type, const char *unit)
{
	put_number(&x->message, TYPE_TYPE, string_of(x, type));
	put_number(&x->message, TYPE_UNIT, string_of(x, unit));
	put_message(&x->out, field, &x->message);
}

static const char *unit_of(const struct profile_metric *m)
{
	return strcmp(m->unit, "ns") != 0 ? "count" : "nanoseconds";
}

/* Two values per metric: the number of samples (or of executions if counted), and the amount. */
static void put_types(struct pprof *x)
{
	struct text name = TEXT_INIT;
	vec_each (m, &x->p->metrics) {
		text_clear(&name);
		bool counted = profile_is_counted(x->p, (uint32_t)(m - x->p->metrics.data));
		text_printf(&name, "%s%s%s", x->p->metrics.len > 1 ? m->name : "",
			    x->p->metrics.len > 1 ? " " : "", counted ? "executions" : "samples");
		put_type(x, PPROF_SAMPLE_TYPE, name.data, "count");
		put_type(x, PPROF_SAMPLE_TYPE, m->name, unit_of(m));
	}
	text_release(&name);
	if (x->o->tree.metric < x->p->metrics.len) {
		const struct profile_metric *m = &x->p->metrics.data[x->o->tree.metric];
		put_type(x, PPROF_PERIOD_TYPE, m->name, unit_of(m));
		put_number(&x->out, PPROF_PERIOD, m->period);
		put_number(&x->out, PPROF_DEFAULT_TYPE, string_of(x, m->name));
	}
}

static void put_mapping(struct pprof *x, uint32_t module, uint64_t low, uint64_t high)
{
	const struct profile_module *m = &x->p->modules.data[module];
	char hex[65];
	build_id_hex(&m->build_id, hex);
	put_number(&x->message, MAPPING_ID, module + 1);
	put_number(&x->message, MAPPING_START, low);
	put_number(&x->message, MAPPING_LIMIT, high + 1);
	put_number(&x->message, MAPPING_FILE, string_of(x, m->path));
	put_number(&x->message, MAPPING_BUILD_ID, string_of(x, m->build_id.size ? hex : ""));
	for (unsigned field = MAPPING_HAS_FUNCTIONS; field <= MAPPING_HAS_INLINES; field++)
		put_number(&x->message, field, 1);
	put_message(&x->out, PPROF_MAPPING, &x->message);
}

/* A module's mapping spans the lowest to the highest address in the profile: that is all we
 * know. */
static void put_mappings(struct pprof *x)
{
	uint32_t count = x->p->modules.len;
	uint64_t *low = xcalloc((size_t)count + 1, sizeof(*low)),
		 *high = xcalloc((size_t)count + 1, sizeof(*high));
	vec_each (n, &x->p->nodes) {
		if (n->module == PROFILE_NONE)
			continue;
		if (!high[n->module] || n->address < low[n->module])
			low[n->module] = n->address;
		if (n->address > high[n->module])
			high[n->module] = n->address;
	}
	for (uint32_t i = 0; i < count; i++)
		put_mapping(x, i, low[i], high[i]);
	free(low);
	free(high);
}

static uint32_t function_of(struct pprof *x, const char *name, const char *file)
{
	uint32_t n = string_of(x, name), f = string_of(x, file), next = x->functions.len + 1;
	uint32_t id = hashmap_add(&x->functions, (uint64_t)n << 32 | f, next);
	if (id == next) {
		struct text function = TEXT_INIT;
		put_number(&function, FUNCTION_ID, id);
		put_number(&function, FUNCTION_NAME, n);
		put_number(&function, FUNCTION_SYSTEM_NAME, n);
		put_number(&function, FUNCTION_FILE, f);
		put_message(&x->out, PPROF_FUNCTION, &function);
		text_release(&function);
	}
	return id;
}

static void put_line(struct pprof *x, enum tree_kind kind, uint32_t scope, uint32_t line)
{
	struct text name = TEXT_INIT;
	export_name(&name, x->p, kind, scope);
	const char *file = scope == PROFILE_NONE ? "" : x->p->scopes.data[scope].file;
	put_number(&x->part, LINE_FUNCTION, function_of(x, name.data, file));
	put_number(&x->part, LINE_LINE, line);
	put_message(&x->message, LOCATION_LINE, &x->part);
	text_release(&name);
}

/* Writes one line for each scope around the address: the line in that scope that leads to the
 * address. */
static void put_lines(struct pprof *x, uint32_t scope)
{
	uint32_t line = 0;
	for (; scope != PROFILE_NONE; scope = x->p->scopes.data[scope].parent) {
		const struct profile_scope *s = &x->p->scopes.data[scope];
		switch (s->kind) {
		case PROFILE_LINE: line = s->first_line; break;
		case PROFILE_LOOP:
			if (!x->o->loops)
				break;
			put_line(x, TREE_LOOP, scope, line);
			line = s->first_line;
			break;
		case PROFILE_INLINE:
			if (x->o->inlines)
				put_line(x, TREE_INLINE, scope, line);
			line = s->call_line;
			break;
		default: put_line(x, TREE_FUNCTION, scope, line);
		}
	}
}

static enum tree_kind pseudo_kind(unsigned node_kind)
{
	switch (node_kind) {
	case NODE_KERNEL: return TREE_KERNEL;
	case NODE_WAIT: return TREE_WAIT;
	case NODE_PARTIAL: return TREE_PARTIAL;
	default: return TREE_FUNCTION;
	}
}

static void put_location(struct pprof *x, uint32_t id, const struct profile_node *n)
{
	bool code = n->kind == NODE_FRAME || n->kind == NODE_LEAF;
	put_number(&x->message, LOCATION_ID, id);
	if (n->module != PROFILE_NONE)
		put_number(&x->message, LOCATION_MAPPING, n->module + 1);
	put_number(&x->message, LOCATION_ADDRESS, n->address);
	if (code && n->scope != PROFILE_NONE)
		put_lines(x, n->scope);
	else
		put_line(x, pseudo_kind(n->kind), PROFILE_NONE, 0);
	put_message(&x->out, PPROF_LOCATION, &x->message);
}

static void put_locations(struct pprof *x)
{
	for (uint32_t i = 1; i < x->p->nodes.len; i++) {
		const struct profile_node *n = &x->p->nodes.data[i];
		uint32_t before = x->places.nodes.len;
		x->location[i] = profile_child(&x->places, 0, n->kind, n->module, n->address);
		if (x->places.nodes.len > before)
			put_location(x, x->location[i], n);
	}
}

/* Marks frames with a scope in focus, and everything that they call. */
static void find_focused(struct pprof *x)
{
	const struct tree_options *o = &x->o->tree;
	for (uint32_t i = 0; i < x->p->nodes.len; i++) {
		const struct profile_node *n = &x->p->nodes.data[i];
		x->focused[i] = !o->focus || (i && x->focused[n->parent]);
		for (uint32_t s = n->scope; s != PROFILE_NONE && !x->focused[i];
		     s = x->p->scopes.data[s].parent)
			x->focused[i] = o->focus(o->ctx, s);
	}
}

static void put_stack(struct pprof *x, uint32_t node)
{
	uint32_t depth = 0, skip = 0, at = 0;
	for (uint32_t n = node; n; n = x->p->nodes.data[n].parent)
		depth++;
	skip = depth > DEPTH_MAX ? depth - DEPTH_MAX : 0;
	for (uint32_t n = node; n; n = x->p->nodes.data[n].parent, at++)
		if (at < DEPTH_MAX / 2 || at >= DEPTH_MAX / 2 + skip)
			put_varint(&x->part, x->location[n]);
	put_message(&x->message, SAMPLE_LOCATIONS, &x->part);
}

static void put_thread(struct pprof *x, const struct profile_thread *t)
{
	put_number(&x->part, LABEL_KEY, string_of(x, "thread"));
	put_number(&x->part, LABEL_STRING, string_of(x, t->name));
	put_message(&x->message, SAMPLE_LABEL, &x->part);
	put_number(&x->part, LABEL_KEY, string_of(x, "tid"));
	put_number(&x->part, LABEL_NUMBER, (uint64_t)t->tid);
	put_message(&x->message, SAMPLE_LABEL, &x->part);
}

/* A sample is a node and a thread, with the values of all metrics. `values` are those of one
 * node and thread, sorted by metric. */
static void put_sample(struct pprof *x, const struct profile_value *values, uint32_t count)
{
	put_stack(x, values->node);
	for (uint32_t m = 0, at = 0; m < x->p->metrics.len; m++) {
		bool has = at < count && values[at].metric == m;
		put_varint(&x->part, has ? values[at].samples : 0);
		put_varint(&x->part, has ? values[at].amount : 0);
		at += has;
	}
	put_message(&x->message, SAMPLE_VALUES, &x->part);
	put_thread(x, &x->p->threads.data[values->thread]);
	put_message(&x->out, PPROF_SAMPLE, &x->message);
}

static int by_node_thread_metric(const void *a, const void *b)
{
	const struct profile_value *x = a, *y = b;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->metric < y->metric ? -1 : x->metric > y->metric;
}

static void put_samples(struct pprof *x)
{
	const struct tree_options *o = &x->o->tree;
	VEC(struct profile_value) values = {0};
	vec_each (v, &x->p->values)
		if (x->focused[v->node] && (!o->thread || o->thread(o->ctx, v->thread)))
			vec_push(&values, *v);
	if (values.len)
		qsort(values.data, values.len, sizeof(*values.data), by_node_thread_metric);
	for (uint32_t i = 0, end; i < values.len; i = end) {
		const struct profile_value *first = &values.data[i];
		for (end = i + 1; end < values.len && values.data[end].node == first->node &&
				  values.data[end].thread == first->thread;)
			end++;
		put_sample(x, first, end - i);
	}
	vec_free(&values);
}

static void put_facts(struct pprof *x)
{
	const char *seconds = profile_get_fact(x->p, "seconds");
	const char *command = profile_get_fact(x->p, "command");
	double duration = seconds ? strtod(seconds, NULL) : 0;
	if (duration > 0 && duration < 1e9)
		put_number(&x->out, PPROF_DURATION, (uint64_t)(duration * 1e9));
	if (command)
		put_number(&x->out, PPROF_COMMENT, string_of(x, command));
}

static void put_strings(struct pprof *x)
{
	for (uint32_t i = 0; i < x->strings.starts.len; i++) {
		const char *s = text_pool_get(&x->strings, i);
		put_bytes(&x->out, PPROF_STRING, s, strlen(s));
	}
}

/* If zlib gets no memory, the file is written uncompressed. pprof reads that, too. */
static void compress_into(struct text *out, const struct text *raw)
{
	/* The largest window, plus 16 for a gzip header; zlib's default memory level. */
	enum { GZIP_WINDOW_BITS = 15 + 16, MEMORY_LEVEL = 8 };
	char piece[64 * 1024];
	z_stream z = {0};
	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW_BITS, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY)) {
		text_addn(out, raw->data, raw->len);
		return;
	}
	int r = Z_OK;
	for (size_t at = 0; r == Z_OK;) {
		size_t n = raw->len - at < sizeof(piece) ? raw->len - at : sizeof(piece);
		unsigned char *in = (unsigned char *)raw->data + at;
		z.next_in = in;
		z.avail_in = (uInt)n;
		at += n;
		do {
			z.next_out = (unsigned char *)piece;
			z.avail_out = sizeof(piece);
			r = deflate(&z, at == raw->len ? Z_FINISH : Z_NO_FLUSH);
			text_addn(out, piece, sizeof(piece) - z.avail_out);
		} while (!z.avail_out && r == Z_OK);
		if (r == Z_BUF_ERROR)
			r = Z_OK;
	}
	deflateEnd(&z);
}

void export_pprof(const struct profile *p, const struct export_options *o, struct text *out)
{
	struct pprof x = {.p = p, .o = o};
	text_pool_init(&x.strings);
	profile_init(&x.places);
	x.location = xcalloc(p->nodes.len, sizeof(*x.location));
	x.focused = xcalloc(p->nodes.len, sizeof(*x.focused));
	find_focused(&x);
	put_types(&x);
	put_mappings(&x);
	put_locations(&x);
	put_samples(&x);
	put_facts(&x);
	put_strings(&x);
	compress_into(out, &x.out);
	text_pool_release(&x.strings);
	profile_release(&x.places);
	hashmap_release(&x.functions);
	text_release(&x.out);
	text_release(&x.message);
	text_release(&x.part);
	free(x.location);
	free(x.focused);
}
