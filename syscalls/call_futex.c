// SPDX-License-Identifier: BSD-2-Clause
/* futex(2): the operation says what the other arguments are. */
#include "syscalls/call_decode.h"

/* "FUTEX_WAIT_PRIVATE", "FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME" */
void show_futex_op(struct call_decoder *d, uint32_t op)
{
	enum { PRIVATE = 128, REALTIME = 256 };
	const char *name = flag_set_name(SET_futex_op, op & ~(PRIVATE | REALTIME));

	if (!name) {
		sink_enum(&d->sink, SET_futex_op, op);
		return;
	}
	name = sink_cut_prefix(&d->sink, SET_futex_op, name);
	if (sink_is_perf(&d->sink) && !d->opts->show_prefix)
		sink_wordf(&d->sink, "%s%s%s", name, op & PRIVATE ? "|PRIVATE_FLAG" : "",
			   op & REALTIME ? "|CLOCK_REALTIME" : "");
	else
		sink_wordf(&d->sink, "%s%s%s", name, op & PRIVATE ? "_PRIVATE" : "",
			   op & REALTIME ? "|FUTEX_CLOCK_REALTIME" : "");
}

static void show_times(struct call_decoder *d, const uint8_t *p)
{
	const uint32_t word = d->layout == LAYOUT_32 ? 4 : 8;

	sink_struct(&d->sink);
	sink_member(&d->sink, "tv_sec");
	sink_i64(&d->sink, value_int(p, word));
	sink_member(&d->sink, "tv_nsec");
	sink_i64(&d->sink, value_int(p + word, word));
	sink_end_struct(&d->sink);
}

/* A time where the operation waits, else a number. */
void show_futex_timeout(struct call_decoder *d, int arg)
{
	enum { REQUEUE = 3, CMP_REQUEUE = 4, WAKE_OP = 5, CMP_REQUEUE_PI = 12 };
	const uint32_t op = d->args[1] & 127;
	const struct trace_piece *piece = decode_piece(d, arg, false);

	if (op == REQUEUE || op == CMP_REQUEUE || op == WAKE_OP || op == CMP_REQUEUE_PI)
		sink_u64(&d->sink, (uint32_t)d->args[arg]);
	else if (d->args[arg] && piece && piece->len >= 16)
		show_times(d, piece->data);
	else
		sink_addr(&d->sink, d->args[arg]);
}

/* What FUTEX_WAKE_OP does with the second word. */
void show_futex_val3(struct call_decoder *d, uint32_t v)
{
	static const char *const ops[] = {"FUTEX_OP_SET", "FUTEX_OP_ADD", "FUTEX_OP_OR",
					  "FUTEX_OP_ANDN", "FUTEX_OP_XOR"};
	static const char *const cmps[] = {"FUTEX_OP_CMP_EQ", "FUTEX_OP_CMP_NE", "FUTEX_OP_CMP_LT",
					   "FUTEX_OP_CMP_LE", "FUTEX_OP_CMP_GT", "FUTEX_OP_CMP_GE"};
	enum { CMP_REQUEUE = 4, WAKE_OP = 5, WAIT_BITSET = 9, WAKE_BITSET = 10 };
	const uint32_t op = d->args[1] & 127;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (op == CMP_REQUEUE || op == 12) {
		sink_u64(&d->sink, v);
		return;
	}
	if ((op == WAIT_BITSET || op == WAKE_BITSET) && v == UINT32_MAX && !d->sink.w) {
		sink_word(&d->sink, "FUTEX_BITSET_MATCH_ANY");
		return;
	}
	if (op != WAKE_OP) {
		sink_hex(&d->sink, v);
		return;
	}
	const uint32_t what = v >> 28 & 7, cmp = v >> 24 & 15;
	if (v >> 31)
		strbuf_adds(&text, "FUTEX_OP_OPARG_SHIFT<<28|");
	if (what < ARRAY_SIZE(ops))
		strbuf_addf(&text, "%s<<28|", ops[what]);
	else
		strbuf_addf(&text, "%#x<<28 /* FUTEX_OP_??? */|", what);
	strbuf_addf(&text, "%#x<<12|", v >> 12 & 0xfff);
	if (cmp < ARRAY_SIZE(cmps))
		strbuf_addf(&text, "%s<<24|", cmps[cmp]);
	else
		strbuf_addf(&text, "%#x<<24 /* FUTEX_OP_CMP_??? */|", cmp);
	strbuf_addf(&text, "%#x", v & 0xfff);
	sink_word(&d->sink, strbuf_str(&text));
}
