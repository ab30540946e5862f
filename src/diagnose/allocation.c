#include "diagnose/allocation.h"

#include <string.h>

#include "unwind/links.h"

enum { MOST_FRAMES = 16 }; /* of an allocator, on a stack */

/* Without leading underscores; a star stands for any end. */
static const struct {
	const char *symbol;
	const char *shown; /* NULL: as it is */
} functions[] = {
	/* The C library, and what replaces it under the same names. */
	{"malloc", NULL},
	{"calloc", NULL},
	{"realloc", NULL},
	{"reallocarray", NULL},
	{"free", NULL},
	{"free_sized", NULL},
	{"free_aligned_sized", NULL},
	{"cfree", NULL},
	{"memalign", NULL},
	{"posix_memalign", NULL},
	{"aligned_alloc", NULL},
	{"valloc", NULL},
	{"pvalloc", NULL},
	{"malloc_trim", NULL},
	/* C++ */
	{"Znw*", "operator new"},
	{"Zna*", "operator new[]"},
	{"Zdl*", "operator delete"},
	{"Zda*", "operator delete[]"},
	/* jemalloc */
	{"je_*", NULL},
	{"rjem_*", NULL},
	{"mallocx", NULL},
	{"rallocx", NULL},
	{"xallocx", NULL},
	{"dallocx", NULL},
	{"sdallocx", NULL},
	/* tcmalloc */
	{"tc_malloc*", NULL},
	{"tc_calloc", NULL},
	{"tc_realloc", NULL},
	{"tc_free*", NULL},
	{"tc_cfree", NULL},
	{"tc_memalign", NULL},
	{"tc_posix_memalign", NULL},
	{"tc_valloc", NULL},
	{"tc_pvalloc", NULL},
	{"tc_new*", NULL},
	{"tc_delete*", NULL},
	/* mimalloc; MyISAM and gdb have functions that begin with mi_ as well. */
	{"mi_malloc*", NULL},
	{"mi_calloc*", NULL},
	{"mi_zalloc*", NULL},
	{"mi_realloc*", NULL},
	{"mi_free*", NULL},
	{"mi_new*", NULL},
	{"mi_heap_*", NULL},
	{"mi_aligned_*", NULL},
	{"mi_posix_memalign", NULL},
	/* GLib and Python */
	{"g_slice_*", NULL},
	{"PyObject_Malloc", NULL},
	{"PyObject_Calloc", NULL},
	{"PyObject_Realloc", NULL},
	{"PyObject_Free", NULL},
	{"PyMem_*", NULL},
};

/* Functions by which a program calls an allocator: who calls them is of interest. Of C++, these are
 * functions of containers that are made for each type, and so in the program. */
static const char *const wrappers[] = {
	"xmalloc",
	"xcalloc",
	"xrealloc",
	"xstrdup",
	"xfree",
	"zmalloc*",
	"zcalloc*",
	"zrealloc*",
	"zfree*",
	"g_malloc*",
	"g_try_malloc*",
	"g_realloc*",
	"g_free*",
	"g_strdup",
	"Perl_safesysmalloc",
	"Perl_safesyscalloc",
	"Perl_safesysrealloc",
	"Perl_safesysfree",
	"sqlite3_malloc*",
	"sqlite3_realloc*",
	"sqlite3_free",
	"CRYPTO_malloc",
	"CRYPTO_zalloc",
	"CRYPTO_realloc",
	"CRYPTO_free",
	"ZN9__gnu_cxx13new_allocator*",
	"ZNSt15__new_allocator*",
	"ZNSt9allocator*",
	"ZNSt16allocator_traits*",
	"ZNSt7__cxx1112basic_string*",
	"ZNSt6vector*",
	"ZNSt12_Vector_base*",
	"ZNSt5deque*",
	"ZNSt11_Deque_base*",
	"ZNSt7__cxx114list*",
	"ZNSt7__cxx1110_List_base*",
	"ZNSt8_Rb_tree*",
	"ZNSt10_Hashtable*",
	"ZNSt8__detail16_Hashtable_alloc*",
	"ZNSt3map*",
	"ZNSt3set*",
	"ZNSt13unordered_map*",
	"ZNSt13unordered_set*",
};

static bool matches(const char *name, const char *known)
{
	size_t n = strcspn(known, "*");
	return !strncmp(name, known, n) && (known[n] || strcspn(name, "@") == n);
}

/* Returns the row of a function, or -1. */
static int find(const char *symbol)
{
	const char *name = code_plain_name(symbol);
	for (uint32_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (matches(name, functions[i].symbol))
			return (int)i;
	return -1;
}

static bool is_wrapper(const char *symbol)
{
	const char *name = code_plain_name(symbol);
	for (uint32_t i = 0; i < ARRAY_SIZE(wrappers); i++)
		if (matches(name, wrappers[i]))
			return true;
	return false;
}

bool is_allocator(const char *symbol)
{
	return find(symbol) >= 0;
}

const char *allocator_name(const char *symbol)
{
	int row = find(symbol);
	return row >= 0 && functions[row].shown ? functions[row].shown : code_plain_name(symbol);
}

/* NULL: none. */
struct allocator_frame {
	const char *own;    /* the function of an allocator that the frame is in, */
	const char *called; /* that it calls */
	bool wraps;         /* it is one by which programs call allocators */
};

void allocations_release(struct allocations *a)
{
	vec_free(&a->frames);
	hashmap_release(&a->at);
}

static const char *only_allocator(const char *symbol)
{
	return is_allocator(symbol) ? symbol : NULL;
}

/* The function that a frame calls need not be that of the next frame: it may have tail-called one
 * that has another name, or none. */
static struct allocator_frame look_at(const struct frame *f)
{
	const char *name = code_name_at(f->code, f->va);
	struct allocator_frame x = {.own = only_allocator(name), .wraps = is_wrapper(name)};
	if (x.own || f->exact || !f->code->flow)
		return x;
	struct call_site call = links_call_before(f->code->flow, f->va);
	if (call.direct)
		x.called = only_allocator(code_name_at(f->code, call.target));
	return x;
}

static struct allocator_frame known_frame(struct allocations *a, const struct frame *f)
{
	if (!f->code)
		return (struct allocator_frame){0};
	const uint64_t key[] = {f->code->id, f->va, f->exact};
	uint32_t next = a->frames.len;
	uint32_t at = hashmap_add(&a->at, hash_bytes(key, sizeof(key), 0), next);
	if (at == next)
		vec_push(&a->frames, look_at(f));
	return a->frames.data[at];
}

/* Returns the outermost function of an allocator, and the frame that calls it. */
static struct allocation find_called(struct allocations *a, const struct walk *w)
{
	uint32_t i = w->frames.len < MOST_FRAMES ? w->frames.len : MOST_FRAMES;
	while (i-- > 0) {
		struct allocator_frame x = known_frame(a, &w->frames.data[i]);
		if (x.own)
			return (struct allocation){x.own, i + 1};
		if (x.called && i)
			return (struct allocation){x.called, i};
	}
	return (struct allocation){0};
}

struct allocation allocation_on_stack(struct allocations *a, const struct walk *w)
{
	struct allocation found = find_called(a, w);
	while (found.function && found.caller < w->frames.len &&
	       known_frame(a, &w->frames.data[found.caller]).wraps)
		found.caller++;
	return found;
}
