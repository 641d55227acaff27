// SPDX-License-Identifier: BSD-2-Clause
/*
 * Modes of terminals: in c_oflag and c_cflag, some groups of bits are numbers, which are shown also
 * where they are 0.
 */
#include <inttypes.h>

#include "syscalls/call_decode.h"

enum {
	TAB_3 = 3,
	CHAR_SIZE = 0x30,
	CHAR_SIZE_SHIFT = 4,
	BAUD = 0x100f,
	IN_BAUD_SHIFT = 16,
};

static const struct {
	const char *name;
	uint32_t mask, shift;
} delays[] = {
	{"NL", 0x100, 8},   {"CR", 0x600, 9},	{"TAB", 0x1800, 11},
	{"BS", 0x2000, 13}, {"VT", 0x4000, 14}, {"FF", 0x8000, 15},
};

/* What is left besides the numbers: the names of flags. */
static void add_flags(struct call_decoder *d, enum flag_set_id set, uint32_t v, struct strbuf *text)
{
	_cleanup_strbuf_ struct strbuf flags = STRBUF_INIT;

	if (!v)
		return;
	if (flags_text(&d->sink, set, v, &flags))
		strbuf_addf(text, "|%s", strbuf_str(&flags));
	else
		strbuf_addf(text, "|%#x", v);
}

/* "NL0|CR0|TAB0|BS0|VT0|FF0|OPOST|ONLCR" */
void show_tty_oflag(struct call_decoder *d, uint32_t v)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint32_t left = v;

	for (size_t i = 0; i < ARRAY_SIZE(delays); i++) {
		const uint32_t n = (v & delays[i].mask) >> delays[i].shift;

		strbuf_adds(&text, i ? "|" : "");
		if (n == TAB_3)
			strbuf_adds(&text, delays[i].mask == 0x1800 ? "XTABS" : "CR3");
		else
			strbuf_addf(&text, "%s%u", delays[i].name, n);
		left &= ~delays[i].mask;
	}
	add_flags(d, SET_tty_oflag, left, &text);
	sink_constf(&d->sink, strbuf_str(&text), "%#x", v);
}

static void add_baud(struct strbuf *text, uint32_t baud)
{
	const char *name = flag_set_name(SET_tty_baud, baud);

	if (name)
		strbuf_adds(text, name);
	else
		strbuf_addf(text, "%#x /* %s */", baud, flag_sets[SET_tty_baud].unknown);
}

/* "B38400|CS8|CREAD" */
void show_tty_cflag(struct call_decoder *d, uint32_t v)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const uint32_t in = v >> IN_BAUD_SHIFT & BAUD;

	add_baud(&text, v & BAUD);
	if (in) {
		strbuf_addch(&text, '|');
		add_baud(&text, in);
		strbuf_adds(&text, "<<IBSHIFT");
	}
	strbuf_addf(&text, "|CS%u", 5 + ((v & CHAR_SIZE) >> CHAR_SIZE_SHIFT));
	add_flags(d, SET_tty_cflag, v & ~(BAUD | BAUD << IN_BAUD_SHIFT | CHAR_SIZE), &text);
	sink_constf(&d->sink, strbuf_str(&text), "%#x", v);
}

/* "[[VINTR]=0x3, [VQUIT]=0x1c, [17]=0]" */
void show_tty_cc(struct call_decoder *d, const uint8_t *p, size_t len)
{
	sink_array(&d->sink);
	for (size_t i = 0; i < len; i++) {
		const char *name = flag_set_name(SET_tty_cc, i);

		sink_item(&d->sink);
		if (d->sink.w) {
			sink_u64(&d->sink, p[i]);
			continue;
		}
		if (name)
			strbuf_addf(d->sink.out, "[%s]=", name);
		else
			strbuf_addf(d->sink.out, "[%zu]=", i);
		sink_hex(&d->sink, p[i]);
	}
	sink_end_array(&d->sink);
}
