/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server in a process of its own: requests of strangers are parsed where there is nothing to
 * take. That process can do no more than talk to its clients, and ask us by a number which answer
 * to give. It is forked before there is anything in this process that it should not have.
 *
 *	TRY(server_process_new(&opts, &process));	// takes the server
 *	… when server_process_fd() is readable:
 *	TRY(server_process_work(process, make, ctx));
 */
#ifndef PB_SERVE_SERVER_PROCESS_H
#define PB_SERVE_SERVER_PROCESS_H

#include "serve/server.h"

struct server_process;

/* In the other process: the number of the answer to a request. */
typedef uint8_t server_choose_fn(const struct http_request *request);
/* In this one: makes that answer. Any number may come. An error ends server_process_work(). */
typedef struct error *server_make_fn(void *ctx, uint8_t number, struct server_answer *answer);

struct server_process_opts {
	struct server *server; /* taken, also on an error */
	server_choose_fn *choose;
	struct error *(*confine)(void *ctx); /* in the other process, before the first request */
	void *confine_ctx;
};

struct error *server_process_new(const struct server_process_opts *opts,
				 struct server_process **out);
/* Ends the other process. */
void server_process_free(struct server_process *process);
DEFINE_FREEP(struct server_process, server_process_free)

/* To poll for reading. */
int server_process_fd(const struct server_process *process);

/* Makes one answer, without waiting for anybody. *ended: the other process has ended. */
struct error *server_process_work(struct server_process *process, server_make_fn *make, void *ctx,
				  bool *ended);

#endif
