// SPDX-License-Identifier: BSD-2-Clause
/*
 * A client of the service (perf-bpf delegate) that does what a client must not:
 *
 *	delegate_attacks SOCKET garbage		messages of all sizes and wrong fields
 *	delegate_attacks SOCKET passes-fd OBJECT NAME	a right request, with a descriptor
 *	delegate_attacks SOCKET silent		asks nothing
 *	delegate_attacks SOCKET talks OBJECT NAME	says something during the session
 *	delegate_attacks SOCKET writes OBJECT NAME	changes, removes, freezes and pins the maps
 *	delegate_attacks SOCKET rings OBJECT NAME	changes what it gets to record
 *	delegate_attacks SOCKET reused OBJECT NAME	lets a process connect and end, says its
 *						pid, and asks at the end of the input
 *	delegate_attacks SOCKET holds OBJECT NAME	reads nothing, until it is killed
 *	delegate_attacks SOCKET pretends	is a service, until it is killed
 *
 * Prints a line "ok: …" for each attack that failed; ends with 1 if one succeeded.
 */
#include <bpf/bpf.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "delegate/delegate_client.h"
#include "lib/sys/sys.h"
#include "tests/cmd/map_attacks.h"

/* <linux/perf_event.h> */
#ifndef PERF_EVENT_IOC_PERIOD
#define PERF_EVENT_IOC_PERIOD _IOW('$', 4, __u64)
#endif
#ifndef PERF_EVENT_IOC_MODIFY_ATTRIBUTES
#define PERF_EVENT_IOC_MODIFY_ATTRIBUTES _IOW('$', 11, struct perf_event_attr *)
#endif

static const char *socket_path;
static struct sockaddr_un address(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", socket_path);
	return a;
}

static int unconnected(void)
{
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0) {
		perror("socket");
		exit(2);
	}
	return fd;
}

static void connect_it(int fd)
{
	const struct sockaddr_un a = address();

	if (connect(fd, (const struct sockaddr *)&a, sizeof(a))) {
		perror(socket_path);
		exit(2);
	}
}

static int connected(void)
{
	const int fd = unconnected();

	connect_it(fd);
	return fd;
}

/* Whether the answer is a refusal without descriptors, or the connection was closed. */
static bool is_refused(int fd)
{
	char data[sizeof(struct delegate_answer) + 1];
	char control[256];
	struct iovec iov = {data, sizeof(data)};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct delegate_answer answer;
	const ssize_t n = recvmsg(fd, &msg, 0);

	if (n <= 0)
		return true;
	return !msg.msg_controllen && delegate_answer_parse(data, (size_t)n, 0, &answer) &&
	       answer.status != DELEGATE_OK;
}

static void send_garbage(const void *data, size_t size, const char *what)
{
	int fd = connected();

	if (send(fd, data, size, MSG_NOSIGNAL) < 0)
		perror("send");
	expect(is_refused(fd), what);
	close(fd);
}

static void garbage(void)
{
	static const uint8_t no_object[SHA256_BYTES];
	static char large[100000];
	struct delegate_request good, bad;

	delegate_request_make(DELEGATE_RUN, no_object, "runqlat", &good);
	send_garbage("", 1, "one byte");
	send_garbage(&good, sizeof(good) - 1, "a request that is too short");
	memcpy(large, &good, sizeof(good));
	send_garbage(large, sizeof(good) + 1, "a request that is too long");
	send_garbage(large, sizeof(large), "100,000 bytes");
	bad = good;
	bad.magic ^= 1;
	send_garbage(&bad, sizeof(bad), "another protocol");
	bad = good;
	bad.size = UINT32_MAX;
	send_garbage(&bad, sizeof(bad), "another size");
	bad = good;
	memset(bad.name, 'a', sizeof(bad.name));
	send_garbage(&bad, sizeof(bad), "a name without an end");
	bad = good;
	strcpy(bad.name, "../../etc/shadow");
	send_garbage(&bad, sizeof(bad), "a path as the name");
	bad = good;
	strcpy(bad.name, "a\nroot (uid 0, pid 1): runs");
	send_garbage(&bad, sizeof(bad), "a line break in the name");
	bad = good;
	bad.name[sizeof(bad.name) - 1] = 'x';
	send_garbage(&bad, sizeof(bad), "bytes behind the name");
}

static void silent(void)
{
	struct pollfd ready = {.fd = connected(), .events = POLLIN};

	expect(poll(&ready, 1, 60000) == 1 && is_refused(ready.fd), "asking nothing");
}

static enum delegate_command command;

static void read_object(const char *path, struct delegate_request *request, const char *name)
{
	uint8_t digest[SHA256_BYTES];
	char *data;
	size_t size;

	if (sys_read_file(path, 64 << 20, &data, &size)) {
		fprintf(stderr, "cannot read %s\n", path);
		exit(2);
	}
	sha256(data, size, digest);
	free(data);
	delegate_request_make(command, digest, name, request);
}

static void passes_fd(const char *path, const char *name)
{
	struct delegate_request request;
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec iov = {&request, sizeof(request)};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	int fd = connected(), zero = 0;

	read_object(path, &request, name);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &zero, sizeof(int));
	if (sendmsg(fd, &msg, MSG_NOSIGNAL) < 0)
		perror("sendmsg");
	expect(is_refused(fd), "a request with a descriptor");
}

static void open_session(const char *path, const char *name, struct delegate_client *client)
{
	char *data;
	size_t size;

	if (sys_read_file(path, 64 << 20, &data, &size)) {
		fprintf(stderr, "cannot read %s\n", path);
		exit(2);
	}
	struct error *err =
		delegate_client_open(socket_path, command, data, size, name, NULL, client);
	if (err) {
		printf("refused: %s\n", err->msg);
		exit(3);
	}
	free(data);
}

