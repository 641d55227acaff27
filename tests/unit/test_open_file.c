// SPDX-License-Identifier: BSD-2-Clause
/* Files that others may have planted: what is opened, what is followed, what is refused. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/cleanup.h"
#include "lib/sys/open_file.h"
#include "lib/sys/open_in_root.h"

#define OTHER_USER 4242

static int set_up(void **state)
{
	static char top[] = "/tmp/pbt-open.XXXXXX";

	strcpy(top + strlen(top) - 6, "XXXXXX");
	if (!mkdtemp(top) || chdir(top) || chmod(".", 0755))
		return -1;
	*state = top;
	return 0;
}

static int tear_down(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r '%s'", (char *)*state);
	return chdir("/") || system(command);
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static char *content(const char *path)
{
	static char text[64];
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	return text;
}

static void need_root(void)
{
	if (geteuid()) {
		print_message("giving a file to another user takes root\n");
		skip();
	}
}

static void refuses(struct error *err, int code, const char *msg)
{
	assert_non_null(err);
	assert_int_equal(err->code, code);
	if (!strstr(err->msg, msg))
		fail_msg("'%s' is not in '%s'", msg, err->msg);
	error_free(err);
}

static void opens(const char *path, const struct open_regular_opts *opts)
{
	int fd = -1;
	struct error *err = open_regular(path, opts, &fd);

	if (err)
		fail_msg("%s: %s", path, err->msg);
	close(fd);
}

TEST_WITH(only_regular_files_are_read, set_up, tear_down)
{
	int fd = -1;

	put("file", "text");
	assert_int_equal(symlink("file", "link"), 0);
	assert_int_equal(mkfifo("fifo", 0666), 0);
	opens("file", NULL);
	opens("link", NULL);
	refuses(open_regular("fifo", NULL, &fd), EINVAL, "not a regular file");
	refuses(open_regular("/dev/null", NULL, &fd), EINVAL, "not a regular file");
	refuses(open_regular(".", NULL, &fd), EISDIR, "not a regular file");
	refuses(open_regular("none", NULL, &fd), ENOENT, "cannot open");
	refuses(open_regular("link", &(struct open_regular_opts){.no_link = true}, &fd), ELOOP,
		"symbolic link");
	assert_int_equal(fd, -1);
}

/*
 * Opening a file such as /dev/watchdog has an effect. inotify reports opens, but not
 * with O_PATH.
 */
TEST_WITH(what_is_not_regular_is_not_even_opened, set_up, tear_down)
{
	const int notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	char events[512];
	int fd = -1;

	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_true(inotify_add_watch(notify, "fifo", IN_OPEN) >= 0);
	refuses(open_regular("fifo", NULL, &fd), EINVAL, "not a regular file");
	assert_int_equal(read(notify, events, sizeof(events)), -1);
	close(open("fifo", O_RDONLY | O_NONBLOCK));
	assert_true(read(notify, events, sizeof(events)) > 0);
	close(notify);
}

TEST_WITH(sizes_and_owners_are_checked, set_up, tear_down)
{
	int fd = -1;

	put("sparse", "");
	assert_int_equal(truncate("sparse", 64ll << 30), 0);
	refuses(open_regular("sparse", &(struct open_regular_opts){.max_bytes = 1 << 20}, &fd),
		EFBIG, "larger than 1 MB");
	put("own", "");
	opens("own", &(struct open_regular_opts){.owned = true});
	need_root();
	put("theirs", "");
	assert_int_equal(chown("theirs", OTHER_USER, OTHER_USER), 0);
	refuses(open_regular("theirs", &(struct open_regular_opts){.owned = true}, &fd), EPERM,
		"it belongs to user 4242");
	assert_int_equal(symlink("own", "link"), 0);
	opens("link", &(struct open_regular_opts){.owned = true});
	assert_int_equal(lchown("link", OTHER_USER, OTHER_USER), 0);
	refuses(open_regular("link", &(struct open_regular_opts){.owned = true}, &fd), EPERM,
		"the symbolic link belongs to user 4242");
	opens("link", NULL);
	opens("theirs", &(struct open_regular_opts){.owned = true, .owner = OTHER_USER});
}

static void make(const char *path, mode_t mode, uid_t owner)
{
	put(path, "");
	assert_int_equal(chmod(path, mode) | chown(path, owner, owner), 0);
}

