/* Profile files as files: what was committed can be read, whatever happened to the recorder, the
 * directory or the disk, and no file is overwritten by accident. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "made_profile.h"
#include "store_bench.h"

static void the_previous_is_kept(void **state)
{
	struct profile first, second, third;
	(void)state;
	write_profile();
	load_profile(&first, file);
	profile_init(&second);
	profile_fact(&second, "number", "2");
	struct store *s = create_store();
	commit_profile(s, &second);
	store_close(s);
	assert_loads(&second, file);
	assert_loads(&first, old);
	profile_init(&third);
	s = create_store();
	commit_profile(s, &third);
	store_close(s);
	assert_loads(&third, file);
	assert_loads(&second, old);
	profile_release(&first);
	profile_release(&second);
	profile_release(&third);
}

static void assert_not_created(const char *path, const char *words)
{
	struct store *s;
	struct err e = {0};
	assert_true(store_create(&s, path, &e) < 0);
	if (!strstr(e.text, words))
		fail_msg("'%s' does not say '%s'", e.text, words);
}

static void other_files_are_not_overwritten(void **state)
{
	(void)state;
	write_file(file, "my thesis");
	assert_not_created(file, "not overwritten");
	unlink(file);
	run_sql(file, "CREATE TABLE thesis(x)");
	assert_not_created(file, "not overwritten");
	unlink(file);
	assert_int_equal(mkdir(file, 0777), 0);
	assert_not_created(file, "not overwritten");
	rmdir(file);
	write_profile();
	write_file(old, "my older thesis");
	assert_not_created(file, "not overwritten");
}

static void an_empty_file_is_taken(void **state)
{
	(void)state;
	write_file(file, "");
	write_profile();
	assert_false(exists(old));
	assert_true(is_a_single_file());
}

static void no_place_to_write(void **state)
{
	char path[128];
	(void)state;
	snprintf(path, sizeof(path), "%s/missing/file", dir);
	assert_not_created(path, "No such file or directory");
	assert_not_created("/proc/file", "cannot create /proc/file");
}

static void names_with_signs(void **state)
{
	char path[96];
	struct store *s;
	struct profile p;
	struct err e;
	(void)state;
	snprintf(path, sizeof(path), "%s/50%% ?a=b&c#d %%41", dir);
	fill_profile(&p);
	assert_int_equal(store_create(&s, path, &e), 0);
	commit_profile(s, &p);
	store_close(s);
	assert_true(exists(path));
	assert_loads(&p, path);
	profile_release(&p);
}

/* A recorder in a process of its own. Each commit adds nodes and values, and changes a value and a
 * fact; then its number goes down the pipe. After `rounds` commits it closes the file, or stays. */
static void record(int pipe_end, int rounds, bool stay)
{
	struct profile p;
	struct store *s;
	struct err e;
	char text[16];
	fill_profile(&p);
	if (store_create(&s, file, &e))
		_exit(1);
	for (int i = 1; i <= rounds; i++) {
		for (uint64_t n = 0; n < 40; n++)
			profile_add(&p, profile_child(&p, 1, NODE_LEAF, 0, (uint64_t)i << 32 | n),
				    0, 0, 1, 10);
		profile_add(&p, 1, 0, 0, 1, 10);
		snprintf(text, sizeof(text), "%d", i);
		profile_fact(&p, "commits", text);
		if (store_commit(s, &p, &e) || write(pipe_end, &i, sizeof(i)) != sizeof(i))
			_exit(1);
	}
	while (stay)
		pause();
	store_close(s);
	_exit(0);
}

struct recorder {
	pid_t pid;
	int pipe_end, commits;
};

static void start(struct recorder *r, int rounds, bool stay)
{
	int fds[2];
	assert_int_equal(pipe(fds), 0);
	r->pid = fork_child();
	r->commits = 0;
	if (!r->pid)
		record(fds[1], rounds, stay);
	close(fds[1]);
	r->pipe_end = fds[0];
}

/* Kills it and returns how many commits it told about. */
static int kill_recorder(struct recorder *r)
{
	kill(r->pid, SIGKILL);
	waitpid(r->pid, NULL, 0);
	for (int i; read(r->pipe_end, &i, sizeof(i)) == sizeof(i);)
		r->commits = i;
	close(r->pipe_end);
	return r->commits;
}

