// SPDX-License-Identifier: BSD-2-Clause
/*
 * The workloads of test_libbpf_tools: each does one kind of thing COUNT times
 * in some two seconds, and says how often it did what.
 *
 *	tools_work KIND COUNT
 *
 * prepares, prints "ready", waits for a line on stdin, works, prints lines
 * "WHAT COUNT" and "done", and stays until stdin is closed, so that a tool can
 * still look up its symbols. Children keep its name, toolswork.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netdb.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TWO_SECONDS 1800000 /* us, with what the work itself takes */

static int count;
static char folder[64];

static void need(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "tools_work: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void pace(void)
{
	usleep(TWO_SECONDS / count);
}

static const char *name_of(int i)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/file-%d", folder, i);
	return path;
}

/* Everything a file can go through. */
static void work_files(void)
{
	char bytes[100] = {0};

	for (int i = 0; i < count; i++) {
		int fd = open(name_of(i), O_CREAT | O_EXCL | O_RDWR, 0600);

		need(fd >= 0, "open");
		need(write(fd, bytes, sizeof(bytes)) == sizeof(bytes), "write");
		need(pread(fd, bytes, sizeof(bytes), 0) == sizeof(bytes), "pread");
		need(!fsync(fd), "fsync");
		close(fd);
		pace();
		need(!unlink(name_of(i)), "unlink");
		need(!mkdir(name_of(i), 0700), "mkdir");
		need(!rmdir(name_of(i)), "rmdir");
		need(open(name_of(i), O_RDONLY) < 0, "opened what is not there");
	}
	printf("open %d\nfile %d\n", 2 * count, count);
}

static void work_exec(void)
{
	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (!pid) {
			char argument[32];

			snprintf(argument, sizeof(argument), "argument-%d", i);
			execl("/proc/self/exe", "toolswork", "nothing", argument, NULL);
			_exit(127);
		}
		need(pid > 0 && waitpid(pid, NULL, 0) == pid, "fork");
		pace();
	}
	printf("exec %d\n", count);
}

static void work_exit(void)
{
	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(3);
		need(pid > 0 && waitpid(pid, NULL, 0) == pid, "fork");
		pace();
	}
	printf("exit %d\n", count);
}

static void work_stat(void)
{
	struct stat st;

	for (int i = 0; i < count; i++) {
		need(!stat(folder, &st), "stat");
		need(stat(name_of(i), &st) < 0, "found what is not there");
		pace();
	}
	printf("stat %d\n", 2 * count);
}

static void work_sync(void)
{
	int fd = open(name_of(0), O_CREAT | O_RDWR, 0600);
	void *page;

	need(fd >= 0 && !ftruncate(fd, 4096), "open");
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	need(page != MAP_FAILED, "mmap");
	for (int i = 0; i < count; i++) {
		need(!fsync(fd) && !fdatasync(fd), "fsync");
		need(!msync(page, 4096, MS_ASYNC), "msync");
		need(!sync_file_range(fd, 0, 4096, 0), "sync_file_range");
		pace();
	}
	munmap(page, 4096);
	close(fd);
	unlink(name_of(0));
	printf("sync %d\n", 4 * count);
}

static void work_calls(void)
{
	for (int i = 0; i < count; i++) {
		syscall(SYS_getppid);
		pace();
	}
	printf("getppid %d\n", count);
}

static void work_signals(void)
{
	pid_t child = fork();

	if (!child) {
		signal(SIGUSR2, SIG_IGN);
		for (;;)
			pause();
	}
	for (int i = 0; i < count; i++) {
		pace(); /* before: the child has to ignore it first */
		need(!kill(child, SIGUSR2), "kill");
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	printf("signal %d\n", count);
}

static void work_mounts(void)
{
	need(!unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL),
	     "unshare");
	for (int i = 0; i < count; i++) {
		need(!mount("toolswork", folder, "tmpfs", MS_NOSUID, "size=1M"), "mount");
		need(!umount2(folder, MNT_DETACH), "umount");
		pace();
	}
	printf("mount %d\n", 2 * count);
}

static int futex_word;

