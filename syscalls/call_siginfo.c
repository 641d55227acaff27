// SPDX-License-Identifier: BSD-2-Clause
/*
 * siginfo_t. Its union has the members that the signal and si_code say: what the kernel or a fault
 * reports, or what a process has sent (codes of 0 and below). Offsets are those of 64-bit programs,
 * or of 32-bit ones with words of 4 bytes.
 */
#include <inttypes.h>
#include <signal.h>

#include "syscalls/call_decode.h"
#include "syscalls/call_names.h"

#if defined(__aarch64__)
#define AUDIT_ARCH_NAME "AUDIT_ARCH_AARCH64"
#else
#define AUDIT_ARCH_NAME "AUDIT_ARCH_X86_64"
#endif

/* Names of codes that only one signal has. */
static enum flag_set_id codes_of(int sig, int code)
{
	if (code <= 0 || code == SI_KERNEL)
		return SET_si_code_kill;
	switch (sig) {
	case SIGCHLD:
		return SET_si_code_chld;
	case SIGSEGV:
		return SET_si_code_segv;
	case SIGBUS:
		return SET_si_code_bus;
	case SIGFPE:
		return SET_si_code_fpe;
	case SIGILL:
		return SET_si_code_ill;
	case SIGTRAP:
		return SET_si_code_trap;
	case SIGPOLL:
		return SET_si_code_poll;
	case SIGSYS:
		return SET_si_code_sys;
	default:
		return SET_si_code_kill;
	}
}

static void show_sender(struct call_decoder *d, const uint8_t *u)
{
	sink_member(&d->sink, "si_pid");
	sink_i64(&d->sink, value_int(u, 4));
	sink_member(&d->sink, "si_uid");
	show_number_at(d, &(struct arg_kind){.value = SHOW_UID}, u + 4, 4, false);
}

/* A union of both. */
static void show_value(struct call_decoder *d, const uint8_t *p, uint32_t word)
{
	sink_member(&d->sink, "si_int");
	sink_i64(&d->sink, value_int(p, 4));
	sink_member(&d->sink, "si_ptr");
	sink_addr(&d->sink, value_uint(p, word));
}

static void show_timer(struct call_decoder *d, const uint8_t *u, uint32_t word)
{
	sink_member(&d->sink, "si_timerid");
	sink_hex(&d->sink, value_uint(u, 4));
	sink_member(&d->sink, "si_overrun");
	sink_i64(&d->sink, value_int(u + 4, 4));
	show_value(d, u + 8, word);
}

static void show_child(struct call_decoder *d, const uint8_t *u, int code, uint32_t word)
{
	const struct arg_kind ticks = {.value = SHOW_TICKS};
	const uint32_t times = word == 8 ? 16 : 12;

	show_sender(d, u);
	sink_member(&d->sink, "si_status");
	if (code == CLD_EXITED)
		sink_i64(&d->sink, value_int(u + 8, 4));
	else
		show_signal(d, (int)value_int(u + 8, 4));
	sink_member(&d->sink, "si_utime");
	show_number_at(d, &ticks, u + times, word, true);
	sink_member(&d->sink, "si_stime");
	show_number_at(d, &ticks, u + times + word, word, true);
}

/* "si_syscall=__NR_mkdir, si_arch=AUDIT_ARCH_X86_64" */
static void show_denied(struct call_decoder *d, const uint8_t *u, uint32_t word)
{
	const uint64_t nr = value_uint(u + word, 4), arch = value_uint(u + word + 4, 4);
	const char *arch_name = flag_set_name(SET_audit_arch, arch);
	const bool native = arch_name && !strcmp(arch_name, AUDIT_ARCH_NAME);
	const char *name = native ? call_name(TRACE_ABI_NATIVE, (uint32_t)nr) : NULL;

	sink_member(&d->sink, "si_call_addr");
	sink_addr(&d->sink, value_uint(u, word));
	sink_member(&d->sink, "si_syscall");
	if (name)
		sink_wordf(&d->sink, "__NR_%s", name);
	else
		sink_hex(&d->sink, nr);
	sink_member(&d->sink, "si_arch");
	sink_enum(&d->sink, SET_audit_arch, arch);
}

/* What a process, or a timer of its own, has sent. */
static void show_sent(struct call_decoder *d, const uint8_t *u, int code, uint32_t word)
{
	if (code == SI_TIMER) {
		show_timer(d, u, word);
		return;
	}
	show_sender(d, u);
	if (code != SI_USER && code != SI_TKILL && value_uint(u + 8, word))
		show_value(d, u + 8, word);
}

static void show_reported(struct call_decoder *d, const uint8_t *u, int sig, int code,
			  uint32_t word)
{
	switch (sig) {
	case SIGCHLD:
		show_child(d, u, code, word);
		return;
	case SIGILL:
	case SIGFPE:
	case SIGSEGV:
	case SIGBUS:
	case SIGTRAP:
		sink_member(&d->sink, "si_addr");
		sink_addr(&d->sink, value_uint(u, word));
		return;
	case SIGPOLL:
		if (code == SI_KERNEL)
			break;
		sink_member(&d->sink, "si_band");
		sink_i64(&d->sink, value_int(u, word));
		sink_member(&d->sink, "si_fd");
		sink_i64(&d->sink, value_int(u + word, 4));
		return;
	case SIGSYS:
		show_denied(d, u, word);
		return;
	}
	if (value_uint(u, 8))
		show_sender(d, u);
	if (value_uint(u + 8, word))
		show_value(d, u + 8, word);
}

void show_siginfo(struct call_decoder *d, const uint8_t *p)
{
	struct value_sink *s = &d->sink;
	const uint32_t word = d->layout == LAYOUT_64 ? 8 : 4;
	const int sig = (int)value_int(p, 4), err = (int)value_int(p + 4, 4);
	const int code = (int)value_int(p + 8, 4);
	const uint8_t *u = p + (word == 8 ? 16 : 12);

	sink_struct(s);
	if (!sig) {
		sink_end_struct(s);
		return;
	}
	sink_member(s, "si_signo");
	show_signal(d, sig);
	sink_member(s, "si_code");
	sink_enum(s, codes_of(sig, code), (uint64_t)code);
	if (err) {
		const char *name = flag_set_name(SET_error, (uint64_t)err);

		sink_member(s, "si_errno");
		if (name)
			sink_word(s, name);
		else
			sink_u64(s, (uint32_t)err);
	}
	if (code <= 0)
		show_sent(d, u, code, word);
	else
		show_reported(d, u, sig, code, word);
	sink_end_struct(s);
}
