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
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/strbuf.h"
#include "lib/base/vec.h"
#include "lib/sys/confine.h"
#include "lib/sys/open_file.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38 /* 5.8 */
#define CAP_BPF	    39
#endif

#define READER_CAPS (CONFINE_CAP(CAP_DAC_READ_SEARCH) | CONFINE_CAP(CAP_SYSLOG))

/*
 * While it runs, a command reads files of processes in procfs, which asks for CAP_SYS_PTRACE, and
 * ends a workload that may be another user's.
 */
#define LIVE_CAPS (READER_CAPS | CONFINE_CAP(CAP_SYS_PTRACE) | CONFINE_CAP(CAP_KILL))

/*
 * A CPU that comes back needs new events and rings. Debian's kernels have perf_event_paranoid 3,
 * for which 5.10 wants CAP_SYS_ADMIN.
 */
#define OPENER_CAPS                                                                                \
	(CONFINE_CAP(CAP_PERFMON) | CONFINE_CAP(CAP_SYS_ADMIN) | CONFINE_CAP(CAP_IPC_LOCK))

/* Programs of others are looked at by their ids, for which the kernel wants CAP_SYS_ADMIN, too. */
#define RECORDER_CAPS (LIVE_CAPS | OPENER_CAPS | CONFINE_CAP(CAP_BPF))

/* Objects of others are opened by their ids, for which the kernel wants CAP_SYS_ADMIN. */
#define LOOK_CAPS (CONFINE_CAP(CAP_BPF) | CONFINE_CAP(CAP_PERFMON) | CONFINE_CAP(CAP_SYS_ADMIN))

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

static struct error *confine_and_log(const struct confine_opts *opts, const char *when,
				     const struct log *log)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct confined done;

	TRY(error_prefix(confine(opts, &done), "cannot drop privileges"));
	confined_text(&done, &text);
	log_info(log, "privileges dropped %s: %s", when, strbuf_str(&text));
	return NULL;
}

static struct error *find_outputs(const char *const *outputs, size_t n, struct writable *w)
{
	for (size_t i = 0; i < n; i++)
		if (outputs[i])
			TRY(add_output(w, outputs[i]));
	return NULL;
}

struct error *privileges_of_reader(const char *const *outputs, size_t n, unsigned needs,
				   const struct log *log)
{
	_cleanup_(writable_deinit) struct writable w = {0};

	TRY(find_outputs(outputs, n, &w));
	const struct confine_opts opts = {
		.keep = READER_CAPS | w.caps,
		.calls = CONFINE_READ | CONFINE_THREAD | (w.fds.n ? CONFINE_WRITE : 0) |
			 (needs & READER_WAITS ? CONFINE_WAIT : 0) |
			 (needs & READER_ASKS ? CONFINE_PASS | CONFINE_TAKE : 0),
		.landlock = true,
		.signals = needs & READER_WAITS, /* Ctrl-Z stops perf as well, if it runs us */
		.write_fds = w.fds.v,
		.n_write_fds = w.fds.n,
	};
	return confine_and_log(&opts, "before the recording is opened", log);
}

struct error *privileges_of_kernel_reader(const struct log *log)
{
	const struct confine_opts opts = {
		.keep = CONFINE_CAP(CAP_SYSLOG),
		.calls = CONFINE_READ | CONFINE_TAKE | CONFINE_PASS,
		.landlock = true,
	};
	return confine_and_log(&opts, "by the process that reads the kernel's code", log);
}

struct error *privileges_of_map_opener(const struct log *log)
{
	const struct confine_opts opts = {
		/* Below /proc/PID/root: not with Landlock. */
		.keep = CONFINE_CAP(CAP_DAC_READ_SEARCH) | CONFINE_CAP(CAP_SYS_PTRACE),
		.calls = CONFINE_READ | CONFINE_TAKE | CONFINE_PASS,
	};
	return confine_and_log(&opts, "by the process that opens perf maps", log);
}

struct error *privileges_of_demangler(const struct log *log)
{
	const struct confine_opts opts = {.calls = CONFINE_CPU_TIMER, .landlock = true};

	return confine_and_log(&opts, "by the process that demangles names", log);
}

struct error *privileges_of_writer(const char *const *outputs, size_t n, const struct log *log)
{
	_cleanup_(writable_deinit) struct writable w = {0};

