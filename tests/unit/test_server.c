// SPDX-License-Identifier: BSD-2-Clause
/* The server over sockets of this machine: many clients, slow ones, rude ones. */
#include <string.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "lib/sys/confine.h"
#include "serve/server_process.h"

enum {
	LONG = 100000,	   /* ms: a deadline that no test waits for */
	BODY = 300 * 1024, /* more than sockets' buffers take at once */
};

static const struct server_deadlines patient = {LONG, LONG};

static struct error *make_answer(void *ctx, const struct http_request *request,
				 struct server_answer *answer)
{
	unsigned *asked = ctx;

	++*asked;
	if (request->path_len > 1 && request->path[1] == 'l')
		for (int i = 0; i < BODY; i++)
			strbuf_addch(&answer->body, 'x');
	else
		strbuf_addf(&answer->body, "%u", *asked);
	return NULL;
}

static int client_from(const struct server *server, const char *address)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = inet_addr(address)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);

	at.sin_port = htons((uint16_t)atoi(strrchr(server_address(server), ':') + 1));
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

static int client(const struct server *server)
{
	return client_from(server, "127.0.0.1");
}

static void say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Works until the server has nothing more to do for `ms`. */
static void work(struct server *server, unsigned *asked, int ms)
{
	struct pollfd fd = {.fd = server_fd(server), .events = POLLIN};

	while (poll(&fd, 1, ms) > 0)
		assert_null(server_work(server, make_answer, asked));
}

/* All that the server says until it closes. */
static char *hear(struct server *server, int fd, unsigned *asked)
{
	struct strbuf all = STRBUF_INIT;
	char text[4096];

	for (;;) {
		struct pollfd fds[] = {{.fd = server_fd(server), .events = POLLIN},
				       {.fd = fd, .events = POLLIN}};

		assert_true(poll(fds, 2, 60000) > 0);
		if (fds[0].revents)
			assert_null(server_work(server, make_answer, asked));
		if (!fds[1].revents)
			continue;
		ssize_t n = recv(fd, text, sizeof(text), 0);
		if (n <= 0)
			break;
		strbuf_add(&all, text, (size_t)n);
	}
	close(fd);
	strbuf_add(&all, "", 0);
	return strbuf_steal(&all);
}

static void expect(struct server *server, const char *request, unsigned *asked, const char *want)
{
	int fd = client(server);

	say(fd, request);
	char *got = hear(server, fd, asked);
	assert_string_equal(got, want);
	free(got);
}

#define TEXT  "Content-Type: text/plain; charset=utf-8\r\n"
#define CLOSE "Connection: close\r\n\r\n"

TEST(test_answers)
{
	_cleanup_(server_freep) struct server *server = NULL;
	char large[HTTP_MAX_HEAD + 1] = "GET /";
	unsigned asked = 0;

	assert_null(server_new("127.0.0.1:0", &patient, &server));
	assert_memory_equal(server_address(server), "127.0.0.1:", 10);
	expect(server, "GET / HTTP/1.1\r\n\r\n", &asked,
	       "HTTP/1.1 200 OK\r\n" TEXT "Content-Length: 1\r\n" CLOSE "1");
	expect(server, "HEAD / HTTP/1.1\r\n\r\n", &asked,
	       "HTTP/1.1 200 OK\r\n" TEXT "Content-Length: 1\r\n" CLOSE);
	expect(server, "PUT / HTTP/1.1\r\n\r\n", &asked,
	       "HTTP/1.1 405 Method Not Allowed\r\n" TEXT
	       "Content-Length: 33\r\nAllow: GET, HEAD\r\n" CLOSE
	       "Only GET and HEAD are supported.\n");
	memset(large + 5, 'a', sizeof(large) - 6);
	expect(server, large, &asked,
	       "HTTP/1.1 431 Request Header Fields Too Large\r\n" TEXT
	       "Content-Length: 34\r\n" CLOSE "The request is larger than 8 KiB.\n");
	assert_int_equal(asked, 2);
}

TEST(test_a_large_answer_comes_whole)
{
	_cleanup_(server_freep) struct server *server = NULL;
	unsigned asked = 0;
	int small = 4096;

	assert_null(server_new("127.0.0.1:0", &patient, &server));
	int fd = client(server);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	say(fd, "GET /large HTTP/1.1\r\n\r\n");
	char *got = hear(server, fd, &asked);
	const char *body = strstr(got, "\r\n\r\n") + 4;
	assert_int_equal(strlen(body), BODY);
	assert_int_equal(strspn(body, "x"), BODY);
	free(got);
}