static void *wait_woken(void *unused)
{
	for (int i = 0; i < count; i++)
		syscall(SYS_futex, &futex_word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	return NULL;
}

static void work_futex(void)
{
	pthread_t waiter;

	need(!pthread_create(&waiter, NULL, wait_woken, NULL), "pthread_create");
	for (int i = 0; i < count; i++) {
		pace();
		while (syscall(SYS_futex, &futex_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) != 1)
			usleep(100);
	}
	pthread_join(waiter, NULL);
	printf("wait %d\n", count);
}

static void work_tcp(void)
{
	for (int i = 0; i < count; i++) {
		struct sockaddr_in address = {AF_INET, 0, {htonl(INADDR_LOOPBACK)}};
		socklen_t len = sizeof(address);
		char bytes[1000] = {0};
		int server = socket(AF_INET, SOCK_STREAM, 0);
		int client = socket(AF_INET, SOCK_STREAM, 0), peer;

		need(server >= 0 && !bind(server, (void *)&address, len), "bind");
		need(!listen(server, 7) && !getsockname(server, (void *)&address, &len), "listen");
		need(client >= 0 && !connect(client, (void *)&address, len), "connect");
		peer = accept(server, NULL, NULL);
		need(peer >= 0, "accept");
		for (int k = 0; k < 3; k++) {
			need(send(client, bytes, sizeof(bytes), 0) == sizeof(bytes), "send");
			need(recv(peer, bytes, sizeof(bytes), MSG_WAITALL) == sizeof(bytes),
			     "recv");
		}
		close(client);
		need(!recv(peer, bytes, 1, 0), "recv");
		close(peer);
		close(server);
		pace();
	}
	printf("connection %d\nend %d\n", count, 2 * count);
}

static int direct_file = -1;

static void prepare_direct(void)
{
	char *bytes = aligned_alloc(4096, 1 << 20);

	need(bytes != NULL, "aligned_alloc");
	memset(bytes, 1, 1 << 20);
	direct_file = open(name_of(0), O_CREAT | O_RDWR | O_DIRECT, 0600);
	need(direct_file >= 0, "no O_DIRECT here");
	need(write(direct_file, bytes, 1 << 20) == 1 << 20 && !fsync(direct_file), "write");
	free(bytes);
}

static void work_direct(void)
{
	char *bytes = aligned_alloc(4096, 4096);

	need(bytes != NULL, "aligned_alloc");
	for (int i = 0; i < count; i++) {
		need(pread(direct_file, bytes, 4096, i % 256 * 4096L) == 4096, "pread");
		pace();
	}
	unlink(name_of(0));
	free(bytes);
	printf("read %d\n", count);
}

static void work_sleep(void)
{
	for (int i = 0; i < count; i++)
		pace();
	printf("sleep %d\n", count);
}

static volatile unsigned long burnt;

__attribute__((noinline)) static void burn_cpu(void)
{
	struct timespec ts = {0};
	time_t end;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	for (end = ts.tv_sec + 2; ts.tv_sec < end; clock_gettime(CLOCK_MONOTONIC, &ts)) {
		for (int i = 0; i < 100000; i++)
			burnt += i;
	}
}

static void work_burn(void)
{
	burn_cpu();
	printf("burn 1\n");
}

static void *leaked[4096];

__attribute__((noinline)) static void leak_memory(int i)
{
	leaked[i % 4096] = malloc(1000);
	*(volatile char *)leaked[i % 4096] = 1;
}

static void work_memory(void)
{
	for (int i = 0; i < count; i++) {
		leak_memory(i);
		free(malloc(2000));
		pace();
	}
	printf("leak %d\n", count);
}

static void work_names(void)
{
	for (int i = 0; i < count; i++) {
		struct addrinfo *found = NULL;

		if (!getaddrinfo("127.0.0.1", "80", NULL, &found))
			freeaddrinfo(found);
		pace();
	}
	printf("resolve %d\n", count);
}

static int shell = -1;

static void prepare_lines(void)
{
	pid_t pid = forkpty(&shell, NULL, NULL, NULL);

	need(pid >= 0, "forkpty");
	if (!pid) {
		execl("/bin/bash", "bash", "--norc", "--noprofile", "-i", NULL);
		_exit(127);
	}
	usleep(300000);
}

static void work_lines(void)
{
	char answer[4096];

	for (int i = 0; i < count; i++) {
		char line[64];
		int n = snprintf(line, sizeof(line), ": toolswork-%d\n", i);

		need(write(shell, line, n) == n, "write");
		pace();
		need(read(shell, answer, sizeof(answer)) > 0, "read");
	}
	printf("line %d\n", count);
}

/* A library named as Java's, with its probes: see tools_jvm.c. */
static void (*collect)(void);

static void prepare_gc(void)
{
	char path[512] = "";
	void *library;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 16);
	char *slash;

	need(n > 0 && (slash = strrchr(path, '/')), "/proc/self/exe");
	strcpy(slash, "/libjvm.so");
	library = dlopen(path, RTLD_NOW);
	if (library)
		collect = (void (*)(void))dlsym(library, "collect_garbage");
	need(collect != NULL, "libjvm.so");
}

