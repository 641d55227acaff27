/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers HTTP requests in between other work: one thread, one descriptor to
 * wait for. No client can hold it up. Requests are bounded (serve/http.h),
 * connections too: at most 32 are served at a time, 16 of one address, the next ones wait in the
 * kernel's queue; each has a deadline for its request and one for all it does, and is closed then.
 *
 *	const struct server_deadlines deadlines = {.head_ms = 1000, .all_ms = 10000};
 *	struct server *server;
 *	TRY(server_new("127.0.0.1:9435", &deadlines, &server));
 *	… when server_fd() is readable:
 *	TRY(server_work(server, answer, ctx));
 */
#ifndef PB_SERVE_SERVER_H
#define PB_SERVE_SERVER_H

#include "lib/base/error.h"
#include "lib/base/strbuf.h"
#include "serve/http.h"

struct server;

struct server_deadlines {
	unsigned head_ms; /* until the request is whole */
	unsigned all_ms;  /* until its answer is taken; from the beginning as well */
};

/*
 * Listens at "ADDR:PORT", "[IPv6]:PORT", or ":PORT" (all addresses). Port 0:
 * one that is free. At a loopback address, requests whose Host is not a name of this machine get
 * 421. EINVAL: that is not an address; EADDRINUSE, with a hint.
 */
struct error *server_new(const char *address, const struct server_deadlines *deadlines,
			 struct server **out);
void server_free(struct server *server);
DEFINE_FREEP(struct server, server_free)

/* To poll for reading. */
int server_fd(const struct server *server);

/* The descriptors that it needs before it has a connection. */
enum {
	SERVER_FDS = 3,
};
void server_fds(const struct server *server, int fds[SERVER_FDS]);

/* Where it listens: "127.0.0.1:9435". */
const char *server_address(const struct server *server);

struct server_answer {
	unsigned status;  /* 200 at first */
	const char *type; /* MIME; "text/plain; charset=utf-8" at first */
	struct strbuf body;
};

/* Makes the answer to a request. An error ends server_work(). */
typedef struct error *server_answer_fn(void *ctx, const struct http_request *request,
				       struct server_answer *answer);

/*
 * Does what can be done without waiting; makes one answer at most, so that
 * whoever calls it looks at its other work in between.
 */
struct error *server_work(struct server *server, server_answer_fn *answer, void *ctx);

#endif
