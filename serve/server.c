// SPDX-License-Identifier: BSD-2-Clause
/*
 * A connection is read until its request is whole, answered, written, and
 * closed: no state lasts longer. All sockets and the timer of the deadlines
 * are in one epoll descriptor. The timer goes off at the next deadline: a
 * request has head_ms to be whole, and then the rest of deadline_ms.
 *
 * An address has a share of the places, so that one client cannot take them
 * all. When its share is used up, its oldest connection without a whole request
 * makes room.
 *
 * Where only this machine can connect, a page in a browser on this machine
 * still could ask, under a name that its DNS server leads to 127.0.0.1. It
 * would send that name as Host, so only names of this machine are answered.
 */
#include "serve/server.h"

#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include "lib/base/clock.h"

enum {
	MAX_CONNECTIONS = 32,
	MAX_OF_ADDRESS = 16, /* of these */
	BACKLOG = 64,
	MAX_UNREAD = 65536, /* bytes of a refused request that are taken and forgotten */
};

struct connection {
	int fd;			     /* -1: free */
	struct in6_addr from;	     /* an IPv6 network of 64 bits, or an IPv4 address */
	uint64_t accepted, deadline; /* monotonic ms */
	struct strbuf in, out;
	size_t written;
	bool writing;
};

struct server {
	int epoll_fd, listen_fd, timer_fd;
	struct server_deadlines deadlines;
	bool local;	/* it listens at a loopback address */
	char *host;	/* as the address names it; NULL: all */
	bool listening; /* the listener is waited for: there is room for another connection */
	char address[80];
	struct connection connections[MAX_CONNECTIONS];
};

/* What an event is of, in its data: a connection's number, or one of these. */
enum {
	EVENT_LISTEN = MAX_CONNECTIONS,
	EVENT_TIMER,
};

static bool watch(struct server *server, int op, int fd, uint32_t events, uint32_t what)
{
	struct epoll_event event = {.events = events, .data.u32 = what};

	return !epoll_ctl(server->epoll_fd, op, fd, &event);
}

/* The address's parts; host NULL: all. */
static struct error *split(const char *address, char **host, const char **port)
{
	const char *colon = strrchr(address, ':');
	size_t n = colon ? (size_t)(colon - address) : 0;
	unsigned long number;
	char *end;

	*host = NULL;
	errno = 0;
	number = colon ? strtoul(colon + 1, &end, 10) : 0;
	if (!colon || colon[1] < '0' || colon[1] > '9' || *end || errno || number > 65535 ||
	    (memchr(address, ':', n) && (address[0] != '[' || address[n - 1] != ']')))
		return error_hint(
			error_new(EINVAL, "'%s' is not an address with a port", address),
			"for example 127.0.0.1:9435, [::1]:9435, or :9435 for all addresses");
	*port = colon + 1;
	if (!n)
		return NULL;
	*host = address[0] == '[' ? strndup(address + 1, n - 2) : strndup(address, n);
	return *host ? NULL : error_nomem();
}

static struct error *listen_at(struct server *server, const struct addrinfo *at)
{
	const int on = 1, off = 0;

	closep(&server->listen_fd);
	server->listen_fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (server->listen_fd < 0)
		return error_errno(errno, "cannot create a socket");
	setsockopt(server->listen_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (at->ai_family == AF_INET6) /* ":PORT" takes IPv4, too */
		setsockopt(server->listen_fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(server->listen_fd, at->ai_addr, at->ai_addrlen) ||
	    listen(server->listen_fd, BACKLOG))
		return error_errno(errno, "cannot listen");
	return NULL;
}

/* The first of the host's addresses where it works. */
static struct error *open_listener(struct server *server, const char *address)
{
	const struct addrinfo want = {
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
		.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
	};
	_cleanup_free_ char *host = NULL;
	struct addrinfo *found = NULL;
	struct error *err = NULL;
	const char *port = NULL;

	TRY(split(address, &host, &port));
	server->host = host ? strdup(host) : NULL;
	int code = getaddrinfo(host, port, &want, &found);
	if (code)
		return error_new(code == EAI_SYSTEM ? errno : EADDRNOTAVAIL,
				 "cannot resolve the address '%s': %s", host ? host : address,
				 gai_strerror(code));
	for (int pass = 0; pass < 2; pass++) {
		/* for all addresses IPv6 first, which takes both */
		for (const struct addrinfo *at = found; at; at = at->ai_next) {
			if (!host && (at->ai_family == AF_INET6) == (pass == 1))
				continue;
			if (host && pass)
				continue;
			error_free(err);
			err = listen_at(server, at);
			if (!err)
				break;
			if (err->code == EADDRINUSE)
				break;
		}
		if (!err || err->code == EADDRINUSE)
			break;
	}
	freeaddrinfo(found);
	if (err && err->code == EADDRINUSE)
		return error_hint(error_at(err, "%s", address),
				  "another program listens on this port ('ss -ltnp' shows which); "
				  "choose another port, or 0 for a free one");
	return error_at(err, "%s", address);
}

static bool is_loopback(const struct sockaddr_storage *at)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)at;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)at;

	if (at->ss_family == AF_INET)
		return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
	return at->ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

