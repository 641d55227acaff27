// SPDX-License-Identifier: BSD-2-Clause
/*
 * Capabilities that stay with who reads recordings: files of any user (a binary in a home
 * directory, a build-id cache) and the addresses in /proc/kallsyms. Neither changes anything, and
 * the filter of system calls leaves no other use of them: syslog(2) is not in its list.
 */
#include "cmd/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/strbuf.h"
#include "lib/base/vec.h"
#include "lib/sys/confine.h"
#include "lib/sys/open_file.h"

#define READER_CAPS (CONFINE_CAP(CAP_DAC_READ_SEARCH) | CONFINE_CAP(CAP_SYSLOG))

/* Directories in which, and files to which, the command writes. */
struct writable {
	VEC(int) fds;
	uint64_t caps; /* that are needed for it */
};

static void writable_deinit(struct writable *w)
{
	int *fd;

	vec_for_each (fd, &w->fds)
		closep(fd);
	vec_deinit(&w->fds);
}

/* "sudo perf-bpf report --html page.html" at home: only root's override can write there. */
static uint64_t caps_to_write(int fd)
{
	struct stat st;

	if (geteuid() || fstat(fd, &st) || !st.st_uid)
		return 0;
	return CONFINE_CAP(CAP_DAC_OVERRIDE) | CONFINE_CAP(CAP_FOWNER);
}

static struct error *add_output(struct writable *w, const char *path)
{
	_cleanup_output_path_ struct output_path out = {.dir_fd = -1};

	TRY(output_find(path, &out));
	int *fd = vec_push(&w->fds);
	if (!fd)
		return error_nomem();
	/* a pipe or a device is written in place */
	*fd = out.is_special ? openat(out.dir_fd, out.name,
				      O_PATH | O_CLOEXEC | (out.is_magic ? 0 : O_NOFOLLOW))
			     : steal_fd(&out.dir_fd);
	if (*fd < 0)
		return error_errno(errno, "cannot write '%s'", path);
	w->caps |= caps_to_write(*fd);
	return NULL;
}

static struct error *confine_and_log(const struct confine_opts *opts, const struct log *log)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct confined done;

	TRY(error_prefix(confine(opts, &done), "cannot drop privileges"));
	confined_text(&done, &text);
	log_info(log, "privileges dropped: %s", strbuf_str(&text));
	return NULL;
}

struct error *privileges_of_reader(const char *const *outputs, size_t n, const struct log *log)
{
	_cleanup_(writable_deinit) struct writable w = {0};

	for (size_t i = 0; i < n; i++)
		if (outputs[i])
			TRY(add_output(&w, outputs[i]));
	const struct confine_opts opts = {
		.keep = READER_CAPS | w.caps,
		.calls = CONFINE_READ | (w.fds.n ? CONFINE_WRITE : 0),
		.landlock = true,
		.write_fds = w.fds.v,
		.n_write_fds = w.fds.n,
	};
	return confine_and_log(&opts, log);
}