	TRY(find_outputs(outputs, n, &w));
	const struct confine_opts opts = {
		.keep = CONFINE_CAP(CAP_DAC_READ_SEARCH) | w.caps,
		.calls = CONFINE_READ | CONFINE_WRITE | CONFINE_TAKE,
		.landlock = true,
		.write_fds = w.fds.v,
		.n_write_fds = w.fds.n,
	};
	return confine_and_log(&opts, "by the process that writes files", log);
}

struct error *privileges_of_run(bool opens_events, bool finds_maps, const struct log *log)
{
	const struct confine_opts opts = {
		.keep = LIVE_CAPS | CONFINE_CAP(CAP_BPF) | (opens_events ? OPENER_CAPS : 0) |
			(finds_maps ? CONFINE_CAP(CAP_SYS_ADMIN) : 0),
		.calls = CONFINE_READ | CONFINE_WAIT | CONFINE_BPF | CONFINE_PASS |
			 (opens_events ? CONFINE_ATTACH : 0),
	};
	return confine_and_log(&opts, "when the programs are attached", log);
}

struct error *privileges_of_trace(bool reads_processes, bool opens_events, bool has_workload,
				  const struct log *log)
{
	const struct confine_opts opts = {
		.keep = READER_CAPS | CONFINE_CAP(CAP_BPF) |
			(reads_processes ? CONFINE_CAP(CAP_SYS_PTRACE) : 0) |
			(opens_events ? OPENER_CAPS : 0) |
			(has_workload ? CONFINE_CAP(CAP_KILL) : 0),
		.calls = CONFINE_READ | CONFINE_WAIT | CONFINE_LOOK |
			 (opens_events ? CONFINE_ATTACH | CONFINE_BPF : 0),
		/* it would close procfs, and forbid to signal the workload */
		.landlock = !reads_processes && !has_workload,
	};
	return confine_and_log(&opts, "when tracing has started", log);
}

struct error *privileges_of_top(bool opens_events, bool filters_tasks, bool asks,
				const struct log *log)
{
	const struct confine_opts opts = {
		.keep = READER_CAPS | CONFINE_CAP(CAP_SYS_PTRACE) |
			(opens_events ? OPENER_CAPS : 0) |
			(filters_tasks ? CONFINE_CAP(CAP_BPF) : 0),
		.calls = CONFINE_READ | CONFINE_WAIT | (opens_events ? CONFINE_ATTACH : 0) |
			 (filters_tasks ? CONFINE_BPF : 0) |
			 (asks ? CONFINE_PASS | CONFINE_TAKE : 0),
	};
	return confine_and_log(&opts, "when sampling has started", log);
}

struct error *privileges_of_watch(const struct log *log)
{
	const struct confine_opts opts = {
		.keep = READER_CAPS | LOOK_CAPS | CONFINE_CAP(CAP_KILL),
		.calls = CONFINE_READ | CONFINE_WAIT | CONFINE_LOOK,
	};
	return confine_and_log(&opts, "when it listens", log);
}

/* The folder, or the first one above it that is there: new ones get its owner's rights. */
static uint64_t caps_to_write_below(const char *dir)
{
	_cleanup_free_ char *path = strdup(dir);
	_cleanup_close_ int fd = -1;

	while (path && *path && fd < 0) {
		char *slash = strrchr(path, '/');

		fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		*(slash ? slash : path) = 0;
	}
	return fd < 0 ? 0 : caps_to_write(fd);
}

/* Where libdebuginfod keeps what it has fetched. */
static uint64_t caps_to_write_debuginfo(void)
{
	const char *dir = secure_getenv("DEBUGINFOD_CACHE_PATH");

	if (!dir)
		dir = secure_getenv("XDG_CACHE_HOME");
	if (!dir)
		dir = secure_getenv("HOME");
	return dir ? caps_to_write_below(dir) : 0;
}

/* Debug information of what has none is downloaded to the cache of libdebuginfod. */
static void allow_debuginfod(struct confine_opts *opts)
{
	const char *urls = secure_getenv("DEBUGINFOD_URLS");

	if (!urls || !*urls)
		return;
	opts->keep |= caps_to_write_debuginfo();
	opts->calls = CONFINE_ANY; /* it connects, starts threads, and loads further libraries */
	opts->landlock = false;
}

struct error *privileges_of_probe(bool tries_programs, const struct log *log)
{
	struct confine_opts opts = {
		.keep = READER_CAPS,
		.calls = CONFINE_READ,
		.landlock = true,
	};

