// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs an event's program over a payload. This is the hot path of `script`:
 * no printf, no heap. Every load is checked against the payload's end and
 * reads as 0 past it, so whatever lengths and offsets the payload holds, no
 * byte outside of it is seen.
 */
#include "perf/format/internal.h"

#include "lib/base/json.h"

#include <ctype.h>
#include <inttypes.h>
#include <sys/socket.h>

struct format_run {
	const struct trace_event *ev;
	const struct print_program *p;
	const uint8_t *raw;
	uint32_t size;
	struct strbuf *out;
};

static uint64_t number_at(const struct format_run *r, uint64_t off, unsigned n)
{
	return payload_number(r->ev->tracing, r->raw, r->size, off, n);
}

uint64_t expr_operate(uint8_t op, uint64_t a, uint64_t b)
{
	switch (op) {
	case EX_NE:
		return a != b;
	case EX_EQ:
		return a == b;
	case EX_OROR:
		return a || b;
	case EX_OR:
		return a | b;
	case EX_ANDAND:
		return a && b;
	case EX_AND:
		return a & b;
	case EX_XOR:
		return a ^ b;
	case EX_LT:
		return a < b;
	case EX_LE:
		return a <= b;
	case EX_SHL:
		return a << (b & 63);
	case EX_GT:
		return a > b;
	case EX_GE:
		return a >= b;
	case EX_SHR:
		return a >> (b & 63);
	case EX_SUB:
		return a - b;
	case EX_ADD:
		return a + b;
	case EX_DIV:
		return b ? a / b : 0;
	case EX_MOD:
		return b ? a % b : 0;
	case EX_MUL:
		return a * b;
	default:
		return 0;
	}
}

/* The depth was bounded by the compiler. */
static uint64_t eval(const struct format_run *r, uint16_t index)
{
	const struct expr *e = &r->p->exprs.v[index];

	switch (e->op) {
	case EX_CONST:
		return e->value;
	case EX_LOAD:
		return number_at(r, e->off, e->size);
	case EX_MASK:
		return eval(r, e->a) & e->value;
	case EX_ELEM:
		return number_at(r, e->off + eval(r, e->b) * e->value, e->size) & e->mask;
	case EX_DYN_ELEM:
		return number_at(r, (number_at(r, e->off, 4) & 0xffff) + e->value + eval(r, e->b),
				 e->size) &
		       e->mask;
	case EX_DYN_LEN:
		return number_at(r, e->off, e->size) >> 16;
	case EX_COND:
		return eval(r, eval(r, e->a) ? e->b : e->c);
	case EX_NOT:
		return !eval(r, e->b);
	case EX_INV:
		return ~eval(r, e->b);
	default:
		return expr_operate(e->op, eval(r, e->a), eval(r, e->b));
	}
}

/* Digits of v at the end of buf; returns their first. */
static char *digits10(char *end, uint64_t v)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";

	while (v >= 100) {
		end -= 2;
		memcpy(end, pairs + 2 * (v % 100), 2);
		v /= 100;
	}
	if (v >= 10) {
		end -= 2;
		memcpy(end, pairs + 2 * v, 2);
	} else {
		*--end = (char)('0' + v);
	}
	return end;
}

static char *digits_shift(char *end, uint64_t v, unsigned shift, const char *alphabet)
{
	do {
		*--end = alphabet[v & ((1u << shift) - 1)];
		v >>= shift;
	} while (v);
	return end;
}

static void add_fill(struct strbuf *out, char c, size_t n)
{
	if (!strbuf_reserve(out, n))
		return;
	memset(out->str + out->len, c, n);
	out->len += n;
	out->str[out->len] = 0;
}

/* len: the value of '*'; has no effect where the conversion has none. */
static void add_padded(struct strbuf *out, const struct conv *v, int len, const char *s, size_t n)
{
	int64_t width = v->width;
	bool left = v->left;

	if (v->width_arg)
		width = len;
	if (width > (int64_t)n && !left)
		add_fill(out, ' ', (size_t)width - n);
	strbuf_add(out, s, n);
	if (width > (int64_t)n && left)
		add_fill(out, ' ', (size_t)width - n);
}

