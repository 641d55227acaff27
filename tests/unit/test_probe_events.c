// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lines for the probes of tracefs, on a tree made up in a temporary folder, and
 * the janitor, with a file of ours in place of the kernel's: no privileged call.
 */
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/strbuf.h"
#include "lib/sys/janitor.h"
#include "lib/sys/probe_events.h"
#include "tree.h"

#define LIST "tracefs/uprobe_events"

static int set_up(void **state)
{
	struct tree *tree = tree_new();

	tree_put(tree, LIST, "");
	*state = tree;
	return 0;
}

static int tear_down(void **state)
{
	tree_free(*state);
	return 0;
}

static void put_process(const struct tree *tree, pid_t pid, unsigned start)
{
	char path[256], text[256];

	snprintf(path, sizeof(path), "proc/%d/stat", (int)pid);
	snprintf(text, sizeof(text),
		 "%d (a ) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 %u 20 21\n", (int)pid,
		 start);
	tree_put(tree, path, text);
}

/* A pid that nobody has. */
static pid_t dead_pid(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

static void assert_list(const struct tree *tree, const char *want)
{
	_cleanup_free_ char *got = NULL;

	assert_null(sys_read_file(tree->list, 1 << 20, &got, NULL));
	assert_string_equal(got, want);
}

/* The tree has no event of the name, so making ends there: both lines can be seen. */
static void make(const struct tree *tree, const struct sys_probe_spec *spec, char *definition,
		 size_t size)
{
	struct sys_probe *probe = NULL;
	_cleanup_free_ char *text = NULL;
	struct error *err = sys_probe_make(&tree->roots, spec, &probe);

	assert_non_null(err);
	assert_null(probe);
	assert_int_equal(err->code, ENOENT);
	error_free(err);
	for (int i = 0; i < 3000; i++) { /* the janitor adds his line to this file */
		free(text);
		text = NULL;
		assert_null(sys_read_file(tree->list, 1 << 20, &text, NULL));
		const char *p = strstr(text, "\n-:");
		if (p && strstr(p + 1, "\n-:"))
			break;
		usleep(20000);
	}
	/* p:GROUP/NAME PLACE, then twice its name: by this process and by the janitor. */
	char *place = strchr(text, ' ');
	assert_non_null(place);
	snprintf(definition, size, "%.*s", (int)strcspn(place + 1, "\n"), place + 1);
	_cleanup_free_ char *want =
		text_format("%.*s %s\n-%.*s\n-%.*s\n", (int)(place - text), text, definition,
			    (int)(place - text) - 1, text + 1, (int)(place - text) - 1, text + 1);
	assert_string_equal(text, want);
}

TEST_WITH(probes_are_lines, set_up, tear_down)
{
	const struct tree *tree = *state;
	struct sys_probe_spec spec = {
		.place = "/bin/sh", .offset = 0x1234, .label = "a-b.c__return_and_a_long_end"};
	char place[512], path[256];
	struct stat st;

	put_process(tree, getpid(), 4711);
	tree_put(tree, "proc/self/ns/pid", "");
	snprintf(path, sizeof(path), "%s/self/ns/pid", tree->proc);
	assert_int_equal(stat(path, &st), 0);
	make(tree, &spec, place, sizeof(place));
	assert_string_equal(place, "/bin/sh:0x1234");

	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *group =
		text_format("p:perfbpf_%" PRIu64 "_%d_4711/u_a_b_c__return_and_"
			    "a_long_",
			    (uint64_t)st.st_ino, (int)getpid());
	assert_null(sys_read_file(tree->list, 1 << 20, &text, NULL));
	assert_memory_equal(text, group, strlen(group));

	tree_put(tree, LIST, "");
	spec.at_return = true;
	spec.ref_ctr_offset = 0x99;
	make(tree, &spec, place, sizeof(place));
	assert_string_equal(place, "/bin/sh:0x1234(0x99)");
	free(text);
	text = NULL;
	assert_null(sys_read_file(tree->list, 1 << 20, &text, NULL));
	assert_int_equal(text[0], 'r');

	/* A path with a blank goes by a descriptor. */
	char blank[256];
	snprintf(blank, sizeof(blank), "%s/a file", tree->top);
	tree_put(tree, "a file", "x");
	tree_put(tree, LIST, "");
	spec = (struct sys_probe_spec){.place = blank, .offset = 7};
	make(tree, &spec, place, sizeof(place));
	assert_memory_equal(place, "/proc/self/fd/", 14);
	assert_string_equal(strchr(place, ':'), ":0x7");

	/* And the kernel's file is another. */
	spec = (struct sys_probe_spec){.in_kernel = true, .place = "vfs_read", .offset = 0x10};
	struct sys_probe *probe = NULL;
	struct error *err = sys_probe_make(&tree->roots, &spec, &probe);
	assert_int_equal(err->code, EOPNOTSUPP);
	assert_string_equal(err->msg, "this kernel's tracefs has no kprobe_events");
	error_free(err);
	assert_true(sys_probe_possible(&tree->roots, false));
	assert_false(sys_probe_possible(&tree->roots, true));
}

TEST_WITH(what_dead_processes_left_is_taken_away, set_up, tear_down)
{
	const struct tree *tree = *state;
	const int self = (int)getpid(), dead = (int)dead_pid();
	char path[256];
	struct stat st;

	put_process(tree, getpid(), 4711);
	tree_put(tree, "proc/self/ns/pid", "");
	snprintf(path, sizeof(path), "%s/self/ns/pid", tree->proc);
	assert_int_equal(stat(path, &st), 0);
	const unsigned long long ns = st.st_ino;
	_cleanup_free_ char *before =
		text_format("p:perfbpf_%llu_%d_5/u_one_1_2 /bin/a:0x1\n"
			    "r8:perfbpf_%llu_%d_4710/u_two_1_2 /bin/a:0x1\n"
			    "p:perfbpf_%llu_%d_4711/u_alive /bin/a:0x1\n"
			    "p:perfbpf_%llu_%d_5/u_of_others /bin/a:0x1\n"
			    "p:probes/p_a_0x1 /bin/a:0x1\n"
			    "p:perfbpf_%llu_%d /bin/a:0x1\n"
			    "perfbpf_%llu_%d_5/u_x\n\n:",
			    ns, dead, ns, self, ns, self, ns + 1, dead, ns, dead, ns, dead);
	tree_put(tree, LIST, before);

	/* A file that is none: nothing is made, but the sweep was. */
	struct sys_probe_spec spec = {.place = "/no such file"};
	struct sys_probe *probe = NULL;
	struct error *err = sys_probe_make(&tree->roots, &spec, &probe);
	assert_int_equal(err->code, ENOENT);
	error_free(err);
	_cleanup_free_ char *want = text_format("%s-:perfbpf_%llu_%d_5/u_one_1_2\n"
						"-:perfbpf_%llu_%d_4710/u_two_1_2\n",
						before, ns, dead, ns, self);
	assert_list(tree, want);
}

static int open_list(const struct tree *tree)
{
	int fd = open(tree->list, O_WRONLY | O_APPEND | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void wait_for_list(const struct tree *tree, const char *want)
{
	for (int i = 0; i < 6000; i++) {
		_cleanup_free_ char *got = NULL;

		assert_null(sys_read_file(tree->list, 1 << 20, &got, NULL));
		if (!strcmp(got, want))
			return;
		usleep(10000);
	}
	assert_list(tree, want);
}

static volatile sig_atomic_t children;

static void on_child(int sig)
{
	children = children + 1;
}

TEST_WITH(the_janitor_is_nobodys_child, set_up, tear_down)
{
	const struct tree *tree = *state;
	_cleanup_close_ int fd = open_list(tree);
	int keep = -1;

	signal(SIGCHLD, on_child);
	assert_null(sys_janitor_start(fd, "gone\n", &keep));
	assert_true(keep >= 0);
	assert_int_equal(fcntl(keep, F_GETFD), FD_CLOEXEC);
	assert_int_equal(waitpid(-1, NULL, WNOHANG | __WALL), -1);
	assert_int_equal(errno, ECHILD);
	usleep(50000);
	assert_list(tree, "");
	close(keep);
	wait_for_list(tree, "gone\n");
	assert_int_equal(waitpid(-1, NULL, WNOHANG | __WALL), -1);
	assert_int_equal(children, 0);
	signal(SIGCHLD, SIG_DFL);
}

/* The caller is killed; but a copy of the descriptor is in another process. */
TEST_WITH(the_janitor_outlives_who_is_killed, set_up, tear_down)
{
	const struct tree *tree = *state;
	int ready[2];
	pid_t copy = 0;
	char c;

	assert_int_equal(pipe(ready), 0);
	const pid_t pid = fork();
	if (!pid) {
		int keep = -1, fd = open_list(tree);

		if (sys_janitor_start(fd, "killed\n", &keep))
			_exit(1);
		const pid_t child = fork();
		if (!child)
			for (;;)
				pause();
		if (write(ready[1], &child, sizeof(child)) != sizeof(child))
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &copy, sizeof(copy)), sizeof(copy));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	usleep(100000);
	assert_list(tree, "");
	kill(copy, SIGKILL);
	wait_for_list(tree, "killed\n");
	/* The pipe that both had is not the janitor's: it ends with ours. */
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 0);
	close(ready[0]);
}