/* Paths in what another user wrote lead to nothing that this user could not read. */
TEST_WITH(paths_of_others, set_up, tear_down)
{
	const struct open_regular_opts ours = {.owned = true},
				       theirs = {.owned = true, .owner = OTHER_USER};
	int fd = -1;

	need_root();
	assert_int_equal(mkdir("open", 0755) | mkdir("closed", 0700) | mkdir("home", 0700), 0);
	assert_int_equal(chown("home", OTHER_USER, OTHER_USER), 0);
	make("open/file", 0644, 0);
	make("open/secret", 0600, 0);
	make("closed/file", 0644, 0);
	make("home/file", 0600, OTHER_USER);
	make("closed/theirs", 0600, OTHER_USER);
	assert_int_equal(symlink("open", "way") | symlink("closed", "into") |
				 symlink("open/file", "link") | symlink("open/secret", "to_secret"),
			 0);
	for (const char *const *name = (const char *[]){"way", "into", "link", "to_secret", NULL};
	     *name; name++)
		assert_int_equal(lchown(*name, OTHER_USER, OTHER_USER), 0);

	opens("open/file", &theirs);
	opens("home/file", &theirs);
	opens("closed/theirs", &theirs);
	opens("way/file", &theirs);
	opens("link", &theirs);
	refuses(open_regular("open/secret", &theirs, &fd), EPERM,
		"user 4242, whose data names this path, cannot read it");
	refuses(open_regular("to_secret", &theirs, &fd), EPERM,
		"user 4242, whose data names this path, cannot read it");
	refuses(open_regular("closed/file", &theirs, &fd), EPERM,
		"user 4242, whose data names this path, cannot read it");
	refuses(open_regular("into/file", &theirs, &fd), EPERM,
		"user 4242, whose data names this path, cannot read it");
	refuses(open_regular("home/file", &(struct open_regular_opts){.owned = true, .owner = 4243},
			     &fd),
		EPERM, "user 4243, whose data names this path, cannot read it");

	/* what a trusted user wrote leads to all files, but not through links of others */
	opens("open/secret", &ours);
	opens("closed/file", &ours);
	refuses(open_regular("way/secret", &ours, &fd), EPERM,
		"the symbolic link belongs to user 4242");
	refuses(open_regular("way/none", &ours, &fd), EPERM,
		"the symbolic link belongs to user 4242");
	refuses(open_regular("open/none", &ours, &fd), ENOENT, "cannot open");
}

static struct output_path find(const char *path)
{
	struct output_path out;
	struct error *err = output_find(path, &out);

	if (err)
		fail_msg("%s: %s", path, err->msg);
	return out;
}

static void replace(const char *path, const char *text)
{
	struct output_path out = find(path);

	assert_null(file_replace(out.dir_fd, out.name, text, strlen(text), 0600));
	output_path_deinit(&out);
}

static struct error *half(int fd, void *ctx)
{
	*(int *)ctx += 1;
	TRY(file_write(fd, "half", 4));
	return error_new(ENODATA, "no more");
}

TEST_WITH(failed_content_replaces_nothing, set_up, tear_down)
{
	int calls = 0;

	assert_int_equal(mkdir("half", 0777), 0);
	replace("half/file", "whole");
	struct output_path out = find("half/file");
	refuses(file_replace_by(out.dir_fd, out.name, 0600, half, &calls), ENODATA, "no more");
	output_path_deinit(&out);
	assert_int_equal(calls, 1);
	assert_string_equal(content("half/file"), "whole");
	/* nothing else is left */
	assert_int_equal(unlink("half/file") | rmdir("half"), 0);
}

TEST_WITH(output_follows_own_links, set_up, tear_down)
{
	struct output_path out;

	assert_int_equal(mkdir("a", 0777) | mkdir("a/b", 0777), 0);
	assert_int_equal(symlink("a/b", "dir") | symlink("dir/../file", "link"), 0);
	assert_int_equal(symlink("loop", "loop"), 0);
	replace("link", "one");
	assert_string_equal(content("a/file"), "one");
	replace(".//dir/./../file", "two");
	assert_string_equal(content("a/file"), "two");
	out = find("link");
	assert_true(out.exists && out.is_ours && !out.is_special && out.mode == 0600);
	assert_string_equal(out.name, "file");
	output_path_deinit(&out);
	out = find("dir/new");
	assert_false(out.exists);
	output_path_deinit(&out);
	refuses(output_find("loop", &out), ELOOP, "cannot write 'loop'");
	refuses(output_find("dir", &out), EISDIR, "cannot write 'dir': Is a directory");
	refuses(output_find("a/", &out), EISDIR, "cannot write 'a/'");
	refuses(output_find("none/x", &out), ENOENT,
		"cannot write 'none/x': No such file or directory");
	refuses(output_find("", &out), ENOENT, "cannot write ''");
	refuses(output_find("link/x", &out), ENOTDIR, "cannot write 'link/x'");
}