static void add_string(struct strbuf *out, const struct conv *v, int len, const char *s, size_t n)
{
	if (v->prec_arg && (size_t)len < n)
		n = (size_t)len;
	else if (v->prec >= 0 && !v->prec_arg && (size_t)v->prec < n)
		n = (size_t)v->prec;
	add_padded(out, v, len, s, n);
}

/* printf's rules for integers. */
static void add_number(struct strbuf *out, const struct conv *v, int len, uint64_t value)
{
	char buf[4096 + 128];
	char *end = buf + sizeof(buf), *s;
	char prefix[3] = "";
	int prec = v->prec_arg ? len : v->prec;
	int64_t width = v->width_arg ? len : v->width;

	switch (v->conv) {
	case 'd':
		if ((int64_t)value < 0) {
			prefix[0] = '-';
			value = 0 - value;
		}
		s = digits10(end, value);
		break;
	case 'u':
		s = digits10(end, value);
		break;
	case 'o':
		s = digits_shift(end, value, 3, "01234567");
		if (v->alt && *s != '0')
			*--s = '0';
		break;
	default:
		s = digits_shift(end, value, 4,
				 v->conv == 'X' ? "0123456789ABCDEF" : "0123456789abcdef");
		if (v->alt && value) {
			prefix[0] = '0';
			prefix[1] = v->conv;
		}
	}
	if (!prec && !value)
		s = end;
	prec = min_of(prec, 4096);
	while (end - s < prec)
		*--s = '0';
	int64_t all = (int64_t)strlen(prefix) + (end - s);
	bool zeroes = v->zero && !v->left && prec < 0;
	if (width > all && !v->left && !zeroes)
		add_fill(out, ' ', (size_t)(width - all));
	strbuf_adds(out, prefix);
	if (width > all && zeroes)
		add_fill(out, '0', (size_t)(width - all));
	strbuf_add(out, s, (size_t)(end - s));
	if (width > all && v->left)
		add_fill(out, ' ', (size_t)(width - all));
}

/* "0x…", as the library adds what no name stands for, whatever the conversion. */
static void add_unnamed(struct strbuf *out, uint64_t value)
{
	strbuf_add(out, "0x", 2);
	strbuf_add_hex(out, value);
}

static void add_flags(const struct format_run *r, const struct text *t, const struct conv *v,
		      int len)
{
	uint64_t value = eval(r, t->a);
	const struct flag *f = r->p->flags.v + t->first_flag, *end = f + t->n_flags;
	bool any = false;

	for (; f < end; f++) {
		if (!value && f->value < 0) {
			add_string(r->out, v, len, f->str, f->len);
			break;
		}
		if (f->value > 0 && (value & (uint64_t)f->value) == (uint64_t)f->value) {
			if (any)
				strbuf_add(r->out, t->str, t->len);
			add_string(r->out, v, len, f->str, f->len);
			any = true;
			value &= ~(uint64_t)f->value;
		}
	}
	if (value) {
		if (any)
			strbuf_add(r->out, t->str, t->len);
		add_unnamed(r->out, value);
	}
}

static void add_symbol(const struct format_run *r, const struct text *t, const struct conv *v,
		       int len)
{
	uint64_t value = eval(r, t->a);
	const struct flag *f = r->p->flags.v + t->first_flag, *end = f + t->n_flags;

	for (; f < end; f++)
		if (value == (uint64_t)f->value) {
			add_string(r->out, v, len, f->str, f->len);
			return;
		}
	add_unnamed(r->out, value);
}

/* The bytes of __print_hex() and __print_array() from *off on, *n of them at most. */
static void bytes_of(const struct format_run *r, const struct text *t, uint64_t *off)
{
	*off = t->dynamic ? number_at(r, t->off, t->len) & 0xffff : t->off;
	if (t->dynamic && t->relative)
		*off += t->off + t->len;
}

static void add_hex(const struct format_run *r, const struct text *t)
{
	int n = (int)eval(r, t->a);
	uint64_t off;

	bytes_of(r, t, &off);
	for (int i = 0; i < n && i < PAYLOAD_MAX; i++) {
		static const char hex[] = "0123456789abcdef";
		uint8_t byte = (uint8_t)number_at(r, off + (uint64_t)i, 1);

		if (i && t->spaces)
			strbuf_addch(r->out, ' ');
		strbuf_addch(r->out, hex[byte >> 4]);
		strbuf_addch(r->out, hex[byte & 15]);
	}
}

