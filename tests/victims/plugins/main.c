/* Loads and unloads libraries (plugin.c), or changes the file of one that is loaded. It tells what
 * was true, and in its last line how much of the work came out wrong:
 *
 *	changed            the file has been changed
 *	LIBRARY SECONDS    it was busy there for so much CPU time
 *	places N           the libraries were loaded at N different addresses
 *	plugins: N wrong
 *
 *	plugins turns ROUNDS SECONDS LIBRARY...
 *			loads each in turn and works in it for so much CPU time
 *	plugins reloads ROUNDS SECONDS COPY LIBRARY...
 *			the same, but each is copied over COPY, and loaded from there
 *	plugins changes HOW SECONDS LIBRARY [OTHER]
 *			changes the file between loading it and working
 *
 * HOW is what becomes of the file. The code in memory stays the same:
 *
 *	nothing     nothing
 *	unlink      it is deleted
 *	rename      OTHER is renamed to it
 *	truncate    only what is mapped remains: no section headers, no symbols
 *	scribble    the rest is overwritten
 *	overwrite   all of it is overwritten by OTHER, as cp does: it must have the same code */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PLACES_MAX = 64 };

static uintptr_t places[PLACES_MAX];
static unsigned place_count, wrong;
static uint64_t expected; /* of a unit of work: the same in all libraries */

static void require(bool done, const char *what)
{
	if (done)
		return;
	perror(what);
	exit(2);
}

struct library {
	void *handle;
	uint64_t (*work)(uint64_t);
};

static void note_place(uintptr_t at)
{
	for (unsigned i = 0; i < place_count; i++)
		if (places[i] == at)
			return;
	if (place_count < PLACES_MAX)
		places[place_count++] = at;
}

static struct library load(const char *path)
{
	struct library l = {.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
	struct link_map *map;
	require(l.handle && !dlinfo(l.handle, RTLD_DI_LINKMAP, &map), path);
	note_place(map->l_addr);
	l.work = (uint64_t(*)(uint64_t))dlsym(l.handle, "plugin_work");
	require(l.work, path);
	return l;
}

static double used(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns the CPU time that it took. */
static double work(const struct library *l, double seconds)
{
	double begin = used();
	while (used() < begin + seconds)
		for (int i = 0; i < 10; i++) {
			uint64_t x = l->work(7);
			expected = expected ? expected : x;
			wrong += x != expected;
		}
	return used() - begin;
}

/* ---- one library after another ---- */

static void write_at(const char *path, off_t at, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0755);
	require(fd >= 0 && pwrite(fd, bytes, size, at) == (ssize_t)size && !close(fd), path);
}

static void overwrite(const char *path, const char *other)
{
	struct stat st;
	int fd = open(other, O_RDONLY);
	require(fd >= 0 && !fstat(fd, &st), other);
	void *bytes = malloc((size_t)st.st_size);
	require(read(fd, bytes, (size_t)st.st_size) == st.st_size && !close(fd), other);
	write_at(path, 0, bytes, (size_t)st.st_size);
	free(bytes);
}

/* With a copy, all are loaded from there, as if one library had been built again and again. */
static void take_turns(int rounds, double seconds, const char *copy, char **paths, int count)
{
	double *busy = calloc((size_t)count, sizeof(*busy));
	for (int i = 0; i < rounds * count; i++) {
		const char *path = paths[i % count];
		if (copy)
			overwrite(copy, path);
		struct library l = load(copy ? copy : path);
		busy[i % count] += work(&l, seconds);
		dlclose(l.handle);
	}
	for (int i = 0; i < count; i++)
		printf("%s %.3f\n", paths[i], busy[i]);
	free(busy);
}

/* ---- changing the file of a loaded one ---- */

static int add_segments(struct dl_phdr_info *in, size_t size, void *out)
{
	off_t end = 0;
	(void)size;
	for (int i = 0; i < in->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &in->dlpi_phdr[i];
		if (p->p_type == PT_LOAD && end < (off_t)(p->p_offset + p->p_filesz))
			end = (off_t)(p->p_offset + p->p_filesz);
	}
	if (in->dlpi_addr == places[0])
		*(off_t *)out = end;
	return 0;
}

/* Where the part of the file ends that is mapped. */
static off_t mapped_end(void)
{
	off_t end = 0;
	dl_iterate_phdr(add_segments, &end);
	require(end, "no segments");
	return end;
}

static void scribble(const char *path)
{
	struct stat st;
	off_t end = mapped_end();
	require(!stat(path, &st), path);
	size_t size = (size_t)(st.st_size - end);
	void *noise = malloc(size);
	memset(noise, 0xa5, size);
	write_at(path, end, noise, size);
	free(noise);
}

static void change(const char *how, const char *path, const char *other)
{
	if (!strcmp(how, "unlink"))
		require(!unlink(path), path);
	else if (!strcmp(how, "rename"))
		require(!rename(other, path), other);
	else if (!strcmp(how, "truncate"))
		require(!truncate(path, mapped_end()), path);
	else if (!strcmp(how, "scribble"))
		scribble(path);
	else if (!strcmp(how, "overwrite"))
		overwrite(path, other);
	else
		require(!strcmp(how, "nothing"), how);
}

int main(int argc, char **argv)
{
	if (argc > 4 && !strcmp(argv[1], "turns")) {
		take_turns(atoi(argv[2]), atof(argv[3]), NULL, argv + 4, argc - 4);
	} else if (argc > 5 && !strcmp(argv[1], "reloads")) {
		take_turns(atoi(argv[2]), atof(argv[3]), argv[4], argv + 5, argc - 5);
	} else if (argc > 4 && !strcmp(argv[1], "changes")) {
		struct library l = load(argv[4]);
		change(argv[2], argv[4], argc > 5 ? argv[5] : "");
		printf("changed\n");
		fflush(stdout);
		printf("%s %.3f\n", argv[4], work(&l, atof(argv[3])));
	}
	printf("places %u\nplugins: %u wrong\n", place_count, wrong);
	return wrong ? 1 : 0;
}
