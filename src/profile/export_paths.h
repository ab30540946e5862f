/* What exports share: names of frames, and call paths as a tree of frames.
 *
 * Frames that look the same are the same: other programs know them by name only. */
#pragma once
#include "profile/export.h"
#include "structure/text_pool.h"

/* Of a procedure, inlined call or loop (with its scope), or of a pseudo kind. Control characters
 * come out as spaces. */
void export_name(struct text *out, const struct profile *p, enum tree_kind kind, uint32_t scope);
/* "WORD file.c:10-20", with the file's last part only and without what is not known. */
void export_place(struct text *out, const char *word, const struct profile_scope *s);
/* "name 1234" */
void export_thread_name(struct text *out, const struct profile *p, uint32_t thread);
/* True if such nodes are frames of their own, false if they belong to what is around them. */
bool export_is_frame(const struct export_options *o, enum tree_kind kind);

struct export_frame {
	uint32_t name, file; /* numbers in the pool */
	uint32_t line;
};

struct export_path {
	uint32_t parent, frame, depth;
	uint64_t amount, samples; /* right there */
};

struct export_paths {
	bool places;     /* frames differ also by file and line */
	bool semicolons; /* may be in names */
	struct text_pool pool;
	VEC(struct export_frame) frames;
	VEC(struct export_path) paths; /* 0 is the root; parents before children */
	struct hashmap file_index, frame_index, path_index;
};

void export_paths_init(struct export_paths *x);
void export_paths_release(struct export_paths *x);
/* The path of a frame with this name, and no place, below another path. */
uint32_t export_paths_child(struct export_paths *x, uint32_t parent, const char *name);
/* Adds a tree below a path. Of recursion without end only the outer part is kept, and the frame
 * itself. */
void export_paths_add(struct export_paths *x, const struct tree *t, const struct export_options *o,
		      uint32_t below);

/* Builds the tree of what the options choose, of one thread if it is not PROFILE_NONE. False, and
 * nothing to release, if that thread is not chosen or has nothing. */
bool export_tree(struct tree *t, const struct profile *p, const struct export_options *o,
		 uint32_t thread, bool lines);
