/* A cache of the test's own. */
#pragma once
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char cache_folder[64], cache_file[400];

static inline void cache_folder_make(void)
{
	strcpy(cache_folder, "/tmp/sonde-test-cache.XXXXXX");
	if (!mkdtemp(cache_folder))
		abort();
	setenv("XDG_CACHE_HOME", cache_folder, 1);
}

/* Sets cache_file to the only file whose name begins like that; false if there is none. */
static inline bool cache_folder_has(const char *kind)
{
	char path[100];
	snprintf(path, sizeof(path), "%s/sonde", cache_folder);
	DIR *dir = opendir(path);
	struct dirent *d;
	bool found = false;
	while (dir && (d = readdir(dir)))
		if (!strncmp(d->d_name, kind, strlen(kind))) {
			snprintf(cache_file, sizeof(cache_file), "%s/%s", path, d->d_name);
			found = true;
		}
	if (dir)
		closedir(dir);
	return found;
}

static inline void cache_folder_remove(const char *kind)
{
	char path[100];
	if (cache_folder_has(kind))
		unlink(cache_file);
	snprintf(path, sizeof(path), "%s/sonde", cache_folder);
	rmdir(path);
	rmdir(cache_folder);
}
