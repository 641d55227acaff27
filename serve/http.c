// SPDX-License-Identifier: BSD-2-Clause
/*
 * A request is a line and header lines, each ended by CR LF (a lone LF is
 * taken, too: RFC 9112, 2.2), and an empty line. What would make one server
 * see another request than the next is refused: white space before a colon,
 * folded lines, NULs.
 */
#include "serve/http.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <strings.h>

#include "lib/base/cursor.h"

/* A piece of the bytes. */
struct header_piece {
	const char *s;
	size_t n;
};

static bool is_text(struct header_piece p, const char *text)
{
	return p.n == strlen(text) && !memcmp(p.s, text, p.n);
}

static bool is_word(struct header_piece p, const char *word)
{
	return p.n == strlen(word) && !strncasecmp(p.s, word, p.n);
}

/* What stands before the next c, which is passed; false: there is none. */
static bool take_until(struct cursor *c, char mark, struct header_piece *piece)
{
	const char *s = (const char *)c->base + c->pos;
	const char *end = cursor_left(c) ? memchr(s, mark, cursor_left(c)) : NULL;

	if (!end)
		return false;
	*piece = (struct header_piece){s, (size_t)(end - s)};
	return cursor_skip(c, piece->n + 1);
}

static struct header_piece trim(struct header_piece p)
{
	while (p.n && (p.s[0] == ' ' || p.s[0] == '\t')) {
		p.s++;
		p.n--;
	}
	while (p.n && (p.s[p.n - 1] == ' ' || p.s[p.n - 1] == '\t'))
		p.n--;
	return p;
}

/* A line without its end; false: it is not whole yet. */
static bool take_line(struct cursor *c, struct header_piece *line)
{
	if (!take_until(c, '\n', line))
		return false;
	if (line->n && line->s[line->n - 1] == '\r')
		line->n--;
	return true;
}

static enum http_state parse_first(struct header_piece line, struct http_request *request)
{
	struct cursor c = cursor_make(line.s, line.n, "request");
	struct header_piece method, target, path;

	if (!take_until(&c, ' ', &method) || !take_until(&c, ' ', &target))
		return HTTP_BAD;
	struct header_piece version = {line.s + c.pos, cursor_left(&c)};
	if (!method.n || !target.n || target.s[0] != '/')
		return HTTP_BAD;
	for (size_t i = 0; i < target.n; i++)
		if ((unsigned char)target.s[i] <= ' ' || target.s[i] == 0x7f)
			return HTTP_BAD;
	if (version.n != 8 || memcmp(version.s, "HTTP/", 5))
		return HTTP_BAD;
	if (!is_text(version, "HTTP/1.1") && !is_text(version, "HTTP/1.0"))
		return HTTP_VERSION;
	if (!is_text(method, "GET") && !is_text(method, "HEAD"))
		return HTTP_METHOD;
	request->head = is_text(method, "HEAD");
	struct cursor whole = cursor_make(target.s, target.n, "target");
	if (!take_until(&whole, '?', &path))
		path = target;
	request->path = path.s;
	request->path_len = path.n;
	return HTTP_DONE;
}

static bool parse_header(struct header_piece line, struct http_request *request)
{
	struct cursor c = cursor_make(line.s, line.n, "header");
	struct header_piece name;

	if (memchr(line.s, 0, line.n) || !take_until(&c, ':', &name) || !name.n)
		return false;
	for (size_t i = 0; i < name.n; i++)
		if ((unsigned char)name.s[i] <= ' ' || (unsigned char)name.s[i] >= 0x7f)
			return false;
	struct header_piece value = trim((struct header_piece){line.s + c.pos, cursor_left(&c)});
	if (is_word(name, "accept") && !request->accept) {
		request->accept = value.s;
		request->accept_len = value.n;
	}
	if (is_word(name, "host")) {
		if (request->host)
			return false; /* RFC 9112, 3.2 */
		request->host = value.s;
		request->host_len = value.n;
	}
	return true;
}

enum http_state http_parse(const char *data, size_t n, struct http_request *request)
{
	struct cursor c = cursor_make(data, min_of(n, (size_t)HTTP_MAX_HEAD), "request");
	struct http_request made = {0};
	struct header_piece line;

	if (!take_line(&c, &line))
		return n >= HTTP_MAX_HEAD ? HTTP_TOO_LARGE : HTTP_MORE;
	enum http_state state = parse_first(line, &made);
	if (state != HTTP_DONE)
		return state;
	for (;;) {
		if (!take_line(&c, &line))
			return n >= HTTP_MAX_HEAD ? HTTP_TOO_LARGE : HTTP_MORE;
		if (!line.n)
			break;
		if (!parse_header(line, &made))
			return HTTP_BAD;
	}
	*request = made;
	return HTTP_DONE;
}

