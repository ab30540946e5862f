/* Code shared by exporters: names of frames, and call paths as a tree of frames.
 *
 * Frames with the same name (and place, if `places`) are one frame: other programs identify
 * frames by name only. */
#pragma once
#include "profile/export.h"
#include "structure/text_pool.h"

/* Appends the name of a function, inlined call or loop (with its scope), or of a pseudo kind.
 * Control characters are replaced by spaces. */
void export_name(struct text *out, const struct profile *p, enum tree_kind kind, uint32_t scope);
/* Appends "WORD file.c:10-20": the file without its folders, and without parts that are unknown. */
void export_place(struct text *out, const char *word, const struct profile_scope *s);
/* Appends "name 1234". */
void export_thread_name(struct text *out, const struct profile *p, uint32_t thread);
/* True if nodes of this kind are frames of their own, false if they belong to the frame around
 * them. */
bool export_is_frame(const struct export_options *o, enum tree_kind kind);

struct export_frame {
	uint32_t name, file; /* indices in the pool */
	uint32_t line;
};

struct export_path {
	uint32_t parent, frame, depth;
	uint64_t amount, samples; /* measured at the innermost frame itself */
};

struct export_paths {
	bool places;     /* file and line are part of a frame's identity */
	bool semicolons; /* names may contain semicolons */
	struct text_pool pool;
	VEC(struct export_frame) frames;
	VEC(struct export_path) paths; /* 0 is the root; parents before children */
	struct hashmap file_index, frame_index, path_index;
};

void export_paths_init(struct export_paths *x);
void export_paths_release(struct export_paths *x);
/* Returns the path that extends `parent` by a frame with this name and no place. */
uint32_t export_paths_child(struct export_paths *x, uint32_t parent, const char *name);
/* Adds a tree below a path. If recursion is too deep, only the outer frames are kept, then one
 * marker for the frames left out, then the innermost frame. */
void export_paths_add(struct export_paths *x, const struct tree *t, const struct export_options *o,
		      uint32_t below);

/* Builds the tree that the options select, only of `thread` unless that is PROFILE_NONE. Returns
 * false, with nothing to release, if that thread is not selected or has no samples. */
bool export_tree(struct tree *t, const struct profile *p, const struct export_options *o,
		 uint32_t thread, bool lines);
