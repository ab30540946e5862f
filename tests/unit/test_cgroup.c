/* Control groups, units and containers, in a made-up tree of folders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "process/container.h"

#define ID_A "a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0"
#define ID_B "a0a0b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1"
#define ID_C "c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2"

struct tree {
	char root[64];
	struct arena arena;
};

static void make_folders(char *path)
{
	for (char *slash = path; (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
}

/* A file of the tree, with the folders above it. */
static void put(struct tree *t, const char *path, const char *content)
{
	char *full = arena_printf(&t->arena, "%s/%s", t->root, path);
	make_folders(full);
	FILE *f = fopen(full, "w");
	assert_non_null(f);
	fputs(content, f);
	fclose(f);
}

static const char *put_group(struct tree *t, const char *path, const char *processes)
{
	put(t, arena_printf(&t->arena, "%s/cgroup.procs", path), processes);
	return arena_printf(&t->arena, "%s/%s", t->root, path);
}

static int make_tree(void **state)
{
	static struct tree t;
	strcpy(t.root, "/tmp/sonde-test-cgroup.XXXXXX");
	arena_init(&t.arena);
	*state = &t;
	return mkdtemp(t.root) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

static int remove_tree(void **state)
{
	struct tree *t = *state;
	arena_release(&t->arena);
	return nftw(t->root, remove_one, 20, FTW_DEPTH | FTW_PHYS);
}

/* ---- hierarchies ---- */

static void hierarchies_are(struct tree *t, const char *mountinfo, const char *expected)
{
	cgroup_list list = {0};
	struct text all = TEXT_INIT;
	text_add(&all, "");
	cgroup_hierarchies(mountinfo, &t->arena, &list);
	vec_each (folder, &list)
		text_printf(&all, "%s ", *folder);
	assert_string_equal(all.data, expected);
	text_release(&all);
	vec_free(&list);
}

static void the_best_hierarchy_comes_first(void **state)
{
	struct tree *t = *state;
	hierarchies_are(t, "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,x",
			"/sys/fs/cgroup ");
	hierarchies_are(t,
			"31 23 0:28 / /c rw - tmpfs tmpfs rw,mode=755\n"
			"35 31 0:32 / /c/memory rw - cgroup cgroup rw,memory\n"
			"32 31 0:29 / /c/cpu,cpuacct rw shared:9 master:1 - cgroup cgroup rw,cpu,"
			"cpuacct\n"
			"39 31 0:36 / /c/pids rw - cgroup cgroup rw,pids\n"
			"40 31 0:37 / /c/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
			"41 31 0:38 / /c/unified rw - cgroup2 cgroup2 rw\n",
			"/c/unified /c/systemd /c/pids /c/cpu,cpuacct /c/memory ");
	hierarchies_are(t, "24 1 0:22 / /proc rw - proc proc rw\nnonsense\n\n - cgroup2", "");
	hierarchies_are(t, "", "");
}

/* ---- processes ---- */

static void members_are(const struct cgroup_members *m, const char *expected)
{
	struct text all = TEXT_INIT;
	text_add(&all, "");
	vec_each (pid, &m->pids)
		text_printf(&all, "%d ", *pid);
	assert_string_equal(all.data, expected);
	text_release(&all);
}

static void groups_below_count(void **state)
{
	struct tree *t = *state;
	struct cgroup_members m = {0};
	const char *top = put_group(t, "app.slice", "10\n11\n");
	put_group(t, "app.slice/web.service", "12\n");
	put_group(t, "app.slice/web.service/worker", "13\n0\n14\n0\n");
	put_group(t, "app.slice/empty", "");
	put_group(t, "other.slice", "99\n");
	cgroup_read(top, &m);
	members_are(&m, "10 11 12 13 14 ");
	assert_int_equal(m.outside, 2);
	assert_int_equal(m.closed, 0);
	vec_free(&m.pids);
}

static void groups_that_vanish_have_no_processes(void **state)
{
	struct tree *t = *state;
	struct cgroup_members m = {0};
	put(t, "half/gone/notes", ""); /* cgroup.procs is not there any more */
	cgroup_read(arena_printf(&t->arena, "%s/half", t->root), &m);
	cgroup_read("/nonexistent/group", &m);
	members_are(&m, "");
	assert_int_equal(m.outside + m.closed, 0);
}

static void groups_that_cannot_be_read_are_counted(void **state)
{
	struct tree *t = *state;
	struct cgroup_members m = {0};
	const char *top = put_group(t, "secret", "20\n");
	put(t, "secret/a/cgroup.procs/folder", ""); /* a folder cannot be read, even by root */
	put(t, "secret/b/cgroup.procs/folder", "");
	cgroup_read(top, &m);
	members_are(&m, "20 ");
	assert_true(m.closed >= 2);
	assert_non_null(strstr(m.why.text, "secret/a cannot be read: Is a directory"));
	vec_free(&m.pids);
}

/* ---- units ---- */

static void units_are_folders_with_a_type(void **state)
{
	(void)state;
	assert_string_equal(cgroup_unit("/c/system.slice/nginx.service"), "nginx.service");
	assert_string_equal(cgroup_unit("/c/system.slice"), "system.slice");
	assert_string_equal(cgroup_unit("/c/x/_cpu.service"), "cpu.service");
	assert_null(cgroup_unit("/c/docker"));
	assert_null(cgroup_unit("/c/nginx.service/worker"));
	assert_null(cgroup_unit("/c/lxc.payload.web"));
	assert_true(unit_has_name("nginx.service", "nginx"));
	assert_true(unit_has_name("nginx.service", "nginx.service"));
	assert_true(unit_has_name("session-3.scope", "session-3"));
	assert_true(unit_has_name("getty@tty1.service", "getty@tty1"));
	assert_false(unit_has_name("nginx.slice", "nginx"));
	assert_false(unit_has_name("nginx-debug.service", "nginx"));
	assert_false(unit_has_name("nginx.service", "ngin"));
}

/* ---- containers ---- */

static void list_containers(struct tree *t, container_list *out)
{
	cgroup_list groups = {0};
	cgroup_tree(arena_printf(&t->arena, "%s/c", t->root), &t->arena, &groups);
	containers_among(&groups, t->root, &t->arena, out);
	vec_free(&groups);
}

/* The only container among the groups, after one was made; "ID NAME". */
static void container_is(struct tree *t, const char *group, const char *expected)
{
	container_list found = {0};
	put_group(t, arena_printf(&t->arena, "c/%s", group), "");
	list_containers(t, &found);
	struct text all = TEXT_INIT;
	text_add(&all, "");
	vec_each (c, &found)
		if (!strcmp(c->folder, arena_printf(&t->arena, "%s/c/%s", t->root, group)))
			text_printf(&all, "%s %s", c->id ? c->id : "-", c->name ? c->name : "-");
	assert_string_equal(all.data, expected);
	text_release(&all);
	vec_free(&found);
}

static void containers_are_known_by_their_groups(void **state)
{
	struct tree *t = *state;
	container_is(t, "system.slice/docker-" ID_A ".scope", ID_A " -");
	container_is(t, "docker/" ID_A, ID_A " -");
	container_is(t, "machine.slice/libpod-" ID_A ".scope", ID_A " -");
	container_is(t, "machine.slice/libpod-" ID_A ".scope/container", "");
	container_is(t, "machine.slice/libpod-conmon-" ID_A ".scope", "");
	container_is(t, "libpod_parent/libpod-" ID_A, ID_A " -");
	container_is(t, "machine.slice/machine-web\\x2d1.scope", "- web-1");
	container_is(t, "machine.slice/systemd-nspawn@db.service", "- db");
	container_is(t, "lxc.payload.mail", "- mail");
	container_is(t, "lxc.monitor.mail", "");
	container_is(t, "lxc/mail", "- mail");
	container_is(t, "lxc", "");
	container_is(t, "system.slice/nginx.service", "");
	container_is(t, "system.slice/docker.service", "");
	container_is(t, "docker/0123456789abcdef", "");
}

static void containers_of_pods(void **state)
{
	struct tree *t = *state;
	static const char uid[] = "0fb8a3a1-93bc-4a5c-8f6e-0d4e6c4b7c11 -";
	container_is(t,
		     "kubepods.slice/kubepods-burstable.slice/"
		     "kubepods-burstable-pod0fb8a3a1_93bc_4a5c_8f6e_0d4e6c4b7c11.slice",
		     uid);
	container_is(t,
		     "kubepods.slice/kubepods-pod0fb8a3a1_93bc_4a5c_8f6e_0d4e6c4b7c11.slice/"
		     "cri-containerd-" ID_B ".scope",
		     ID_B " -");
	container_is(t, "kubepods.slice/crio-" ID_C ".scope", ID_C " -");
	container_is(t, "kubepods.slice/crio-conmon-" ID_C ".scope", "");
	container_is(t, "kubepods/besteffort/pod0fb8a3a1-93bc-4a5c-8f6e-0d4e6c4b7c11", uid);
	container_is(t, "kubepods/besteffort/pod0fb8a3a1-93bc-4a5c-8f6e-0d4e6c4b7c11/" ID_A,
		     ID_A " -");
	container_is(t, "kubepods/besteffort", "");
	container_is(t, "kubepods.slice/kubepods-burstable.slice", "");
}

static void engines_know_the_names(void **state)
{
	struct tree *t = *state;
	put(t, "var/lib/docker/containers/" ID_A "/config.v2.json",
	    "{\"State\":{\"Name\":\"no\"},\"ID\":\"" ID_A "\",\"Config\":{\"Labels\":{\"Name\":"
	    "\"no\"}},\"Name\":\"/web\",\"MountPoints\":{\"/d\":{\"Name\":\"no\"}}}");
	put(t, "var/lib/containers/storage/overlay-containers/containers.json",
	    "[{\"id\":\"" ID_C "\",\"names\":[\"other\"]},{\"id\":\"" ID_B
	    "\",\"names\":[\"db\",\"alias\"],\"metadata\":\"{\\\"name\\\":\\\"no\\\"}\"}]");
	put(t, "var/lib/containers/storage/overlay-containers/volatile-containers.json",
	    "[{\"id\":\"" ID_A "\",\"names\":[\"no\"]}]");
	if (geteuid()) /* the group of a test of somebody else belongs to that user */
		skip();
	container_is(t, "docker-" ID_A ".scope", ID_A " web");
	container_is(t, "libpod-" ID_B ".scope", ID_B " db");
	put(t, "var/lib/containers/storage/overlay-containers/containers.json", "[{\"id\": dam");
	container_is(t, "libpod-" ID_B ".scope", ID_B " -");
	put(t, "var/lib/containers/storage/overlay-containers/volatile-containers.json",
	    "[{\"id\":\"" ID_B "\",\"names\":[\"brief\"]}]");
	container_is(t, "libpod-" ID_B ".scope", ID_B " brief");
}

static void users_keep_names_at_home(void **state)
{
	struct tree *t = *state;
	const struct passwd *user = geteuid() ? getpwuid(geteuid()) : getpwnam("nobody");
	if (!user)
		skip();
	const char *group = put_group(t, "c/user.slice/libpod-" ID_A ".scope", "");
	put(t,
	    arena_printf(&t->arena, "%s/.local/share/containers/storage/vfs-containers/%s",
			 user->pw_dir, "containers.json"),
	    "[{\"id\":\"" ID_A "\",\"names\":[\"mine\"]}]");
	assert_int_equal(chown(group, user->pw_uid, (gid_t)-1), 0);
	container_is(t, "user.slice/libpod-" ID_A ".scope", ID_A " mine");
}

static void kept_are(const char *name, const char *expected)
{
	static const struct container all[] = {
		{"/1", ID_A, "web"},  {"/2", ID_B, "cafe"}, {"/3", ID_C, NULL},
		{"/4", NULL, "mail"}, {"/5", NULL, "mail"}, {"/6", "cafe" ID_C, NULL},
	};
	container_list list = {0};
	struct text kept = TEXT_INIT;
	text_add(&kept, "");
	vec_append(&list, all, (uint32_t)ARRAY_SIZE(all));
	containers_keep(&list, name);
	vec_each (c, &list)
		text_add(&kept, c->folder);
	assert_string_equal(kept.data, expected);
	text_release(&kept);
	vec_free(&list);
}

static void containers_are_chosen_by_name_or_id(void **state)
{
	(void)state;
	kept_are("web", "/1");
	kept_are("cafe", "/2"); /* the name goes before the ID */
	kept_are("mail", "/4/5");
	kept_are(ID_A, "/1");
	kept_are("a0a0b", "/2");
	kept_are("a0a0", "/1/2");
	kept_are("a0a", ""); /* too short */
	kept_are("c2c2", "/3");
	kept_are("we", "");
	kept_are(ID_A "0", "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_tree, remove_tree)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_best_hierarchy_comes_first),
		TEST(groups_below_count),
		TEST(groups_that_vanish_have_no_processes),
		TEST(groups_that_cannot_be_read_are_counted),
		TEST(units_are_folders_with_a_type),
		TEST(containers_are_known_by_their_groups),
		TEST(containers_of_pods),
		TEST(engines_know_the_names),
		TEST(users_keep_names_at_home),
		TEST(containers_are_chosen_by_name_or_id),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
