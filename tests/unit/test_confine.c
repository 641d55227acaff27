// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a confined process must not be able to do, tried by a process that confine() confined.
 * Everything is tried in a child: it cannot be undone.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/sanitized.h"
#include "lib/sys/confine.h"

/* In the child; its exit status is 1, and the parent's test fails. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			dprintf(STDERR_FILENO, "# line %d: %s (%s)\n", __LINE__, #condition,       \
				strerror(errno));                                                  \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static const struct confine_opts reading = {.calls = CONFINE_READ, .landlock = true};

/* What fn does in a child: its status as waitpid(2) gives it. */
static int status_of(void (*fn)(void))
{
	int status;
	const pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		/* cmocka's handler would go on with the next tests, in this process. */
		signal(SIGSEGV, SIG_DFL);
		fn();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void confine_or_fail(const struct confine_opts *opts, struct confined *done)
{
	struct error *err = confine(opts, done);

	if (err)
		dprintf(STDERR_FILENO, "# %s\n", err->msg);
	CHECK(!err);
}

static void need_seccomp(void)
{
	if (seccomp_works())
		return;
	print_message("# the kernel has no seccomp\n");
	skip();
}

static uint64_t status_number(const char *name)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	uint64_t value = UINT64_MAX;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ':')
			value = strtoull(line + strlen(name) + 1, NULL, 16);
	if (f)
		fclose(f);
	return value;
}

static bool is_refused(long result)
{
	return result == -1 && (errno == EPERM || errno == EACCES);
}

/* Calls that a compromised reader would begin with. */
static void try_everything(void)
{
	char *const argv[] = {(char *)"true", NULL};
	const struct iovec iov = {&errno, sizeof(errno)};
	struct confined done;
	const pid_t parent = getppid();

	confine_or_fail(&reading, &done);
	CHECK(done.seccomp && !done.kept);
	CHECK(is_refused(open("/etc/x", O_WRONLY | O_CREAT, 0600)));
	CHECK(is_refused(open("/etc/passwd", O_RDWR)));
	CHECK(is_refused(open("/etc", O_TMPFILE | O_WRONLY, 0600)));
	CHECK(is_refused(syscall(SYS_openat2, AT_FDCWD, "/etc/x", NULL, 0)));
	CHECK(is_refused(rename("/etc/passwd", "/etc/x")));
	CHECK(is_refused(unlink("/etc/passwd")));
	CHECK(is_refused(mkdir("/etc/x", 0700)));
	CHECK(is_refused(symlink("/etc/passwd", "/etc/x")));
	CHECK(is_refused(chmod("/etc/passwd", 0666)));
	CHECK(is_refused(chown("/etc/passwd", 0, 0)));
	CHECK(is_refused(truncate("/etc/passwd", 0)));
	CHECK(is_refused(execve("/bin/true", argv, NULL)));
	CHECK(is_refused(ptrace(PTRACE_ATTACH, parent, NULL, NULL)));
	CHECK(is_refused(process_vm_readv(parent, &iov, 1, &iov, 1, 0)));
	CHECK(is_refused(syscall(SYS_pidfd_getfd, 0, 0, 0)));
	CHECK(is_refused(kill(parent, 0)));
	CHECK(is_refused(socket(AF_INET, SOCK_STREAM, 0)));
	CHECK(is_refused(socket(AF_UNIX, SOCK_STREAM, 0)));
	CHECK(is_refused(syscall(SYS_bpf, 0, NULL, 0)));
	CHECK(is_refused(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0)));
	CHECK(is_refused(mount("none", "/mnt", "tmpfs", 0, NULL)));
	CHECK(is_refused(unshare(CLONE_NEWUSER)));
	CHECK(is_refused(syscall(SYS_setns, 0, 0)));
	CHECK(is_refused(syscall(SYS_chroot, "/")));
	CHECK(is_refused(syscall(SYS_init_module, NULL, 0, "")));
	CHECK(is_refused(syscall(SYS_kexec_load, 0, 0, NULL, 0)));
	CHECK(is_refused(syscall(SYS_reboot, 0, 0, 0, NULL)));
	CHECK(is_refused(syscall(SYS_syslog, 10, NULL, 0)));
	CHECK(is_refused(syscall(SYS_keyctl, 0, 0, 0, 0, 0)));
	CHECK(is_refused(syscall(SYS_io_uring_setup, 1, NULL)));
	CHECK(is_refused(syscall(SYS_userfaultfd, 0)));
	/* memory of its own, from which nothing is executed */
	CHECK(syscall(SYS_memfd_create, "x", 0) >= 0);
	CHECK(is_refused(syscall(SYS_setuid, 0)));
	CHECK(is_refused(prctl(PR_SET_PDEATHSIG, SIGKILL)) || SANITIZED);
	CHECK(is_refused(fork()) || SANITIZED);
	CHECK(SANITIZED || is_refused((long)mmap(NULL, 4096, PROT_READ | PROT_EXEC,
						 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)));
	const struct rlimit limit = {1, 1};
	CHECK(is_refused(setrlimit(RLIMIT_NOFILE, &limit)));
	/* newer than the list: the C library goes back to what is older */
	CHECK(syscall(100000) == -1 && errno == ENOSYS);
}

