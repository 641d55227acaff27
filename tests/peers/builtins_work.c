// SPDX-License-Identifier: BSD-2-Clause
/*
 * The workload of test_builtins_peers.py: waits until the fifo is opened, takes the name
 * "pbt_now", does what MODE says, and takes its first name again. Prints lines "NAME NUMBER": what
 * it counted itself.
 *
 *	pbt_peer MODE FIFO
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ll + t.tv_nsec / 1000;
}

static void say(const char *name, long long n)
{
	printf("%s %lld\n", name, n);
}

static void opens(void)
{
	char name[64];

	for (int i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "pbt_open_%d", i);
		int fd = i % 3 ? open(name, O_RDONLY | (i % 2 ? O_CREAT : 0), 0600)
			       : openat(AT_FDCWD, name, O_WRONLY | O_CREAT, 0600);
		if (fd >= 0)
			close(fd);
	}
	close(creat("pbt_creat", 0600));
}

static void execs(void)
{
	for (int i = 0; i < 5; i++) {
		char number[16];

		snprintf(number, sizeof(number), "%d", i);
		if (!fork()) {
			/* on the stack: what is not paged in bpftrace cannot read */
			char name[] = "true", text[] = "pbt exec";

			execl("/bin/true", name, text, number, NULL);
			_exit(1);
		}
		wait(NULL);
	}
}

static void calls(void)
{
	for (int i = 0; i < 300; i++)
		getpriority(PRIO_PROCESS, 0);
	for (int i = 0; i < 7; i++)
		close(-1);
	for (int i = 0; i < 20; i++)
		sched_yield();
}

static void mallocs(void)
{
	static const size_t sizes[] = {1, 24, 100, 4096, 70000};

	for (int i = 0; i < 50; i++)
		for (int k = 0; k < 5; k++) {
			void *volatile p = malloc(sizes[k] + i % 2);
			free(p);
		}
	for (int i = 0; i < 9; i++) {
		void *volatile p = calloc(10, 300);
		free(p);
	}
}

static void writes(void)
{
	static char buf[10000];
	int fd = open("/dev/null", O_WRONLY);

	for (int i = 0; i < 1000; i++)
		if (write(fd, buf, i * 10) != i * 10)
			exit(1);
	close(fd);
}

static int listener(int family, struct sockaddr_storage *addr, socklen_t *len, int backlog)
{
	int fd = socket(family, SOCK_STREAM, 0);

	memset(addr, 0, sizeof(*addr));
	addr->ss_family = family;
	if (family == AF_INET) {
		((struct sockaddr_in *)addr)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		*len = sizeof(struct sockaddr_in);
	} else {
		((struct sockaddr_in6 *)addr)->sin6_addr = in6addr_loopback;
		*len = sizeof(struct sockaddr_in6);
	}
	if (bind(fd, (void *)addr, *len) || listen(fd, backlog) ||
	    getsockname(fd, (void *)addr, len))
		exit(1);
	return fd;
}

static void connects(void)
{
	struct sockaddr_storage addr;
	socklen_t len;

	for (int family = 0; family < 2; family++) {
		int fd = listener(family ? AF_INET6 : AF_INET, &addr, &len, 8);
		for (int i = 0; i < (family ? 3 : 4); i++) {
			int c = socket(addr.ss_family, SOCK_STREAM, 0);
			if (connect(c, (void *)&addr, len))
				exit(1);
			close(c);
		}
		close(fd);
		int c = socket(addr.ss_family, SOCK_STREAM, 0);
		if (!connect(c, (void *)&addr, len)) /* refused */
			exit(1);
		close(c);
	}
	say("connects", 9);
}

