/* Structures kept in the user's cache directory, one file for each image.
 *
 * $XDG_CACHE_HOME/sonde (or ~/.cache/sonde) holds files named after the image's build id and a hash
 * of what else decides the result: the image's size (a stripped copy has the same build id),
 * whether debugging information was wanted, and the program itself. Separate debug files may come,
 * go and change: a fingerprint of those that could be used tells. Files are written under another
 * name and renamed, so readers and writers need no locks; a checksum finds what a crash tore.
 * Failure is never an error, only a cache that did not help. */
#pragma once
#include "structure/structure.h"

struct cache_subject {
	const char *path; /* of the image */
	struct build_id build_id;
	uint64_t size; /* of the image file */
	const struct structure_options *options;
};

/* What was used to make the structure. */
struct cache_sources {
	const char *debug_path; /* separate debug file; NULL if none */
	const char *debuglink;  /* name in the image, or NULL */
};

/* NULL if there is none that can be used. */
struct structure *cache_load(const struct cache_subject *subject);
void cache_store(const struct cache_subject *subject, const struct cache_sources *sources,
		 const struct structure *s);