	if (tries_programs) {
		opts.keep |= CONFINE_CAP(CAP_BPF) | CONFINE_CAP(CAP_PERFMON) |
			     CONFINE_CAP(CAP_SYS_ADMIN);
		opts.calls |= CONFINE_LOAD | CONFINE_ATTACH;
	}
	allow_debuginfod(&opts);
	return confine_and_log(&opts, "before binaries are read", log);
}

struct error *privileges_of_finder(const struct log *log)
{
	struct confine_opts opts = {
		/* Binaries below /proc/PID/root: not with Landlock. */
		.keep = READER_CAPS | CONFINE_CAP(CAP_SYS_PTRACE),
		.calls = CONFINE_READ | CONFINE_TAKE | CONFINE_PASS,
	};

	allow_debuginfod(&opts);
	return confine_and_log(&opts, "by the process that finds probe points", log);
}

struct error *privileges_of_inspector(unsigned access, const char *output, const struct log *log)
{
	_cleanup_(writable_deinit) struct writable w = {0};

	TRY(find_outputs(&output, 1, &w));
	const struct confine_opts opts = {
		.keep = READER_CAPS | w.caps | (access & INSPECT_FILE ? 0 : LOOK_CAPS) |
			(access & INSPECT_LIST ? CONFINE_CAP(CAP_SYS_PTRACE) : 0) |
			(access & INSPECT_PIN ? CONFINE_CAP(CAP_DAC_OVERRIDE) : 0) |
			(access & INSPECT_KILL ? CONFINE_CAP(CAP_KILL) : 0),
		.calls = CONFINE_READ | (access & INSPECT_FILE ? 0 : CONFINE_LOOK) |
			 (access & INSPECT_CHANGE ? CONFINE_BPF : 0) |
			 (access & INSPECT_PIN ? CONFINE_PIN : 0) |
			 (access & INSPECT_WAIT ? CONFINE_WAIT : 0) | (w.fds.n ? CONFINE_WRITE : 0),
		/* it would hide descriptors of other processes, and forbid files and signals */
		.landlock = !(access & (INSPECT_LIST | INSPECT_PIN | INSPECT_KILL)),
		.write_fds = w.fds.v,
		.n_write_fds = w.fds.n,
	};
	return confine_and_log(&opts, "before objects are read", log);
}

struct error *privileges_of_server(const struct log *log)
{
	const struct confine_opts opts = {.calls = CONFINE_SERVE, .landlock = true};

	return confine_and_log(&opts, "by the process that serves --openmetrics", log);
}

/* The directory belongs to the user (perf/record/buildid_cache.h), so it needs no capabilities. */
static struct error *privileges_of_copier(const char *buildid_dir, const struct log *log)
{
	_cleanup_close_ int dir = open(buildid_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct confine_opts opts = {
		.calls = CONFINE_READ | CONFINE_WRITE | CONFINE_TAKE,
		.landlock = true,
		.write_fds = &dir,
		.n_write_fds = 1,
		.creates_folders = true,
	};

	if (dir < 0)
		return error_errno(errno, "cannot open '%s'", buildid_dir);
	return confine_and_log(&opts, "by the process that copies files", log);
}

struct error *privileges_of_file_series(const char *output, const struct log *log)
{
	_cleanup_(writable_deinit) struct writable w = {0};

	TRY(add_output(&w, output));
	const struct confine_opts opts = {
		.keep = w.caps,
		.calls = CONFINE_WRITE | CONFINE_TAKE | CONFINE_PASS,
		.landlock = true,
		.write_fds = w.fds.v,
		.n_write_fds = w.fds.n,
	};
	return confine_and_log(&opts, "by the process that creates the files", log);
}

struct error *privileges_of_recorder(enum record_phase phase, const char *buildid_dir,
				     bool gets_files, const struct log *log)
{
	struct confine_opts opts = {
		.keep = phase == RECORD_RUNNING ? RECORDER_CAPS : LIVE_CAPS,
		.calls = CONFINE_READ | CONFINE_WAIT | (buildid_dir ? CONFINE_PASS : 0),
	};

	if (phase == RECORD_COPYING)
		return privileges_of_copier(buildid_dir, log);
	if (phase == RECORD_RUNNING)
		opts.calls |= CONFINE_BPF | CONFINE_ATTACH | CONFINE_AGAIN | CONFINE_THREAD;
	if (gets_files)
		opts.calls |= CONFINE_PASS | CONFINE_TAKE;
	return confine_and_log(
		&opts, phase == RECORD_RUNNING ? "while recording" : "before binaries are read",
		log);
}