static void name_address(struct server *server)
{
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);
	char host[64], port[8];

	if (getsockname(server->listen_fd, (struct sockaddr *)&at, &len) ||
	    getnameinfo((struct sockaddr *)&at, len, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return;
	server->local = is_loopback(&at);
	snprintf(server->address, sizeof(server->address), strchr(host, ':') ? "[%s]:%s" : "%s:%s",
		 host, port);
}

struct error *server_new(const char *address, const struct server_deadlines *deadlines,
			 struct server **out)
{
	_cleanup_(server_freep) struct server *server = calloc(1, sizeof(*server));

	if (!server)
		return error_nomem();
	server->epoll_fd = server->listen_fd = server->timer_fd = -1;
	server->deadlines = *deadlines;
	for (size_t i = 0; i < MAX_CONNECTIONS; i++)
		server->connections[i].fd = -1;
	TRY(open_listener(server, address));
	name_address(server);
	server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	server->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (server->epoll_fd < 0 || server->timer_fd < 0 ||
	    !watch(server, EPOLL_CTL_ADD, server->listen_fd, EPOLLIN, EVENT_LISTEN) ||
	    !watch(server, EPOLL_CTL_ADD, server->timer_fd, EPOLLIN, EVENT_TIMER))
		return error_errno(errno, "cannot wait for connections");
	server->listening = true;
	*out = steal_ptr(server);
	return NULL;
}

static void connection_close(struct connection *c)
{
	closep(&c->fd); /* epoll forgets it */
	strbuf_deinit(&c->in);
	strbuf_deinit(&c->out);
	*c = (struct connection){.fd = -1};
}

void server_free(struct server *server)
{
	if (!server)
		return;
	for (size_t i = 0; i < MAX_CONNECTIONS; i++)
		connection_close(&server->connections[i]);
	closep(&server->listen_fd);
	closep(&server->timer_fd);
	closep(&server->epoll_fd);
	free(server->host);
	free(server);
}

int server_fd(const struct server *server)
{
	return server->epoll_fd;
}

void server_fds(const struct server *server, int fds[SERVER_FDS])
{
	fds[0] = server->epoll_fd;
	fds[1] = server->listen_fd;
	fds[2] = server->timer_fd;
}

const char *server_address(const struct server *server)
{
	return server->address;
}

/* Waits for new connections where there is room, and for the next deadline. */
static void set_waits(struct server *server)
{
	struct itimerspec spec = {0};
	uint64_t first = UINT64_MAX;
	size_t n = 0;

	for (size_t i = 0; i < MAX_CONNECTIONS; i++) {
		if (server->connections[i].fd < 0)
			continue;
		first = min_of(first, server->connections[i].deadline);
		n++;
	}
	if ((n < MAX_CONNECTIONS) != server->listening) {
		server->listening = !server->listening;
		watch(server, EPOLL_CTL_MOD, server->listen_fd, server->listening ? EPOLLIN : 0,
		      EVENT_LISTEN);
	}
	if (n) {
		spec.it_value.tv_sec = (time_t)(first / 1000);
		spec.it_value.tv_nsec = (long)(first % 1000) * 1000000 + 1;
	}
	timerfd_settime(server->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

/* What stands for the peer: of IPv6 its network, since a machine has a whole one. */
static struct in6_addr peer(const struct sockaddr_storage *at)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)at;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)at;
	struct in6_addr from = IN6ADDR_ANY_INIT;

	if (at->ss_family == AF_INET) {
		memcpy(&from.s6_addr[12], &v4->sin_addr, sizeof(v4->sin_addr));
	} else if (at->ss_family == AF_INET6) {
		from = v6->sin6_addr;
		if (!IN6_IS_ADDR_V4MAPPED(&from))
			memset(&from.s6_addr[8], 0, 8);
	}
	return from;
}

/* Whether the address may have one more connection; one that is late may have to go for it. */
static bool make_room(struct server *server, const struct in6_addr *from)
{
	struct connection *oldest = NULL;
	size_t n = 0;

	for (size_t i = 0; i < MAX_CONNECTIONS; i++) {
		struct connection *c = &server->connections[i];

		if (c->fd < 0 || memcmp(&c->from, from, sizeof(*from)) != 0)
			continue;
		n++;
		if (!c->writing && (!oldest || c->accepted < oldest->accepted))
			oldest = c;
	}
	if (n < MAX_OF_ADDRESS)
		return true;
	if (!oldest)
		return false;
	connection_close(oldest);
	return true;
}