/* The queue of the listener is full: the SYN gets no answer, and is sent again after a second. */
static void retransmits(void)
{
	struct sockaddr_storage addr;
	socklen_t len;
	int fd = listener(AF_INET, &addr, &len, 0), c[4];

	for (int i = 0; i < 4; i++) {
		c[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(c[i], (void *)&addr, len);
	}
	say("port", ntohs(((struct sockaddr_in *)&addr)->sin_port));
	usleep(1800000);
	for (int i = 0; i < 4; i++)
		close(c[i]);
	close(fd);
}

/* Datagrams of 777 bytes to a port that nobody reads: received by lo, and dropped. */
static void drops(void)
{
	struct sockaddr_in addr = {.sin_family = AF_INET};
	socklen_t len = sizeof(addr);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	static char buf[777];

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (void *)&addr, len) || getsockname(fd, (void *)&addr, &len))
		exit(1);
	close(fd);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	for (int i = 0; i < 500; i++)
		sendto(fd, buf, sizeof(buf), 0, (void *)&addr, len);
	close(fd);
}

static void sleeps(void)
{
	long long start = now_us();

	for (int i = 0; i < 10; i++)
		usleep(30000);
	say("us", now_us() - start);
}

static void faults(void)
{
	struct rusage before, after;
	const size_t size = 512 * 4096;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(p, size, MADV_NOHUGEPAGE);
	getrusage(RUSAGE_SELF, &before);
	for (size_t i = 0; i < size; i += 4096)
		p[i] = 1;
	getrusage(RUSAGE_SELF, &after);
	say("faults", after.ru_minflt - before.ru_minflt);
}

static volatile unsigned long sum;

__attribute__((noinline)) static void pbt_spin(void)
{
	while (clock() < 2 * CLOCKS_PER_SEC)
		for (int i = 0; i < 100000; i++)
			sum += i;
}

static void disk(void)
{
	int fd = open("pbt_disk", O_RDWR | O_CREAT | O_DIRECT, 0600);
	void *buf = aligned_alloc(4096, 65536);
	int good = 0;

	if (fd < 0)
		fd = open("pbt_disk", O_RDWR | O_CREAT, 0600);
	memset(buf, 1, 65536);
	for (int i = 0; i < 64; i++)
		good += pwrite(fd, buf, 65536, i * 65536) == 65536 && !fdatasync(fd);
	say("writes", good);
	close(fd);
}

static int lock_fd;
static volatile int done;

static void *reads(void *unused)
{
	static char buf[16 << 20];

	prctl(PR_SET_NAME, "pbt_peer");
	while (!done) {
		lseek(lock_fd, 0, SEEK_SET);
		if (read(lock_fd, buf, sizeof(buf)) <= 0)
			return unused;
	}
	return NULL;
}

static void locks(void)
{
	struct rusage before, after;
	long long end = now_us() + 5000000;
	pthread_t thread;
	int calls = 0;

	lock_fd = open("pbt_sparse", O_RDWR | O_CREAT, 0600);
	if (ftruncate(lock_fd, 16 << 20) || pthread_create(&thread, NULL, reads, NULL))
		exit(1);
	for (getrusage(RUSAGE_THREAD, &before); calls < 8 && now_us() < end; before = after) {
		lseek(lock_fd, 0, SEEK_CUR);
		getrusage(RUSAGE_THREAD, &after);
		calls += after.ru_nvcsw > before.ru_nvcsw;
	}
	done = 1;
	prctl(PR_SET_NAME, "pbt_peer");
	pthread_join(thread, NULL);
	say("waits", calls);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = {
		{"spin", pbt_spin},	{"opens", opens},     {"execs", execs},
		{"calls", calls},	{"mallocs", mallocs}, {"writes", writes},
		{"connects", connects}, {"drops", drops},     {"retrans", retransmits},
		{"sleeps", sleeps},	{"faults", faults},   {"disk", disk},
		{"locks", locks},
	};
	static char out[1024];
	char c;

	if (argc != 3)
		return 2;
	setvbuf(stdout, out, _IOFBF, sizeof(out));
	int fd = open(argv[2], O_RDONLY);
	if (fd < 0 || read(fd, &c, 1) != 1)
		return 2;
	prctl(PR_SET_NAME, "pbt_now");
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(argv[1], modes[i].name))
			modes[i].run();
	prctl(PR_SET_NAME, "pbt_peer");
	return 0;
}