static void talks(const char *path, const char *name)
{
	struct delegate_client client = DELEGATE_CLIENT_INIT;
	struct delegate_request request;

	read_object(path, &request, name);
	open_session(path, name, &client);
	if (send(client.fd, &request, sizeof(request), MSG_NOSIGNAL) < 0)
		perror("send");
	struct pollfd ready = {.fd = client.fd, .events = POLLIN};
	expect(poll(&ready, 1, 60000) == 1 && is_refused(client.fd), "a second request");
}

static void writes(const char *path, const char *name)
{
	struct delegate_client client = DELEGATE_CLIENT_INIT;

	open_session(path, name, &client);
	expect(client.answer.n_fds == 0 || client.answer.n_fds <= client.answer.n_maps,
	       "more maps");
	for (size_t i = 0; i < client.answer.n_fds; i++)
		write_map(client.fds[i]);
	printf("maps: %u\n", client.answer.n_fds);
}

static void holds(const char *path, const char *name)
{
	struct delegate_client client = DELEGATE_CLIENT_INIT;

	open_session(path, name, &client);
	printf("holds\n");
	fflush(stdout);
	for (;;)
		pause();
}

static void reused(const char *path, const char *name)
{
	struct delegate_request request;
	const int fd = unconnected();
	char end;

	command = DELEGATE_RECORD;
	const pid_t pid = fork();
	if (!pid) {
		connect_it(fd);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) != pid) {
		perror("fork");
		exit(2);
	}
	printf("holds %d\n", pid);
	fflush(stdout);
	while (read(STDIN_FILENO, &end, 1) > 0)
		;
	read_object(path, &request, name);
	if (send(fd, &request, sizeof(request), MSG_NOSIGNAL) < 0)
		perror("send");
	expect(is_refused(fd), "a process that has got the id of the one that connected");
}

/* How far the kernel has written. */
static uint64_t head_of(int fd)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *meta =
		mmap(NULL, page * (1 + 1024), PROT_READ, MAP_SHARED, fd, 0);

	if (meta == MAP_FAILED) {
		perror("mmap of a ring");
		exit(2);
	}
	const uint64_t head = __atomic_load_n(&meta->data_head, __ATOMIC_ACQUIRE);
	munmap(meta, page * (1 + 1024));
	return head;
}

static uint64_t heads_of(const struct delegate_client *client)
{
	uint64_t sum = 0;

	for (size_t i = 1; i < client->answer.n_fds; i++)
		sum += head_of(client->fds[i]);
	return sum;
}

static void change_ring(int fd)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .sample_period = 100000};

	expect(ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr) < 0,
	       "make a ring's event sample");
	expect(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "1") < 0, "filter by a ring's event");
	expect(ioctl(fd, PERF_EVENT_IOC_SET_BPF, fd) < 0, "attach to a ring's event");
	/* what counts nothing has no samples, however often */
	uint64_t period = 1;
	ioctl(fd, PERF_EVENT_IOC_PERIOD, &period);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

/* The rings of a recording: the samples in them end with the session, though the rings stay. */
static void rings(const char *path, const char *name)
{
	struct delegate_client client = DELEGATE_CLIENT_INIT;
	const char byte = 0;

	command = DELEGATE_RECORD;
	open_session(path, name, &client);
	expect(pwrite(client.fds[0], &byte, 1, 0) < 0, "write to the description");
	expect(ftruncate(client.fds[0], 0) < 0, "cut the description");
	for (size_t i = 1; i < client.answer.n_fds; i++)
		change_ring(client.fds[i]);
	/* its end, as the service says it */
	shutdown(client.fd, SHUT_WR);
	struct pollfd ended = {.fd = client.fd, .events = POLLIN};
	char data[64];
	while (poll(&ended, 1, 60000) == 1 && recv(client.fd, data, sizeof(data), 0) > 0)
		;
	printf("closed\n");
	fflush(stdout);
	/* until nothing comes any more: the programs are detached soon */
	uint64_t head = heads_of(&client);
	bool still = false;
	for (int turn = 0; turn < 600 && !still; turn++) {
		for (int i = 0; i < 100; i++)
			syscall(__NR_getppid);
		usleep(100000);
		still = heads_of(&client) == head;
		head = heads_of(&client);
	}
	expect(still, "samples after the session");
	printf("rings: %u\n", client.answer.n_fds);
}

static void pretends(void)
{
	const struct sockaddr_un a = address();
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	umask(0);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&a, sizeof(a)) || listen(fd, 10)) {
		perror(socket_path);
		exit(2);
	}
	printf("listens\n");
	fflush(stdout);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	socket_path = argv[1];
	const char *what = argv[2];
	if (!strcmp(what, "garbage"))
		garbage();
	else if (!strcmp(what, "connects"))
		close(connected());
	else if (!strcmp(what, "silent"))
		silent();
	else if (!strcmp(what, "pretends"))
		pretends();
	else if (argc < 5)
		return 2;
	else if (!strcmp(what, "passes-fd"))
		passes_fd(argv[3], argv[4]);
	else if (!strcmp(what, "talks"))
		talks(argv[3], argv[4]);
	else if (!strcmp(what, "writes"))
		writes(argv[3], argv[4]);
	else if (!strcmp(what, "rings"))
		rings(argv[3], argv[4]);
	else if (!strcmp(what, "reused"))
		reused(argv[3], argv[4]);
	else if (!strcmp(what, "holds"))
		holds(argv[3], argv[4]);
	return attacks_succeeded() ? 1 : 0;
}