TEST_WITH(output_does_not_follow_links_of_others, set_up, tear_down)
{
	struct output_path out;

	need_root();
	put("secret", "kept");
	assert_int_equal(mkdir("dir", 0777), 0);
	assert_int_equal(symlink("secret", "link") | symlink("dir", "way"), 0);
	assert_int_equal(symlink("none", "dangling") | mkfifo("fifo", 0666), 0);
	for (const char *const *name = (const char *[]){"link", "way", "dangling", "fifo", NULL};
	     *name; name++)
		assert_int_equal(lchown(*name, OTHER_USER, OTHER_USER), 0);
	refuses(output_find("link", &out), EPERM,
		"cannot write 'link': the symbolic link 'link' belongs to user 4242");
	refuses(output_find("way/new", &out), EPERM, "the symbolic link 'way' belongs to");
	refuses(output_find("dangling", &out), EPERM, "the symbolic link 'dangling' belongs to");
	refuses(output_find("fifo", &out), EPERM, "the FIFO belongs to user 4242");
	assert_string_equal(content("secret"), "kept");
	/* A file is replaced, not written to: whoever has it open does not see what is new. */
	assert_int_equal(chown("secret", OTHER_USER, OTHER_USER), 0);
	const int theirs = open("secret", O_RDONLY);
	out = find("secret");
	assert_true(out.exists && !out.is_ours);
	output_path_deinit(&out);
	replace("secret", "new");
	char text[8] = "";
	assert_int_equal(read(theirs, text, sizeof(text)), 4);
	assert_string_equal(text, "kept");
	close(theirs);
}

TEST_WITH(output_to_what_is_open, set_up, tear_down)
{
	char path[32];
	int fds[2];
	struct output_path out;

	assert_int_equal(pipe(fds), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[1]);
	out = find(path);
	assert_true(out.is_magic && out.is_special && out.exists);
	output_path_deinit(&out);
	assert_int_equal(symlink(path, "stdout"), 0);
	out = find("stdout");
	assert_true(out.is_magic);
	output_path_deinit(&out);
	close(fds[0]);
	close(fds[1]);
	out = find("/dev/null");
	assert_true(out.is_special && !out.is_magic);
	output_path_deinit(&out);
}

static void create(const char *path, const char *text)
{
	struct output_path out = find(path);
	int fd = -1;

	assert_null(output_create(&out, path, O_WRONLY, 0600, &fd));
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	output_path_deinit(&out);
}

/* Whoever has the file open, or another name of it, does not see what is written. */
TEST_WITH(output_is_written_to_a_file_of_ours, set_up, tear_down)
{
	struct stat st, before;

	create("new", "one");
	assert_int_equal(stat("new", &before), 0);
	assert_int_equal(before.st_mode & 0777, 0600);
	create("new", "2");
	assert_int_equal(stat("new", &st), 0);
	assert_true(st.st_ino == before.st_ino);
	assert_string_equal(content("new"), "2");

	put("kept", "kept");
	assert_int_equal(link("kept", "planted"), 0);
	create("planted", "new");
	assert_string_equal(content("kept"), "kept");
	assert_string_equal(content("planted"), "new");

	/* What becomes another file after it was looked at. */
	struct output_path out = find("new");
	int fd = -1;
	assert_int_equal(unlink("new") | symlink("kept", "new"), 0);
	refuses(output_create(&out, "new", O_WRONLY, 0600, &fd), ELOOP, "cannot write 'new'");
	assert_int_equal(unlink("new") | link("kept", "new"), 0);
	refuses(output_create(&out, "new", O_WRONLY, 0600, &fd), EEXIST, "cannot write 'new'");
	assert_int_equal(fd, -1);
	output_path_deinit(&out);
	assert_string_equal(content("kept"), "kept");

	need_root();
	put("theirs", "read by them");
	assert_int_equal(chown("theirs", OTHER_USER, OTHER_USER) | chmod("theirs", 0666), 0);
	const int open_there = open("theirs", O_RDONLY);
	create("theirs", "secret");
	assert_int_equal(stat("theirs", &st), 0);
	assert_true(st.st_uid == geteuid() && (st.st_mode & 0777) == 0600);
	char text[16] = "";
	assert_int_equal(read(open_there, text, sizeof(text) - 1), 12);
	assert_string_equal(text, "read by them");
	close(open_there);
}