static void add_array(const struct format_run *r, const struct text *t)
{
	int n = (int)eval(r, t->a), size = (int)eval(r, t->b);
	uint64_t off;

	bytes_of(r, t, &off);
	for (int i = 0; i < n && i < PAYLOAD_MAX; i++) {
		if (i)
			strbuf_addch(r->out, ' ');
		if (size == 1 || size == 2 || size == 4 || size == 8) {
			/* In the host's order, as the library reads them. */
			uint64_t v = number_at(r, off, (unsigned)size);
			if (r->ev->tracing->swap)
				v = bswap_64(v) >> (64 - 8 * size);
			strbuf_add_u64(r->out, v);
			off += (uint64_t)size;
		} else {
			strbuf_addf(r->out, "BAD SIZE:%d 0x%x", size,
				    (unsigned)number_at(r, off, 1));
			size = 1;
			off++;
		}
	}
}

/* Bits from the highest down, with a comma after each 32. */
static void add_bitmask(const struct format_run *r, const struct text *t, const struct conv *v,
			int len)
{
	uint64_t where = number_at(r, t->off, 4);
	uint32_t size = (uint32_t)(where >> 16);
	uint64_t off = (where & 0xffff) + (t->relative ? t->off + t->len : 0);
	bool big = r->ev->tracing->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	struct strbuf text = STRBUF_INIT;

	for (uint32_t left = size; left; left--) {
		uint32_t i = big ? size - left : left - 1;
		uint8_t byte = (uint8_t)number_at(r, off + i, 1);

		strbuf_addch(&text, "0123456789abcdef"[byte >> 4]);
		strbuf_addch(&text, "0123456789abcdef"[byte & 15]);
		if (left > 1 && (left - 1) % 4 == 0)
			strbuf_addch(&text, ',');
	}
	r->out->failed |= strbuf_failed(&text);
	add_string(r->out, v, len, strbuf_str(&text), text.len);
	strbuf_deinit(&text);
}

/* The list of set bits: "0-3,7". */
static void add_cpumask(const struct format_run *r, const struct text *t, const struct conv *v,
			int len)
{
	uint64_t where = number_at(r, t->off, 4);
	uint64_t off = (where & 0xffff) + (t->relative ? t->off + t->len : 0);
	uint32_t bits = (uint32_t)(where >> 16) * 8;
	bool big = r->ev->tracing->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	uint32_t word = r->ev->tracing->long_size;
	struct strbuf text = STRBUF_INIT;
	int64_t from = -1;

	for (uint32_t i = 0; i <= bits; i++) {
		uint32_t byte = i / 8;

		if (big) /* an array of words */
			byte = byte / word * word + (word - 1 - byte % word);
		bool set = i < bits && number_at(r, off + byte, 1) >> (i % 8) & 1;
		if (set && from < 0)
			from = i;
		if (set || from < 0)
			continue;
		strbuf_addf(&text, "%s%" PRId64, text.len ? "," : "", from);
		if (i - 1 > from)
			strbuf_addf(&text, "-%u", i - 1);
		from = -1;
	}
	r->out->failed |= strbuf_failed(&text);
	add_string(r->out, v, len, strbuf_str(&text), text.len);
	strbuf_deinit(&text);
}