static void work_gc(void)
{
	for (int i = 0; i < count; i++) {
		collect();
		pace();
	}
	printf("collection %d\n", count);
}

__attribute__((noinline)) int measured_function(int i)
{
	__asm__ volatile("" : "+r"(i));
	return i;
}

static void work_function(void)
{
	for (int i = 0; i < count; i++) {
		measured_function(i);
		pace();
	}
	printf("call %d\n", count);
}

static void work_capable(void)
{
	for (int i = 0; i < count; i++) {
		need(!chroot("/"), "chroot");
		pace();
	}
	printf("check %d\n", count);
}

static void work_pipe(void)
{
	int ends[2];
	char c = 0;

	need(!pipe(ends), "pipe");
	for (int i = 0; i < count; i++) {
		need(write(ends[1], &c, 1) == 1 && read(ends[0], &c, 1) == 1, "pipe");
		pace();
	}
	close(ends[0]);
	close(ends[1]);
	printf("lock %d\n", 2 * count);
}

static const struct {
	const char *name;
	void (*prepare)(void);
	void (*work)(void);
} kinds[] = {
	{"calls", NULL, work_calls},
	{"capable", NULL, work_capable},
	{"burn", NULL, work_burn},
	{"direct", prepare_direct, work_direct},
	{"exec", NULL, work_exec},
	{"exit", NULL, work_exit},
	{"files", NULL, work_files},
	{"function", NULL, work_function},
	{"futex", NULL, work_futex},
	{"gc", prepare_gc, work_gc},
	{"lines", prepare_lines, work_lines},
	{"memory", NULL, work_memory},
	{"mounts", NULL, work_mounts},
	{"names", NULL, work_names},
	{"pipe", NULL, work_pipe},
	{"signals", NULL, work_signals},
	{"sleep", NULL, work_sleep},
	{"stat", NULL, work_stat},
	{"sync", NULL, work_sync},
	{"tcp", NULL, work_tcp},
};

int main(int argc, char **argv)
{
	const char *top = getenv("TMPDIR") ?: "/tmp";
	char line[16];

	if (argc > 1 && !strcmp(argv[1], "nothing"))
		return 0;
	if (argc != 3 || (count = atoi(argv[2])) <= 0) {
		fprintf(stderr, "usage: tools_work KIND COUNT\n");
		return 2;
	}
	prctl(PR_SET_NAME, "toolswork");
	signal(SIGPIPE, SIG_IGN);
	snprintf(folder, sizeof(folder), "%.30s/toolswork-%d", top, getpid());
	need(!mkdir(folder, 0700), folder);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, argv[1]) != 0)
			continue;
		if (kinds[i].prepare)
			kinds[i].prepare();
		printf("ready\n");
		fflush(stdout);
		if (read(0, line, sizeof(line)) > 0) {
			kinds[i].work();
			printf("done\n");
			fflush(stdout);
			while (read(0, line, sizeof(line)) > 0)
				;
		}
		rmdir(folder);
		return 0;
	}
	fprintf(stderr, "tools_work: no such kind: %s\n", argv[1]);
	rmdir(folder);
	return 2;
}