TEST(the_impossible_is_refused)
{
	need_seccomp();
	assert_int_equal(status_of(try_everything), 0);
}

static void read_as_usual(void)
{
	struct confined done;
	struct rlimit limit;
	struct stat st;
	char byte;

	confine_or_fail(&reading, &done);
	const int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0 && read(fd, &byte, 1) == 1);
	CHECK(!fstat(fd, &st) && st.st_size > 0);
	CHECK(!stat("/etc", &st) && !access("/etc/passwd", R_OK));
	void *data = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	CHECK(data != MAP_FAILED && !munmap(data, 4096));
	CHECK(!getrlimit(RLIMIT_NOFILE, &limit));
	/* not of this program: the user's directory that it is in can be private */
	char *path = realpath("/proc/self/root/etc/passwd", NULL), *big = malloc(64 << 20);
	CHECK(path && !strcmp(path, "/etc/passwd") && big);
	free(path);
	free(big);
	CHECK(!raise(SIGWINCH)); /* to itself */
}

TEST(reading_goes_on)
{
	assert_int_equal(status_of(read_as_usual), 0);
}

#ifdef __x86_64__
static void call_by_x32(void)
{
	struct confined done;

	confine_or_fail(&reading, &done);
	syscall(0x40000000 + 39); /* getpid() of x32 */
}

static void call_by_i386(void)
{
	struct confined done;
	long result = 20; /* getpid() of i386; in x86-64 this is writev(), which is allowed */

	confine_or_fail(&reading, &done);
	__asm__ volatile("int $0x80" : "+a"(result)::"memory");
}
#endif

TEST(other_architectures_are_killed)
{
	need_seccomp();
#ifdef __x86_64__
	int status = status_of(call_by_x32);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSYS);
	status = status_of(call_by_i386);
	assert_true(WIFSIGNALED(status));
	/* SIGSEGV: the kernel has no calls of i386 */
	assert_true(WTERMSIG(status) == SIGSYS || WTERMSIG(status) == SIGSEGV);
#else
	print_message("# this machine has one architecture of system calls\n");
	skip();
#endif
}

static bool write_there(int dir, const char *name, const char *final)
{
	const int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	return fd >= 0 && write(fd, "x", 1) == 1 && !close(fd) && !renameat(dir, name, dir, final);
}

static char mine[] = "/tmp/pbt-confine.XXXXXX", others[] = "/tmp/pbt-others.XXXXXX";