static void add_text(const struct format_run *r, uint16_t index, const struct conv *v, int len)
{
	const struct text *t = &r->p->texts.v[index];

	switch (t->kind) {
	case TEXT_LITERAL:
		add_string(r->out, v, len, t->str, t->len);
		break;
	case TEXT_FIELD: {
		size_t n = t->off < r->size ? r->size - t->off : 0;
		const char *s = n ? (const char *)r->raw + t->off : "";

		if (t->len && t->len < n)
			n = t->len;
		add_string(r->out, v, len, s, strnlen(s, n));
		break;
	}
	case TEXT_POINTER: {
		uint64_t addr = number_at(r, t->off, t->len);
		const char *known = printk_find(r->ev->tracing, addr);

		if (known)
			strbuf_adds(r->out, known);
		else
			strbuf_add_hex(r->out, addr);
		break;
	}
	case TEXT_DYN: {
		uint64_t off = number_at(r, t->off, 4) & 0xffff;

		if (t->relative)
			off += t->off + t->len;
		size_t n = off < r->size ? (size_t)(r->size - off) : 0;
		const char *s = n ? (const char *)r->raw + off : "";
		add_string(r->out, v, len, s, strnlen(s, n));
		break;
	}
	case TEXT_FLAGS:
		add_flags(r, t, v, len);
		break;
	case TEXT_SYMBOL:
		add_symbol(r, t, v, len);
		break;
	case TEXT_HEX:
		add_hex(r, t);
		break;
	case TEXT_ARRAY:
		add_array(r, t);
		break;
	case TEXT_BITMASK:
		add_bitmask(r, t, v, len);
		break;
	case TEXT_CPUMASK:
		add_cpumask(r, t, v, len);
		break;
	case TEXT_COND:
		add_text(r, eval(r, t->a) ? t->left : t->right, v, len);
		break;
	default:
		break;
	}
}

static uint64_t extend(uint64_t v, const struct item *it)
{
	bool sign = it->conv.conv == 'd';

	switch (it->bits) {
	case 8:
		return sign ? (uint64_t)(int64_t)(int8_t)v : (uint8_t)v;
	case 16:
		return sign ? (uint64_t)(int64_t)(int16_t)v : (uint16_t)v;
	case 32:
		return sign ? (uint64_t)(int64_t)(int32_t)v : (uint32_t)v;
	default:
		return v;
	}
}

static void add_hex_number(struct strbuf *out, uint64_t v, int width)
{
	char buf[16];
	char *end = buf + sizeof(buf), *s = digits_shift(end, v, 4, "0123456789abcdef");

	while (end - s < width)
		*--s = '0';
	strbuf_add(out, s, (size_t)(end - s));
}

static void add_function(const struct format_run *r, const struct item *it, uint64_t addr)
{
	const struct tracing *t = r->ev->tracing;
	uint64_t start = addr;
	const char *name = t->symbol ? t->symbol(t->symbol_ctx, addr, &start) : NULL;

	if (!name) {
		add_unnamed(r->out, addr);
		return;
	}
	strbuf_adds(r->out, name);
	if (it->offset) {
		strbuf_adds(r->out, "+0x");
		strbuf_add_hex(r->out, addr - start);
	}
}

static void add_ip4(struct strbuf *out, char i, const uint8_t *b)
{
	strbuf_addf(out, i == 'i' ? "%03d.%03d.%03d.%03d" : "%d.%d.%d.%d", b[0], b[1], b[2], b[3]);
}

/* RFC 5952, but for a mapped or ISATAP address, whose end is shown as IPv4. */
static void add_ip6_short(struct strbuf *out, const uint8_t *b)
{
	static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	bool v4 = !memcmp(b, mapped, 12) ||
		  (((b[8] & 0xfd) == 0 && b[9] == 0) && b[10] == 0x5e && b[11] == 0xfe);
	int n = v4 ? 6 : 8, best = -1, longest = 1;
	bool colon = false;

	for (int i = 0; i < n; i++) {
		int run = 0;

		while (i + run < n && !b[2 * (i + run)] && !b[2 * (i + run) + 1])
			run++;
		if (run > longest) {
			longest = run;
			best = i;
		}
	}
	for (int i = 0; i < n; i++) {
		if (i == best) {
			strbuf_adds(out, colon || !i ? "::" : ":");
			colon = false;
			i += longest - 1;
			continue;
		}
		strbuf_addf(out, "%s%x", colon ? ":" : "", b[2 * i] << 8 | b[2 * i + 1]);
		colon = true;
	}
	if (v4) {
		strbuf_adds(out, colon ? ":" : "");
		add_ip4(out, 'I', b + 12);
	}
}

static void add_ip6(struct strbuf *out, const char *letters, const uint8_t *b)
{
	if (letters[0] == 'I' && letters[strlen(letters) - 1] == 'c') {
		add_ip6_short(out, b);
		return;
	}
	for (int i = 0; i < 16; i += 2)
		strbuf_addf(out, "%02x%02x%s", b[i], b[i + 1],
			    letters[0] == 'I' && i < 14 ? ":" : "");
}