static void wait_for_commits(struct recorder *r, int commits)
{
	while (r->commits < commits)
		assert_int_equal(read(r->pipe_end, &r->commits, sizeof(r->commits)), sizeof(int));
}

/* What record() had after some number of commits, which it returns. */
static int assert_whole(const char *path)
{
	struct profile q;
	load_profile(&q, path);
	int commits = atoi(fact_of(&q, "commits"));
	if (commits) {
		assert_int_equal(q.nodes.len, 4 + 40 * commits);
		assert_int_equal(q.values.len, 4 + 40 * commits);
		assert_int_equal(q.values.data[0].samples, commits);
	}
	profile_release(&q);
	return commits;
}

static void killed_recorders_leave_all_commits(void **state)
{
	enum { COMMITS = 12 };
	(void)state;
	for (int i = 0; i < 50; i++) {
		struct recorder r;
		start(&r, COMMITS, false);
		wait_for_commits(&r, i % (COMMITS + 1));
		nanosleep(&(struct timespec){.tv_nsec = rand() % 3000000}, NULL);
		int told = kill_recorder(&r);
		if (!exists(file)) { /* not even begun */
			assert_int_equal(told, 0);
			continue;
		}
		int found = assert_whole(file);
		assert_true(!told || found == told || found == told + 1);
		if (exists(old))
			assert_whole(old);
	}
}

static void a_killed_recorders_log_goes_along(void **state)
{
	struct recorder r;
	(void)state;
	start(&r, 3, true);
	wait_for_commits(&r, 3);
	kill_recorder(&r);
	assert_true(exists(wal));
	write_profile();
	assert_true(is_a_single_file());
	assert_int_equal(assert_whole(old), 3);
}

/* A log whose file is gone must not be taken for the new file's. */
static void a_log_without_its_file_is_dropped(void **state)
{
	struct recorder r;
	struct profile p;
	(void)state;
	start(&r, 3, true);
	wait_for_commits(&r, 3);
	kill_recorder(&r);
	unlink(file);
	profile_init(&p);
	struct store *s = create_store();
	commit_profile(s, &p);
	store_close(s);
	assert_loads(&p, file);
	profile_release(&p);
}

static void two_do_not_record_to_one_file(void **state)
{
	struct recorder r;
	(void)state;
	start(&r, 2, true);
	wait_for_commits(&r, 2);
	assert_not_created(file, "another sonde is writing or reading");
	kill_recorder(&r);
	assert_int_equal(assert_whole(file), 2);
	assert_false(exists(old));
}

/* Of those who start together one gets the name, and the others are told. */
static void simultaneous_starts(void **state)
{
	int go[2], done[2], won = 0;
	char result;
	pid_t pids[5];
	(void)state;
	assert_true(!pipe(go) && !pipe(done));
	for (int i = 0; i < 5; i++) {
		pids[i] = fork_child();
		if (pids[i])
			continue;
		struct store *s;
		struct err e;
		close(go[1]);
		bool ok = read(go[0], &result, 1) == 0 && !store_create(&s, file, &e);
		ok = write(done[1], ok ? "1" : "0", 1) == 1 && ok;
		pause();
		_exit(ok);
	}
	close(go[0]);
	close(go[1]);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(read(done[0], &result, 1), 1);
		won += result == '1';
	}
	for (int i = 0; i < 5; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	close(done[0]);
	close(done[1]);
	assert_int_equal(won, 1);
}