TEST_WITH(inputs_of_others_do_not_wait, set_up, tear_down)
{
	int fd = -1;

	put("file", "text");
	assert_null(open_input("file", false, &fd));
	close(fd);
	assert_null(open_input(".", false, &fd));
	close(fd);
	fd = -1;
	refuses(open_input("none", false, &fd), ENOENT, "cannot open");
	refuses(open_input("/dev/null", false, &fd), EINVAL, "is not a file or a pipe");
	assert_int_equal(fd, -1);
	assert_null(open_input("/dev/null", true, &fd));
	close(fd);

	char path[32];
	int fds[2];
	assert_int_equal(pipe(fds), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	assert_null(open_input(path, false, &fd));
	close(fd);
	close(fds[0]);
	close(fds[1]);

	need_root();
	fd = -1;
	/* an open of it would wait for a writer */
	assert_int_equal(mkfifo("fifo", 0666) | chown("fifo", OTHER_USER, OTHER_USER), 0);
	refuses(open_input("fifo", false, &fd), EPERM,
		"is a FIFO that belongs to neither you nor root");
	assert_int_equal(fd, -1);
}

/* What find_in_root() finds, as text; "ENOENT" and so on if it finds nothing. */
static const char *in_root(const char *path, bool follow)
{
	static char text[64];
	_cleanup_close_ int root = open("root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int found = find_in_root(root, path, follow, NULL);
	char name[32];
	struct stat st;

	assert_true(root >= 0);
	if (found < 0)
		return errno == ENOENT	       ? "ENOENT"
		       : errno == ELOOP	       ? "ELOOP"
		       : errno == ENOTDIR      ? "ENOTDIR"
		       : errno == ENAMETOOLONG ? "ENAMETOOLONG"
					       : strerror(errno);
	assert_int_equal(fstat(found, &st), 0);
	if (S_ISDIR(st.st_mode))
		return "a directory";
	if (S_ISLNK(st.st_mode))
		return "a link";
	snprintf(name, sizeof(name), "/proc/self/fd/%d", found);
	snprintf(text, sizeof(text), "%s", content(name));
	return text;
}

/* Links in the root of a container: none leads out of it. */
TEST_WITH(links_stay_in_the_root, set_up, tear_down)
{
	char deep[3 * 200 + 8] = "";

	assert_int_equal(mkdir("root", 0755), 0);
	assert_int_equal(mkdir("root/dir", 0755), 0);
	put("secret", "outside");
	put("root/secret", "inside");
	put("root/dir/file", "file");
	assert_int_equal(symlink("/secret", "root/absolute"), 0);
	assert_int_equal(symlink("../../../secret", "root/dir/relative"), 0);
	assert_int_equal(symlink("/dir", "root/to_dir"), 0);
	assert_int_equal(symlink("..", "root/dir/up"), 0);
	assert_int_equal(symlink("loop", "root/loop"), 0);

	assert_string_equal(in_root("/secret", true), "inside");
	assert_string_equal(in_root("/absolute", true), "inside");
	assert_string_equal(in_root("/absolute", false), "a link");
	assert_string_equal(in_root("/../../secret", true), "inside");
	assert_string_equal(in_root("dir/relative", true), "inside");
	assert_string_equal(in_root("/to_dir/file", false), "file");
	assert_string_equal(in_root("//to_dir/./up/to_dir//file", true), "file");
	assert_string_equal(in_root("/dir/../dir/file", true), "file");
	assert_string_equal(in_root("/dir/..", true), "a directory");
	assert_string_equal(in_root("/dir/up/dir/up/secret", true), "inside");
	assert_string_equal(in_root("/loop", true), "ELOOP");
	assert_string_equal(in_root("/loop/file", false), "ELOOP");
	assert_string_equal(in_root("/none/file", true), "ENOENT");
	assert_string_equal(in_root("/secret/file", true), "ENOTDIR");

	/* each directory is kept open */
	assert_int_equal(symlink(".", "root/here"), 0);
	for (int i = 0; i < 30; i++)
		strcat(deep, "here/");
	assert_string_equal(in_root(strcat(deep, "secret"), true), "inside");
	*deep = '\0';
	for (int i = 0; i < 60; i++)
		strcat(deep, "here/");
	assert_string_equal(in_root(strcat(deep, "secret"), true), "ELOOP");
}