/* Four numbers, the first of which is 127: no name, which a DNS server can lead anywhere. */
static bool is_loopback(struct header_piece host)
{
	char text[INET_ADDRSTRLEN];
	struct in_addr at;

	if (host.n >= sizeof(text))
		return false;
	memcpy(text, host.s, host.n);
	text[host.n] = 0;
	return inet_pton(AF_INET, text, &at) == 1 && ntohl(at.s_addr) >> 24 == 127;
}

bool http_host_is_local(const struct http_request *request, const char *name)
{
	struct header_piece host = {request->host, request->host_len};

	if (!request->host)
		return true;
	size_t n = host.n;
	while (n && isdigit((unsigned char)host.s[n - 1]))
		n--;
	if (n && host.s[n - 1] == ':')
		host.n = n - 1;
	return is_word(host, "localhost") || is_text(host, "[::1]") || is_loopback(host) ||
	       (name && is_word(host, name));
}

/* "0.5" as 500; what is none is 0. */
static unsigned parse_quality(struct header_piece p)
{
	unsigned q, digit = 100;

	if (!p.n || (p.s[0] != '0' && p.s[0] != '1') || (p.n > 1 && p.s[1] != '.'))
		return 0;
	q = (unsigned)(p.s[0] - '0') * 1000;
	for (size_t i = 2; i < p.n; i++, digit /= 10) {
		if (!isdigit((unsigned char)p.s[i]))
			return 0;
		q += (unsigned)(p.s[i] - '0') * digit;
	}
	return min_of(q, 1000u);
}

/* How exactly a range of types names one: 3 itself, 2 "text/ *", 1 anything, 0 not. */
static unsigned range_names(struct header_piece range, const char *type)
{
	const char *slash = strchr(type, '/');

	if (is_word(range, type))
		return 3;
	if (is_text(range, "*/*"))
		return 1;
	size_t n = (size_t)(slash - type) + 1;
	return range.n == n + 1 && range.s[n] == '*' && !strncasecmp(range.s, type, n) ? 2 : 0;
}

unsigned http_wants(const struct http_request *request, const char *type, bool *named)
{
	struct cursor c = cursor_make(request->accept, request->accept_len, "Accept");
	unsigned best = 0, q = 0;

	*named = false;
	if (!request->accept)
		return 1000;
	while (cursor_left(&c)) {
		struct header_piece element, range, parameter;
		unsigned quality = 1000;

		if (!take_until(&c, ',', &element)) {
			element = (struct header_piece){(const char *)c.base + c.pos,
							cursor_left(&c)};
			cursor_skip(&c, element.n);
		}
		struct cursor in = cursor_make(element.s, element.n, "range");
		if (!take_until(&in, ';', &range)) {
			range = element;
			cursor_skip(&in, element.n);
		}
		while (cursor_left(&in)) {
			if (!take_until(&in, ';', &parameter)) {
				parameter = (struct header_piece){(const char *)in.base + in.pos,
								  cursor_left(&in)};
				cursor_skip(&in, parameter.n);
			}
			parameter = trim(parameter);
			if (parameter.n >= 2 && (parameter.s[0] | 0x20) == 'q' &&
			    parameter.s[1] == '=')
				quality = parse_quality(
					(struct header_piece){parameter.s + 2, parameter.n - 2});
		}
		unsigned names = range_names(trim(range), type);
		/* the most exact one counts; of several the most wanted */
		if (names > best || (names && names == best && quality > q)) {
			best = names;
			q = quality;
		}
	}
	*named = best == 3;
	return q;
}

void http_add_head(struct strbuf *out, unsigned status, const char *type, size_t length)
{
	static const struct {
		unsigned status;
		const char *reason;
	} reasons[] = {
		{200, "OK"},
		{400, "Bad Request"},
		{404, "Not Found"},
		{405, "Method Not Allowed"},
		{408, "Request Timeout"},
		{421, "Misdirected Request"},
		{431, "Request Header Fields Too Large"},
		{500, "Internal Server Error"},
		{505, "HTTP Version Not Supported"},
	};
	const char *reason = "Error";

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (reasons[i].status == status)
			reason = reasons[i].reason;
	strbuf_addf(out,
		    "HTTP/1.1 %u %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
		    "%sConnection: close\r\n\r\n",
		    status, reason, type, length, status == 405 ? "Allow: GET, HEAD\r\n" : "");
}
