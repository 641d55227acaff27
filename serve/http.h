/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The little of HTTP/1.1 (RFC 9110, RFC 9112) that a scraper needs: a request
 * without a body, and what it accepts. Pure functions over bytes.
 */
#ifndef PB_SERVE_HTTP_H
#define PB_SERVE_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/strbuf.h"

enum {
	HTTP_MAX_HEAD = 8192, /* bytes of a request; longer ones are refused */
};

struct http_request {
	bool head;	  /* HEAD: the answer without its body */
	const char *path; /* without the query; borrowed from the bytes, as is accept */
	size_t path_len;
	const char *accept; /* what Accept says, of its first line; NULL: nothing */
	size_t accept_len;
	const char *host; /* what Host says, with the port; NULL: there is none */
	size_t host_len;
};

enum http_state {
	HTTP_MORE,	/* the head is not whole yet */
	HTTP_DONE,	/* request is filled */
	HTTP_BAD,	/* 400 */
	HTTP_METHOD,	/* 405: neither GET nor HEAD */
	HTTP_TOO_LARGE, /* 431 */
	HTTP_VERSION,	/* 505: neither 1.0 nor 1.1 */
};

/* Looks at the n bytes that came so far. */
enum http_state http_parse(const char *data, size_t n, struct http_request *request);

/*
 * Whether Host names this machine by loopback: "localhost", 127.0.0.0/8 or [::1], with any port; or
 * `name`, which may be NULL. True without Host: browsers always send one.
 */
bool http_host_is_local(const struct http_request *request, const char *name);

/*
 * How much a type ("text/plain") is wanted, from 0 (not at all) to 1000 by its
 * q; without Accept 1000. named: Accept has the type itself, not only a range.
 */
unsigned http_wants(const struct http_request *request, const char *type, bool *named);

/* The head of an answer: status, type and length of its body. */
void http_add_head(struct strbuf *out, unsigned status, const char *type, size_t length);

#endif