/* More clients than are served at a time, some of them in the middle of a request. */
TEST(test_the_slow_hold_nobody_up)
{
	_cleanup_(server_freep) struct server *server = NULL;
	unsigned asked = 0;
	int slow[20], others[40];

	assert_null(server_new("127.0.0.1:0", &patient, &server));
	slow[0] = client(server);
	say(slow[0], "GET / HT");
	work(server, &asked, 50);
	say(slow[0], "TP/1.1\r\n\r\n");
	char *got = hear(server, slow[0], &asked);
	assert_memory_equal(got, "HTTP/1.1 200 OK", 15);
	free(got);
	for (size_t i = 0; i < ARRAY_SIZE(slow); i++) {
		slow[i] = client(server);
		say(slow[i], "GET / HT");
	}
	work(server, &asked, 50);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		others[i] = client(server);
		say(others[i], "GET / HTTP/1.0\r\n\r\n");
		got = hear(server, others[i], &asked);
		assert_memory_equal(got, "HTTP/1.1 200 OK", 15);
		free(got);
	}
	assert_int_equal(asked, 41);
	for (size_t i = 0; i < ARRAY_SIZE(slow); i++)
		close(slow[i]);
	work(server, &asked, 50);
}

/* An address that opens more connections than there are places leaves some to others. */
TEST(test_an_address_has_a_share)
{
	_cleanup_(server_freep) struct server *server = NULL;
	unsigned asked = 0;
	int many[40];

	assert_null(server_new("127.0.0.1:0", &patient, &server));
	int first = client_from(server, "127.0.0.3");
	say(first, "GET /");
	for (size_t i = 0; i < ARRAY_SIZE(many); i++) {
		many[i] = client_from(server, "127.0.0.2");
		say(many[i], "GET /");
		work(server, &asked, 5);
	}
	expect(server, "GET / HTTP/1.1\r\n\r\n", &asked,
	       "HTTP/1.1 200 OK\r\n" TEXT "Content-Length: 1\r\n" CLOSE "1");
	/* the oldest ones of that address made room, and of no other one */
	char *got = hear(server, many[0], &asked);
	assert_string_equal(got, "");
	free(got);
	say(first, " HTTP/1.1\r\n\r\n");
	got = hear(server, first, &asked);
	assert_memory_equal(got, "HTTP/1.1 200 OK", 15);
	free(got);
	say(many[39], " HTTP/1.1\r\n\r\n");
	got = hear(server, many[39], &asked);
	assert_memory_equal(got, "HTTP/1.1 200 OK", 15);
	free(got);
	for (size_t i = 1; i < 39; i++)
		close(many[i]);
}