static void accept_one(struct server *server)
{
	struct sockaddr_storage at = {0};
	socklen_t len = sizeof(at);
	size_t i = 0;

	while (i < MAX_CONNECTIONS && server->connections[i].fd >= 0)
		i++;
	if (i == MAX_CONNECTIONS)
		return;
	int fd = accept4(server->listen_fd, (struct sockaddr *)&at, &len,
			 SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return; /* it went away meanwhile */
	const struct in6_addr from = peer(&at);
	if (!make_room(server, &from)) {
		close(fd);
		return;
	}
	if (!watch(server, EPOLL_CTL_ADD, fd, EPOLLIN, (uint32_t)i)) {
		close(fd);
		return;
	}
	const uint64_t now = (uint64_t)clock_ms(CLOCK_MONOTONIC);
	server->connections[i].fd = fd;
	server->connections[i].from = from;
	server->connections[i].accepted = now;
	server->connections[i].deadline = now + server->deadlines.head_ms;
}

/* Writes as much as goes; closes what is done or broken. */
static void connection_write(struct server *server, struct connection *c)
{
	while (c->written < c->out.len) {
		ssize_t n =
			send(c->fd, c->out.str + c->written, c->out.len - c->written, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			watch(server, EPOLL_CTL_MOD, c->fd, EPOLLOUT,
			      (uint32_t)(c - server->connections));
			return;
		}
		if (n <= 0)
			break;
		c->written += (size_t)n;
	}
	/* what came and was not read would make the kernel take the answer back */
	for (size_t left = MAX_UNREAD; left;) {
		char rest[1024];
		ssize_t n = recv(c->fd, rest, min_of(sizeof(rest), left), 0);

		if (n <= 0)
			break;
		left -= (size_t)n;
	}
	connection_close(c);
}

static void begin_answer(struct connection *c, unsigned status, const char *type,
			 const struct strbuf *body, bool head)
{
	http_add_head(&c->out, status, type, body->len);
	if (!head)
		strbuf_add(&c->out, strbuf_str(body), body->len);
	c->writing = true;
	strbuf_deinit(&c->in);
	if (strbuf_failed(&c->out)) {
		strbuf_deinit(&c->out);
		strbuf_adds(&c->out, "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n"
				     "Connection: close\r\n\r\n");
	}
}

static void refuse(struct connection *c, unsigned status, const char *words)
{
	_cleanup_strbuf_ struct strbuf body = STRBUF_INIT;

	strbuf_adds(&body, words);
	begin_answer(c, status, "text/plain; charset=utf-8", &body, false);
}

static void refuse_bad(struct connection *c, enum http_state state)
{
	static const struct {
		unsigned status;
		const char *words;
	} words[] = {
		[HTTP_BAD] = {400, "This is not an HTTP request.\n"},
		[HTTP_METHOD] = {405, "Only GET and HEAD are supported.\n"},
		[HTTP_TOO_LARGE] = {431, "The request is larger than 8 KiB.\n"},
		[HTTP_VERSION] = {505, "Only HTTP/1.0 and HTTP/1.1 are supported.\n"},
	};

	refuse(c, words[state].status, words[state].words);
}

/* Reads what came; with a whole request the answer is made. */
static struct error *connection_read(struct server *server, struct connection *c,
				     server_answer_fn *answer, void *ctx)
{
	struct http_request request;

	if (!strbuf_reserve(&c->in, HTTP_MAX_HEAD)) {
		connection_close(c);
		return NULL;
	}
	ssize_t n = recv(c->fd, c->in.str + c->in.len, HTTP_MAX_HEAD - c->in.len, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return NULL;
	if (n <= 0) {
		connection_close(c);
		return NULL;
	}
	c->in.len += (size_t)n;
	enum http_state state = http_parse(c->in.str, c->in.len, &request);
	if (state == HTTP_MORE)
		return NULL;
	c->deadline = c->accepted + server->deadlines.all_ms;
	if (state == HTTP_DONE && server->local && !http_host_is_local(&request, server->host)) {
		refuse(c, 421, "Host is not a name of this machine: use the address.\n");
	} else if (state == HTTP_DONE) {
		struct server_answer made = {200, "text/plain; charset=utf-8", STRBUF_INIT};
		struct error *err = answer(ctx, &request, &made);

		if (!err)
			begin_answer(c, made.status, made.type, &made.body, request.head);
		strbuf_deinit(&made.body);
		TRY(err);
	} else {
		refuse_bad(c, state);
	}
	connection_write(server, c);
	return NULL;
}

static void close_late(struct server *server)
{
	uint64_t now = (uint64_t)clock_ms(CLOCK_MONOTONIC), ticks;

	if (read(server->timer_fd, &ticks, sizeof(ticks)) < 0)
		return;
	for (size_t i = 0; i < MAX_CONNECTIONS; i++)
		if (server->connections[i].fd >= 0 && server->connections[i].deadline <= now)
			connection_close(&server->connections[i]);
}

struct error *server_work(struct server *server, server_answer_fn *answer, void *ctx)
{
	struct epoll_event event;
	struct error *err = NULL;

	if (epoll_wait(server->epoll_fd, &event, 1, 0) != 1)
		return NULL;
	if (event.data.u32 == EVENT_LISTEN) {
		accept_one(server);
	} else if (event.data.u32 == EVENT_TIMER) {
		close_late(server);
	} else {
		struct connection *c = &server->connections[event.data.u32];

		if (c->writing)
			connection_write(server, c);
		else
			err = connection_read(server, c, answer, ctx);
	}
	set_waits(server);
	return err;
}