static void write_in_one_directory(void)
{
	const int dir = open(mine, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const int other = open(others, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct confine_opts opts = {
		.calls = CONFINE_READ | CONFINE_WRITE,
		.landlock = true,
		.write_fds = &dir,
		.n_write_fds = 1,
	};
	struct confined done;

	CHECK(write_there(other, "before", "file"));
	confine_or_fail(&opts, &done);
	CHECK(done.landlock_abi > 0 && done.can_write);
	CHECK(write_there(dir, "new", "page.html"));
	CHECK(write_there(dir, "again", "page.html"));
	CHECK(is_refused(openat(other, "x", O_WRONLY | O_CREAT, 0600)));
	CHECK(is_refused(openat(other, "file", O_WRONLY)));
	CHECK(is_refused(unlinkat(other, "file", 0)));
	CHECK(is_refused(renameat(other, "file", dir, "file")) || errno == EXDEV);
	CHECK(is_refused(symlinkat("/etc", dir, "link")));
	CHECK(is_refused(mkdirat(dir, "dir", 0700)));
}

TEST(writing_is_for_one_directory)
{
	if (!landlock_abi()) {
		print_message("# the kernel has no Landlock\n");
		skip();
	}
	assert_non_null(mkdtemp(mine));
	assert_non_null(mkdtemp(others));
	const int status = status_of(write_in_one_directory);
	char command[128];
	snprintf(command, sizeof(command), "rm -r %s %s", mine, others);
	assert_int_equal(system(command), 0);
	assert_int_equal(status, 0);
}

/* Twice, as record does: while it records, and before it reads binaries. */
static void confine_twice(void)
{
	const uint64_t search = CONFINE_CAP(CAP_DAC_READ_SEARCH), killing = CONFINE_CAP(CAP_KILL);
	const struct confine_opts first = {
		.keep = search | killing,
		.calls = CONFINE_READ | CONFINE_WAIT | CONFINE_AGAIN,
	};
	const struct confine_opts second = {.keep = search | CONFINE_CAP(CAP_SYS_ADMIN),
					    .calls = CONFINE_READ};
	struct confined done;
	const pid_t parent = getppid();
	uint64_t had = status_number("CapPrm"), bounding = status_number("CapBnd");

	confine_or_fail(&first, &done);
	CHECK(done.had == had && done.kept == (had & first.keep));
	CHECK(status_number("CapPrm") == done.kept && status_number("CapEff") == done.kept);
	CHECK(status_number("CapInh") == 0 && status_number("CapAmb") == 0);
	CHECK(status_number("CapBnd") == (had >> CAP_SETPCAP & 1 ? 0 : bounding));
	CHECK(status_number("NoNewPrivs") == 1 && status_number("Seccomp") == 2);
	CHECK(!kill(parent, 0));
	confine_or_fail(&second, &done);
	CHECK(done.kept == (had & search)); /* what was given up does not come back */
	CHECK(status_number("CapEff") == done.kept);
	CHECK(is_refused(kill(parent, 0)) || SANITIZED);
	CHECK(is_refused(syscall(SYS_capset, NULL, NULL)));
}

TEST(confining_again_is_narrower)
{
	need_seccomp();
	assert_int_equal(status_of(confine_twice), 0);
}

static void *add_one(void *arg)
{
	++*(int *)arg;
	return NULL;
}

static void start_thread(void)
{
	const struct confine_opts opts = {.calls = CONFINE_READ | CONFINE_THREAD};
	struct confined done;
	pthread_t thread;
	int n = 0;

	confine_or_fail(&opts, &done);
	CHECK(!pthread_create(&thread, NULL, add_one, &n));
	CHECK(!pthread_join(thread, NULL) && n == 1);
	CHECK(is_refused(fork()) || SANITIZED);
}

static void start_no_thread(void)
{
	struct confined done;
	pthread_t thread;
	int n;

	confine_or_fail(&reading, &done);
	CHECK(pthread_create(&thread, NULL, add_one, &n) || SANITIZED);
}

TEST(threads_are_no_processes)
{
	need_seccomp();
	assert_int_equal(status_of(start_thread), 0);
	assert_int_equal(status_of(start_no_thread), 0);
}

/* The kernel's own answer to a command without arguments is another. */
static bool is_filtered(int command)
{
	return syscall(SYS_bpf, command, NULL, 0) == -1 && errno == EPERM;
}

static void look_at_objects(void)
{
	const struct confine_opts looking = {
		.keep = CONFINE_CAP(CAP_SYS_ADMIN) | CONFINE_CAP(CAP_BPF),
		.calls = CONFINE_READ | CONFINE_LOOK,
	};
	static const int allowed[] = {BPF_MAP_LOOKUP_ELEM, BPF_PROG_GET_FD_BY_ID, BPF_OBJ_GET};
	bool refused_before[ARRAY_SIZE(allowed)]; /* by the kernel: to those who are not root */
	struct confined done;

	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++)
		refused_before[i] = is_filtered(allowed[i]);
	confine_or_fail(&looking, &done);
	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++)
		CHECK(is_filtered(allowed[i]) == refused_before[i]);
	CHECK(is_filtered(BPF_MAP_CREATE));
	CHECK(is_filtered(BPF_MAP_UPDATE_ELEM));
	CHECK(is_filtered(BPF_MAP_DELETE_ELEM));
	CHECK(is_filtered(BPF_PROG_LOAD));
	CHECK(is_filtered(BPF_OBJ_PIN));
	CHECK(is_filtered(BPF_LINK_CREATE));
	CHECK(is_filtered(BPF_LINK_DETACH));
	CHECK(is_refused(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0)));
	CHECK(is_refused(kill(getppid(), 0)) || SANITIZED);
}

TEST(looking_changes_nothing)
{
	need_seccomp();
	if (is_filtered(BPF_OBJ_GET)) {
		print_message("# the kernel lets this user not call bpf(2)\n");
		skip();
	}
	assert_int_equal(status_of(look_at_objects), 0);
}

static void any_call(void)
{
	const struct confine_opts opts = {.calls = CONFINE_ANY};
	struct confined done;

	confine_or_fail(&opts, &done);
	CHECK(!done.seccomp && !done.kept && status_number("CapEff") == 0);
	CHECK(status_number("NoNewPrivs") == 1 && !kill(getppid(), 0));
	CHECK(socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
}

TEST(without_a_filter_capabilities_are_dropped)
{
	assert_int_equal(status_of(any_call), 0);
}

TEST(what_was_done_is_told)
{
	struct confined done = {.had = ~0ull, .seccomp = true, .landlock_abi = 4};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	confined_text(&done, &text);
	assert_string_equal(strbuf_str(&text), "no capabilities; system calls are filtered; files "
					       "are read-only (Landlock ABI 4)");
	strbuf_reset(&text);
	done = (struct confined){.kept = CONFINE_CAP(CAP_SYSLOG) |
					 CONFINE_CAP(CAP_DAC_READ_SEARCH) | 1ull << 63};
	confined_text(&done, &text);
	assert_string_equal(strbuf_str(&text),
			    "capabilities kept: dac_read_search, syslog, 63; system calls are not "
			    "filtered (the kernel has no seccomp); Landlock is not used");
	strbuf_reset(&text);
	done = (struct confined){.any_call = true};
	confined_text(&done, &text);
	assert_string_equal(strbuf_str(&text), "no capabilities; system calls are not filtered; "
					       "Landlock is not used");
}