static void add_sockaddr(struct strbuf *out, const char *letters, const uint8_t *b, int size,
			 uint64_t family)
{
	bool port = strchr(letters, 'p');
	unsigned number = (unsigned)(b[2] << 8 | b[3]); /* in the net's order */

	if (family == AF_INET && size < 16) {
		strbuf_adds(out, "INVALIDIPv4");
	} else if (family == AF_INET) {
		add_ip4(out, 'I', b + 4);
		if (port)
			strbuf_addf(out, ":%u", number);
	} else if (family == AF_INET6 && size < 28) {
		strbuf_adds(out, "INVALIDIPv6");
	} else if (family == AF_INET6) {
		strbuf_adds(out, port ? "[" : "");
		add_ip6(out, letters, b + 8);
		if (port)
			strbuf_addf(out, "]:%u", number);
	}
}

/* U: bytes as they come; UL, Ul: the first three groups turned around. */
static void add_uuid(struct strbuf *out, const char *letters, const uint8_t *b)
{
	static const uint8_t plain[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	static const uint8_t guid[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	const uint8_t *order = letters[1] == 'L' || letters[1] == 'l' ? guid : plain;
	bool upper = letters[1] == 'L' || letters[1] == 'B';

	for (int i = 0; i < 16; i++)
		strbuf_addf(out, upper ? "%02X%s" : "%02x%s", b[order[i]],
			    i == 3 || i == 5 || i == 7 || i == 9 ? "-" : "");
}

static void add_bytes(const struct format_run *r, const struct item *it)
{
	static const char *const invalid[] = {"INVALIDIPv4", "INVALIDIPv6", "INVALIDMAC",
					      "INVALIDUUID"};
	static const int sizes[] = {4, 16, 6, 16};
	enum pointer_kind kind = (enum pointer_kind)it->bits;
	int size = it->conv.width;
	uint8_t b[28];

	for (unsigned i = 0; i < sizeof(b); i++)
		b[i] = (uint8_t)number_at(r, (uint64_t)it->n + i, 1);
	if (kind == POINTER_SOCKADDR) {
		add_sockaddr(r->out, it->str, b, size, number_at(r, it->n, 2));
		return;
	}
	if (size != sizes[kind - POINTER_IP4]) {
		strbuf_adds(r->out, invalid[kind - POINTER_IP4]);
		return;
	}
	switch (kind) {
	case POINTER_IP4:
		add_ip4(r->out, it->str[0], b);
		break;
	case POINTER_IP6:
		add_ip6(r->out, it->str, b);
		break;
	case POINTER_MAC:
		for (int i = 0; i < 6; i++)
			strbuf_addf(r->out, "%02x%s", b[i],
				    i == 5 || it->str[0] == 'm' ? ""
				    : it->str[1] == 'F'		? "-"
								: ":");
		break;
	default:
		add_uuid(r->out, it->str, b);
	}
}

/* An integer field without a format. */
static void add_plain_number(const struct format_run *r, const struct format_field *f)
{
	uint64_t v = number_at(r, f->offset, f->size);

	if (f->flags & FIELD_POINTER) {
		add_unnamed(r->out, v);
	} else if (!(f->flags & FIELD_SIGNED)) {
		if (f->flags & FIELD_LONG)
			add_unnamed(r->out, v);
		else
			strbuf_add_u64(r->out, v);
	} else if (f->size == 4 && f->flags & FIELD_LONG) {
		add_unnamed(r->out, v);
	} else if (f->size == 4) {
		strbuf_addf(r->out, "%d", (int)v);
	} else if (f->size == 2) {
		strbuf_addf(r->out, "%2d", (int16_t)v);
	} else if (f->size == 1) {
		strbuf_addf(r->out, "%1d", (int8_t)v);
	} else {
		strbuf_addf(r->out, "%" PRId64, (int64_t)v);
	}
}

static void add_plain_array(const struct format_run *r, struct format_field *f)
{
	uint64_t off = f->offset, n = f->size;
	bool text = f->flags & FIELD_STRING && !f->unprintable;

	if (f->flags & FIELD_DYNAMIC) {
		uint64_t where = number_at(r, f->offset, f->size);

		off = (where & 0xffff) + (f->flags & FIELD_RELATIVE ? f->offset + f->size : 0);
		n = where >> 16 & 0xffff;
	}
	n = off < r->size ? min_of(n, r->size - off) : 0;
	const char *s = n ? (const char *)r->raw + off : "";
	size_t len = strnlen(s, n);
	for (size_t i = 0; i < len && text; i++)
		text = isprint((unsigned char)s[i]) || isspace((unsigned char)s[i]);
	if (text) {
		strbuf_add(r->out, s, len);
		return;
	}
	f->unprintable = true; /* from now on, as in the library */
	strbuf_adds(r->out, "ARRAY[");
	for (uint64_t i = 0; i < n; i++)
		strbuf_addf(r->out, "%s%02x", i ? ", " : "", (uint8_t)s[i]);
	strbuf_addch(r->out, ']');
}

static void add_plain(struct format_run *r, struct format_field *f)
{
	if (f->flags & FIELD_ARRAY)
		add_plain_array(r, f);
	else
		add_plain_number(r, f);
}

void trace_field_print(const struct trace_event *ev, const struct trace_field *field,
		       const void *raw, uint32_t size, struct strbuf *out)
{
	struct format_run r = {.ev = ev, .raw = raw, .size = size, .out = out};
	struct format_field *f = format_find_field(ev, field->name);

	if (f)
		add_plain(&r, f);
}

void trace_event_print_fields(const struct trace_event *ev, const void *raw, uint32_t size,
			      struct strbuf *out)
{
	struct format_run r = {.ev = ev, .raw = raw, .size = size, .out = out};

	for (size_t i = 0; i < ev->format_fields.n; i++) {
		struct format_field *f = ev->format_fields.v[i];

		if (f->common)
			continue;
		strbuf_addf(out, " %s=", f->name);
		add_plain(&r, f);
	}
}

static void add_float(struct strbuf *out, uint64_t bits, unsigned n)
{
	const uint32_t low = (uint32_t)bits;

	json_add_float(out, n == 32 ? (const void *)&low : &bits, n / 8);
}

void program_run(const struct trace_event *ev, const uint8_t *raw, uint32_t size,
		 struct strbuf *out)
{
	struct format_run r = {.ev = ev, .p = &ev->program, .raw = raw, .size = size, .out = out};
	const struct item *it = ev->program.items.v, *last = it + ev->program.items.n;

	for (; it < last; it++) {
		char buf[24];
		char *end = buf + sizeof(buf), *s;
		uint64_t v;
		int len = -1;

		if (it->kind == ITEM_LITERAL) {
			strbuf_add(out, it->str, it->n);
			continue;
		}
		if (it->has_len) {
			/* Payloads may say anything; printf would fill as much. */
			len = (int)eval(&r, it->len);
			len = len > PAYLOAD_MAX ? PAYLOAD_MAX : len;
		}
		if (it->kind == ITEM_TEXT) {
			add_text(&r, it->expr, &it->conv, len);
			continue;
		}
		if (it->kind == ITEM_BYTES) {
			add_bytes(&r, it);
			continue;
		}
		v = eval(&r, it->expr);
		switch (it->kind) {
		case ITEM_DECIMAL:
			v = it->bits == 32 ? (uint64_t)(int64_t)(int32_t)v : v;
			s = digits10(end, (int64_t)v < 0 ? 0 - v : v);
			if ((int64_t)v < 0)
				*--s = '-';
			strbuf_add(out, s, (size_t)(end - s));
			break;
		case ITEM_UNSIGNED:
			s = digits10(end, it->bits == 32 ? (uint32_t)v : v);
			strbuf_add(out, s, (size_t)(end - s));
			break;
		case ITEM_HEX:
			add_hex_number(out, it->bits == 32 ? (uint32_t)v : v, it->conv.width);
			break;
		case ITEM_FLOAT:
			add_float(out, v, it->bits);
			break;
		case ITEM_FUNCTION:
			add_function(&r, it, v);
			break;
		case ITEM_POINTER:
			if (v)
				add_unnamed(out, v);
			else
				strbuf_adds(out, "(nil)");
			break;
		default:
			add_number(out, &it->conv, len, extend(v, it));
		}
	}
}
