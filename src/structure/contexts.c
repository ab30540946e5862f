/* Inlined calls and files of the unit that has the current function. */
#include "structure/builder.h"

uint32_t unit_file(const struct structure_builder *b, uint32_t file)
{
	if (!b->source || file >= b->source->unit->file_count)
		return DEBUG_NONE;
	return b->source->same_file[file];
}

const struct debug_scope *context_scope(const struct structure_builder *b, uint32_t context)
{
	uint32_t scope = context == CONTEXT_FUNCTION ? b->subprogram : b->contexts[context].scope;
	return scope == DEBUG_NONE ? NULL : &b->source->unit->scopes[scope];
}

bool context_holds(const struct structure_builder *b, uint32_t outer, uint32_t inner)
{
	if (b->alien)
		return outer == CONTEXT_FUNCTION || inner != CONTEXT_FUNCTION;
	while (b->contexts[inner].depth > b->contexts[outer].depth)
		inner = b->contexts[inner].parent;
	return inner == outer;
}