/* Loads as somebody who may only read. */
static int load_as_reader(void)
{
	struct profile p;
	struct err e = {0};
	int status;
	pid_t pid = fork_child();
	if (!pid) {
		if (!geteuid() && (setgid(65534) || setuid(65534)))
			_exit(99);
		if (store_load(&p, file, &e)) {
			fprintf(stderr, "# %s\n", e.text);
			_exit(98);
		}
		status = atoi(fact_of(&p, "commits"));
		profile_release(&p);
		_exit(status);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void reading_needs_no_permission_to_write(void **state)
{
	struct recorder r;
	(void)state;
	start(&r, 3, false);
	wait_for_commits(&r, 3);
	waitpid(r.pid, NULL, 0);
	close(r.pipe_end);
	chmod(dir, 0555);
	assert_int_equal(load_as_reader(), 3);
	chmod(file, 0444);
	assert_int_equal(load_as_reader(), 3);
	chmod(dir, 0777);
	assert_int_equal(load_as_reader(), 3);
}

static void reading_a_killed_recorders_file_neither(void **state)
{
	struct recorder r;
	(void)state;
	start(&r, 3, true);
	wait_for_commits(&r, 3);
	kill_recorder(&r);
	for (int i = 0; i < 3; i++) {
		chmod(file, 0444);
		chmod(wal, 0444);
		chmod(shm, 0444);
		chmod(dir, 0555);
		assert_int_equal(load_as_reader(), 3);
		chmod(dir, 0777);
		if (i == 0)
			unlink(shm);
	}
	chmod(dir, 0777);
	unlink(wal);
	unlink(shm);
	chmod(dir, 0555);
	assert_int_equal(load_as_reader(), 0); /* what is in the file itself */
	chmod(dir, 0777);
}

/* Commits until it fails, which must leave what was there, then continues. */
static void fill_the_disk(const char *why, void (*give_room)(void))
{
	struct profile p;
	struct store *s = create_store();
	struct err e = {0};
	int r = 0, commits = 0;
	fill_profile(&p);
	for (uint64_t i = 0; i < 2000 && !r; i++) {
		char text[16];
		for (uint64_t n = 0; n < 50; n++)
			profile_add(&p, profile_child(&p, 1, NODE_LEAF, 0, i << 8 | n), 0, 0, 1, 1);
		snprintf(text, sizeof(text), "%d", commits + 1);
		profile_fact(&p, "commits", text);
		r = store_commit(s, &p, &e);
		commits += !r;
	}
	assert_int_equal(r, ERR_SYSTEM);
	if (!strstr(e.text, why) || !strstr(e.text, "what was recorded before is kept"))
		fail_msg("%s", e.text);
	assert_true(commits > 0);
	give_room();
	commit_profile(s, &p);
	store_close(s);
	assert_true(is_a_single_file());
	assert_loads(&p, file);
	profile_release(&p);
}

static void lift_limit(void)
{
	struct rlimit limit;
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_FSIZE, &limit);
}

static void files_that_may_not_grow(void **state)
{
	struct rlimit limit;
	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = 200 * 1024;
	setrlimit(RLIMIT_FSIZE, &limit);
	fill_the_disk("file size limit", lift_limit);
}

static void remount_larger(void)
{
	assert_int_equal(mount("none", dir, "tmpfs", MS_REMOUNT, "size=64m"), 0);
}

static void a_full_disk(void **state)
{
	int status;
	(void)state;
	pid_t pid = fork_child();
	if (!pid) {
		if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount("none", dir, "tmpfs", 0, "size=300k"))
			_exit(77);
		fill_the_disk("the disk is full", remount_larger);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_previous_is_kept, clean_directory),
		cmocka_unit_test_setup(other_files_are_not_overwritten, clean_directory),
		cmocka_unit_test_setup(an_empty_file_is_taken, clean_directory),
		cmocka_unit_test_setup(no_place_to_write, clean_directory),
		cmocka_unit_test_setup(names_with_signs, clean_directory),
		cmocka_unit_test_setup(killed_recorders_leave_all_commits, clean_directory),
		cmocka_unit_test_setup(a_killed_recorders_log_goes_along, clean_directory),
		cmocka_unit_test_setup(a_log_without_its_file_is_dropped, clean_directory),
		cmocka_unit_test_setup(two_do_not_record_to_one_file, clean_directory),
		cmocka_unit_test_setup(simultaneous_starts, clean_directory),
		cmocka_unit_test_setup(reading_needs_no_permission_to_write, clean_directory),
		cmocka_unit_test_setup(reading_a_killed_recorders_file_neither, clean_directory),
		cmocka_unit_test_setup(files_that_may_not_grow, clean_directory),
		cmocka_unit_test_setup(a_full_disk, clean_directory),
	};
	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