/* A request that does not become whole has less time than an answer that is not taken. */
TEST(test_the_late_are_closed)
{
	static const struct server_deadlines deadlines = {.head_ms = 500, .all_ms = LONG};
	_cleanup_(server_freep) struct server *server = NULL;
	unsigned asked = 0;
	int small = 4096;

	assert_null(server_new("127.0.0.1:0", &deadlines, &server));
	int reader = client(server);
	setsockopt(reader, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	say(reader, "GET /large HTTP/1.1\r\n\r\n");
	int late = client(server);
	say(late, "GET");
	char *got = hear(server, late, &asked);
	assert_string_equal(got, "");
	free(got);
	got = hear(server, reader, &asked);
	assert_int_equal(strlen(strstr(got, "\r\n\r\n") + 4), BODY);
	free(got);
	assert_int_equal(asked, 1);
}

/* A name that somebody else's DNS server leads here is not answered. */
TEST(test_hosts)
{
	static const char *const ours[] = {"localhost", "LocalHost:9435", "127.0.0.1:1",
					   "127.1.2.3", "[::1]:9435",	  "[::1]"};
	static const char *const others[] = {"example.com",
					     "example.com:9435",
					     "127.0.0.1.example.com",
					     "localhost.example.com",
					     "",
					     "10.0.0.1",
					     "127.0.0.1:x",
					     "[::2]"};
	_cleanup_(server_freep) struct server *server = NULL;
	char request[128];
	unsigned asked = 0;

	assert_null(server_new("127.0.0.1:0", &patient, &server));
	for (size_t i = 0; i < ARRAY_SIZE(ours) + ARRAY_SIZE(others); i++) {
		const bool good = i < ARRAY_SIZE(ours);

		snprintf(request, sizeof(request), "GET / HTTP/1.1\r\nHost: %s\r\n\r\n",
			 good ? ours[i] : others[i - ARRAY_SIZE(ours)]);
		int fd = client(server);
		say(fd, request);
		char *got = hear(server, fd, &asked);
		assert_non_null(strstr(got, good ? "HTTP/1.1 200 OK" : "HTTP/1.1 421 Misdirected"));
		free(got);
	}
	assert_int_equal(asked, ARRAY_SIZE(ours));
	/* where others can connect, they use any name */
	_cleanup_(server_freep) struct server *open = NULL;
	assert_null(server_new("0.0.0.0:0", &patient, &open));
	int fd = client(open);
	say(fd, "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n");
	char *got = hear(open, fd, &asked);
	assert_memory_equal(got, "HTTP/1.1 200 OK", 15);
	free(got);
}

static void check_address(const char *address, int code, const char *words)
{
	_cleanup_(server_freep) struct server *server = NULL;
	struct error *err = server_new(address, &patient, &server);

	assert_int_equal(err ? err->code : 0, code);
	if (err)
		assert_non_null(strstr(err->msg, words));
	error_free(err);
}

TEST(test_addresses)
{
	_cleanup_(server_freep) struct server *server = NULL, *both = NULL;
	char taken[32];

	check_address("", EINVAL, "not an address with a port");
	check_address("127.0.0.1", EINVAL, "not an address with a port");
	check_address("127.0.0.1:", EINVAL, "not an address with a port");
	check_address("127.0.0.1:http", EINVAL, "not an address with a port");
	check_address("127.0.0.1:65536", EINVAL, "not an address with a port");
	check_address("127.0.0.1:-1", EINVAL, "not an address with a port");
	check_address("::1:9435", EINVAL, "not an address with a port");
	check_address("localhost:0", 0, NULL);
	assert_null(server_new("127.0.0.1:0", &patient, &server));
	snprintf(taken, sizeof(taken), "%s", server_address(server));
	check_address(taken, EADDRINUSE, "cannot listen");
	/* all addresses: IPv4, too, where the machine has IPv6 */
	unsigned asked = 0;
	assert_null(server_new(":0", &patient, &both));
	expect(both, "HEAD / HTTP/1.1\r\n\r\n", &asked,
	       "HTTP/1.1 200 OK\r\n" TEXT "Content-Length: 1\r\n" CLOSE);
}

/* ---- the server in a process of its own ---- */

/* /X asks for X. */
static uint8_t choose(const struct http_request *request)
{
	return request->path_len > 1 ? (uint8_t)request->path[1] : 0;
}

/* ctx: how often it was asked */
static struct error *make(void *ctx, uint8_t number, struct server_answer *answer)
{
	char path[] = {'/', (char)number};
	const struct http_request request = {.path = path, .path_len = sizeof(path)};

	answer->type = "text/x-made";
	return make_answer(ctx, &request, answer);
}

static struct error *confine_server(void *ctx)
{
	const struct confine_opts opts = {.calls = CONFINE_SERVE, .landlock = true};
	struct confined done;

	return confine(&opts, &done);
}

/* What a client gets for a request, while the process is given its answers. */
static char *hear_process(struct server_process *process, int fd, unsigned *asked)
{
	struct strbuf all = STRBUF_INIT;
	char text[4096];

	for (ssize_t n = 1; n > 0;) {
		struct pollfd fds[] = {{.fd = server_process_fd(process), .events = POLLIN},
				       {.fd = fd, .events = POLLIN}};
		bool ended = false;

		assert_true(poll(fds, 2, 60000) > 0);
		if (fds[0].revents)
			assert_null(server_process_work(process, make, asked, &ended));
		assert_false(ended);
		if (!fds[1].revents)
			continue;
		n = recv(fd, text, sizeof(text), 0);
		if (n > 0)
			strbuf_add(&all, text, (size_t)n);
	}
	close(fd);
	return strbuf_steal(&all);
}

static struct server_process *begin_process(int *first, int *second)
{
	struct server_process *process = NULL;
	struct server *server;

	assert_null(server_new("127.0.0.1:0", &patient, &server));
	*first = client(server);
	*second = client(server);
	const struct server_process_opts opts = {
		.server = server, .choose = choose, .confine = confine_server};
	assert_null(server_process_new(&opts, &process));
	return process;
}

TEST(test_a_process_of_its_own)
{
	_cleanup_(server_process_freep) struct server_process *process = NULL;
	unsigned asked = 0;
	int fd, large_fd;

	process = begin_process(&fd, &large_fd);
	say(fd, "GET /a HTTP/1.1\r\n\r\n");
	char *got = hear_process(process, fd, &asked);
	assert_string_equal(got, "HTTP/1.1 200 OK\r\nContent-Type: text/x-made\r\n"
				 "Content-Length: 1\r\n" CLOSE "1");
	free(got);
	/* more than a message between the two could hold */
	say(large_fd, "GET /large HTTP/1.1\r\n\r\n");
	got = hear_process(process, large_fd, &asked);
	assert_true(strlen(got) > BODY);
	assert_string_equal(got + strlen(got) - 3, "xxx");
	free(got);
	assert_int_equal(asked, 2);
}

/* The process that was forked last: the only child. */
static pid_t child_pid(void)
{
	char path[64], text[32] = "";

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	FILE *f = fopen(path, "re");
	if (!f || !fgets(text, sizeof(text), f))
		text[0] = 0;
	if (f)
		fclose(f);
	return atoi(text);
}

TEST(test_its_end_is_noticed)
{
	_cleanup_(server_process_freep) struct server_process *process = NULL;
	unsigned asked = 0;
	bool ended = false;
	int fd, other;

	process = begin_process(&fd, &other);
	const pid_t pid = child_pid();
	if (!pid) {
		print_message("# the kernel does not list children (CONFIG_PROC_CHILDREN)\n");
		skip();
	}
	assert_int_equal(kill(pid, SIGKILL), 0);
	struct pollfd poll_fd = {.fd = server_process_fd(process), .events = POLLIN};
	assert_int_equal(poll(&poll_fd, 1, 60000), 1);
	assert_null(server_process_work(process, make, &asked, &ended));
	assert_true(ended);
	assert_int_equal(asked, 0);
	close(fd);
	close(other);
}
