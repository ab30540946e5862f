/* The images of a process, each with the distance of its run-time addresses from its own. */
#include "probe/images.h"

#include <string.h>

int engine_images(struct target *t, image_visitor visit, void *ctx, struct err *e)
{
	struct maps maps;
	int rc = maps_read(&maps, t->pid, e);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < maps.image_count; i++) {
		const struct mapped_image *mi = &maps.images[i];
		if (!mi->code_count || mi->vdso)
			continue;
		struct place at = space_find(t->space, mi->code[0].start);
		if (at.code && at.code->flow)
			visit(ctx, t, at.code, mi->code[0].start - at.va);
	}
	maps_release(&maps);
	return 0;
}

const struct symbol *image_find_symbol(const struct image *im, const char *name)
{
	for (uint32_t i = 0; i < im->symbol_count; i++)
		if (!strcmp(im->symbols[i].name, name))
			return &im->symbols[i];
	return NULL;
}
