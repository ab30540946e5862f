/* Structures kept in the user's cache directory (module/cache_file.h), one file for each module: of
 * the whole, or of the functions that somebody asked for so far.
 *
 * Besides the build id, these determine the result: the size of the module's file (a stripped copy
 * has the same build id), whether debugging information was wanted, and Sonde's own executable.
 * Separate debug files may appear, disappear and change. That is detected by a fingerprint of all
 * debug files that could be used. */
#pragma once
#include "structure/structure.h"

struct cache_subject {
	const char *path; /* of the module */
	struct build_id build_id;
	uint64_t size; /* of the module file */
	const struct structure_options *options;
	bool partial; /* of some functions */
};

/* What was used to make the structure. */
struct cache_sources {
	const char *debug_path; /* separate debug file; NULL if none */
	const char *debuglink;  /* name in the module, or NULL */
};

/* Returns NULL if there is no usable file. */
struct structure *cache_load(const struct cache_subject *subject);
void cache_store(const struct cache_subject *subject, const struct cache_sources *sources,
		 const struct structure *s);
