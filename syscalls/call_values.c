// SPDX-License-Identifier: BSD-2-Clause
/* Numbers: as they are, by the name of a set, or as what they stand for. */
#include <fcntl.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "syscalls/call_decode.h"

enum {
	AT_CWD = -100,
	FIRST_RT_SIGNAL = 32,
	LAST_SIGNAL = 64,
};

static void show_dirfd(struct call_decoder *d, int fd)
{
	if (fd == -1 && decode_is(d, "fanotify_mark"))
		sink_constf(&d->sink, "FAN_NOFD", "%d", fd);
	else if (fd == AT_CWD)
		sink_constf(&d->sink,
			    sink_is_perf(&d->sink) && !d->opts->show_prefix ? "CWD" : "AT_FDCWD",
			    "%d", fd);
	else
		show_fd(d, fd);
}

/* "SIGINT", "SIGRT_3" in text, whose first three letters perf style and sets leave out. */
static void add_signal(struct strbuf *out, int sig, bool prefix)
{
	const char *name =
		sig > 0 && sig < FIRST_RT_SIGNAL ? flag_set_name(SET_signal, (uint64_t)sig) : NULL;
	const char *sigs = prefix ? "SIG" : "";

	if (name)
		strbuf_adds(out, prefix ? name : name + 3);
	else if (sig == FIRST_RT_SIGNAL)
		strbuf_addf(out, "%sRTMIN", sigs);
	else if (sig > FIRST_RT_SIGNAL && sig <= LAST_SIGNAL)
		strbuf_addf(out, "%sRT_%d", sigs, sig - FIRST_RT_SIGNAL);
	else
		strbuf_addf(out, "%d", sig);
}

/* With its name, if the socket is of the network namespace in which names are looked up. */
static void show_ifindex(struct call_decoder *d, uint32_t index)
{
	struct ifreq request = {.ifr_ifindex = (int)index};

	if (decode_strace(d) && index && d->opts->net_ns && decode_net_ns(d) == d->opts->net_ns &&
	    !ioctl(d->opts->net_socket, SIOCGIFNAME, &request)) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
		const char *name = request.ifr_name;

		add_escaped_text(&text, name, strnlen(name, IFNAMSIZ), "\"");
		sink_wordf(&d->sink, "if_nametoindex(\"%s\")", strbuf_str(&text));
	} else {
		sink_u64(&d->sink, index);
	}
}

/* "1<<TCP_ESTABLISHED|1<<TCP_LISTEN" */
static void show_tcp_states(struct call_decoder *d, uint32_t states)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint32_t rest = states;

	for (uint32_t i = 0; i < 32; i++) {
		const char *name = states >> i & 1 ? flag_set_name(SET_tcp_state, i) : NULL;

		if (!name)
			continue;
		strbuf_addf(&text, "%s1<<%s", text.len ? "|" : "", name);
		rest &= ~(1u << i);
	}
	if (rest || !states)
		strbuf_addf(&text, rest ? "%s%#x" : "%s0", text.len ? "|" : "", rest);
	sink_constf(&d->sink, strbuf_str(&text), "%#x", states);
}

void show_signal(struct call_decoder *d, int sig)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (sig <= 0 || sig > LAST_SIGNAL) {
		sink_i64(&d->sink, sig);
		return;
	}
	add_signal(&text, sig, !sink_is_perf(&d->sink) || d->opts->show_prefix);
	sink_constf(&d->sink, strbuf_str(&text), "%d", sig);
}

/* "[INT CHLD]", or "~[KILL STOP]" where more are in the set than not. */
void show_sigset(struct call_decoder *d, const uint8_t *p, size_t len)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint64_t set = value_uint(p, (uint32_t)(len < 8 ? len : 8));
	const int bits = (int)(len < 8 ? len : 8) * 8;
	bool first = true;

	if (__builtin_popcountll(set) >= bits * 2 / 3) {
		set = ~set;
		strbuf_addch(&text, '~');
	}
	strbuf_addch(&text, '[');
	for (int sig = 1; sig <= bits; sig++) {
		if (!(set >> (sig - 1) & 1))
			continue;
		if (!first)
			strbuf_addch(&text, ' ');
		first = false;
		add_signal(&text, sig, false);
	}
	strbuf_addch(&text, ']');
	sink_word(&d->sink, strbuf_str(&text));
}

void show_dev(struct call_decoder *d, uint64_t dev)
{
	char name[64];

	snprintf(name, sizeof(name), "makedev(%#x, %#x)", major(dev), minor(dev));
	sink_constf(&d->sink, name, "%#" PRIx64, dev);
}

/* "S_IFREG|S_ISUID|0755" */
void show_file_mode(struct call_decoder *d, uint32_t mode)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char *type = flag_set_name(SET_file_type, mode & 0170000);

	if (!type) {
		sink_octal(&d->sink, mode);
		return;
	}
	strbuf_addf(&text, "%s|", type);
	for (size_t i = 0; i < flag_sets[SET_lock_mode].n; i++)
		if (mode & flag_sets[SET_lock_mode].names[i].value)
			strbuf_addf(&text, "%s|", flag_sets[SET_lock_mode].names[i].name);
	strbuf_addf(&text, "%#03o", mode & 0777);
	if (mode & ~0177777u)
		strbuf_addf(&text, "|%#o", mode & ~0177777u);
	sink_constf(&d->sink, strbuf_str(&text), "%#03o", mode);
}

bool date_text(int64_t sec, uint64_t nsec, char *text, size_t size)
{
	const time_t t = sec;
	char date[64], zone[16];
	struct tm tm;

	if ((!sec && !nsec) || nsec > 999999999 || !localtime_r(&t, &tm) ||
	    !strftime(date, sizeof(date), "%FT%T", &tm) || !strftime(zone, sizeof(zone), "%z", &tm))
		return false;
	if (nsec)
		snprintf(text, size, "%s.%09" PRIu64 "%s", date, nsec, zone);
	else
		snprintf(text, size, "%s%s", date, zone);
	return true;
}

void show_date(struct call_decoder *d, int64_t sec, uint64_t nsec)
{
	char text[96];

	if (decode_strace(d) && date_text(sec, nsec, text, sizeof(text)))
		sink_comment(&d->sink, "%s", text);
}

void show_wait_status(struct call_decoder *d, uint32_t status)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const uint32_t low = status & 0x7f;

	if (!low) {
		strbuf_addf(&text, "{WIFEXITED(s) && WEXITSTATUS(s) == %u", status >> 8 & 0xff);
		status &= ~0xff00u;
	} else if (low == 0x7f && (status & 0xffff) != 0xffff) {
		strbuf_adds(&text, "{WIFSTOPPED(s) && WSTOPSIG(s) == ");
		add_signal(&text, status >> 8 & 0x7f, true);
		strbuf_adds(&text, status & 0x8000 ? " | 0x80" : "");
		status &= ~0xffffu;
	} else if ((status & 0xffff) == 0xffff) {
		strbuf_adds(&text, "{WIFCONTINUED(s)");
		status &= ~0xffffu;
	} else {
		strbuf_adds(&text, "{WIFSIGNALED(s) && WTERMSIG(s) == ");
		add_signal(&text, (int)low, true);
		strbuf_adds(&text, status & 0x80 ? " && WCOREDUMP(s)" : "");
		status &= ~0xffu;
	}
	strbuf_addch(&text, '}');
	if (status >> 16)
		strbuf_addf(&text, " | %#x", status & ~0xffffu);
	sink_word(&d->sink, strbuf_str(&text));
}

/* strace leaves the mode out where the flags do not create a file; so does perf trace. */
static bool creates_file(const struct call_decoder *d, int flags_arg)
{
	return d->args[flags_arg] & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY));
}

/* Whether an action of syslog(2) has a buffer and a length: not CLOSE to CLEAR, and the like. */
static bool syslog_has_args(int32_t action)
{
	enum { READ = 2, READ_CLEAR = 4, CONSOLE_LEVEL = 8, LAST = 10 };

	return (action >= READ && action <= READ_CLEAR) || action == CONSOLE_LEVEL || action < 0 ||
	       action > LAST;
}

bool is_unused(const struct call_decoder *d, int arg)
{
	const struct arg_kind *kind = d->call ? d->call->args[arg].kind : NULL;

	if (!kind)
		return false;
	if (decode_is(d, "rt_sigreturn")) /* it has none, but memory for strace and JSON */
		return sink_is_perf(&d->sink) || !decode_piece(d, arg, false);
	if (decode_is(d, "membarrier") && arg == 2)
		return !d->args[1]; /* the CPU, with MEMBARRIER_CMD_FLAG_CPU */
	switch ((enum show_as)kind->value) {
	case SHOW_HIDDEN:
		return true;
	case SHOW_OPEN_MODE:
		return arg && !creates_file(d, arg - 1);
	case SHOW_NEW_ADDR:
		return arg && !(d->args[arg - 1] & 6); /* MREMAP_FIXED, MREMAP_DONTUNMAP */
	case SHOW_MKNOD_DEV: {
		const uint64_t type = d->args[arg - 1] & 0170000;

		return type != 0020000 && type != 0060000; /* a character or block device */
	}
	case SHOW_FUTEX_VAL:
	case SHOW_FUTEX_TIMEOUT:
	case SHOW_FUTEX_ADDR2:
	case SHOW_FUTEX_VAL3: {
		/* By the operation: which of val, timeout, uaddr2 and val3 are used. */
		static const uint8_t used[] = {3, 1, 1, 7, 15, 15, 2, 0, 0, 11, 9, 15, 15, 2};
		const uint64_t op = d->args[1] & 127;
		const int which = kind->value - SHOW_FUTEX_VAL;
		const int bit = which == 0 ? 0 : which == 1 ? 1 : which == 2 ? 2 : 3;

		return op < ARRAY_SIZE(used) && !(used[op] >> bit & 1);
	}
	case SHOW_REBOOT_ARG:
		return (uint32_t)d->args[2] != 0xa1b2c3d4; /* LINUX_REBOOT_CMD_RESTART2 */
	case SHOW_STRUCT:				   /* of mq_open(2) */
		return !strcmp(call_structs[kind->type].name, "mq_attr_open") &&
		       !creates_file(d, 1);
	case SHOW_KCMP_IDX: /* of KCMP_FILE and KCMP_EPOLL_TFD, and of types that are not known */
		return d->args[2] != 0 && d->args[2] < 7;
	case SHOW_LOG_BUF:
	case SHOW_LOG_LEN:
		return !syslog_has_args((int32_t)d->args[0]);
	case SHOW_PRCTL_ARG:
	case SHOW_PRCTL_REST:
	case SHOW_PRCTL_TEXT:
		return !prctl_has_arg(d, arg);
	case SHOW_ARCH_PRCTL_ARG:
		return (uint32_t)d->args[0] == 0x1011; /* ARCH_GET_CPUID */
	case SHOW_IOCTL_ARG:
		return !ioctl_has_arg((uint32_t)d->args[1]);
	case SHOW_KEYCTL_ARG:
		return !keyctl_has_arg(d, arg);
	case SHOW_QUOTA_ID:
	case SHOW_QUOTA_ADDR:
		return !quota_has_arg(d, arg);
	case SHOW_FCNTL_ARG: {
		/* F_GETFD, F_GETFL, F_GETOWN, F_GETSIG, F_GETLEASE, F_GETPIPE_SZ, F_GET_SEALS */
		static const uint32_t none[] = {1, 3, 9, 11, 1025, 1032, 1034};

		for (size_t i = 0; i < ARRAY_SIZE(none); i++)
			if ((uint32_t)d->args[1] == none[i])
				return true;
		return false;
	}
	default:
		return false;
	}
}

/* "8192*1024" */
static void show_kilobytes(struct call_decoder *d, uint64_t v)
{
	char name[32];

	snprintf(name, sizeof(name), "%" PRIu64 "*1024", v / 1024);
	sink_constf(&d->sink, name, "%" PRIu64, v);
}

static void show_rlim(struct call_decoder *d, uint64_t v, bool is_64)
{
	if (v == UINT64_MAX || (!is_64 && d->layout != LAYOUT_64 && v == UINT32_MAX))
		sink_constf(&d->sink, v == UINT64_MAX ? "RLIM64_INFINITY" : "RLIM_INFINITY",
			    "%" PRIu64, v);
	else if (v > 1024 && v % 1024 == 0 && !d->sink.w)
		show_kilobytes(d, v);
	else
		sink_u64(&d->sink, v);
}

/* Flags with the permissions of an IPC object behind them: "IPC_CREAT|0600". */
static void show_ipc_flags(struct call_decoder *d, enum flag_set_id set, uint32_t v)
{
	const struct flag_set *s = &flag_sets[set];
	const uint32_t shifted = s->shift_name ? v >> s->shift & s->shift_mask : 0;
	const uint32_t flags = v & ~0777u & ~(shifted << s->shift);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, out = STRBUF_INIT;
	/* each part is a constant of its own; JSON has them as one string */
	struct value_sink parts = d->sink;

	parts.out = d->sink.w ? &out : d->sink.out;
	parts.w = NULL;
	if (flags && flags_text(&parts, set, flags, &text))
		sink_constf(&parts, strbuf_str(&text), "%#x", flags);
	else if (flags)
		sink_hex(&parts, flags);
	if (flags)
		strbuf_addch(parts.out, '|');
	if (shifted && decode_strace(d) && d->opts->constants != CONSTANTS_NAMED) {
		strbuf_addf(parts.out, "%u<<", shifted);
		sink_constf(&parts, s->shift_name, "%u", s->shift);
		strbuf_addch(parts.out, '|');
	} else if (shifted) {
		strbuf_addf(parts.out, "%u<<%s|", shifted, s->shift_name);
	}
	strbuf_addf(parts.out, "%#03o", v & 0777);
	if (d->sink.w)
		sink_word(&d->sink, strbuf_str(&out));
}

static void show_clockid(struct call_decoder *d, int v)
{
	static const char *const per_thread[] = {"PROF", "VIRT", "SCHED", "FD"};
	const char *name = v >= 0 ? flag_set_name(SET_clockid, (uint64_t)v) : NULL;

	if (name) {
		sink_constf(&d->sink, sink_cut_prefix(&d->sink, SET_clockid, name), "%#x", v);
	} else if (v < 0 && (v & 3) == 3) {
		sink_wordf(&d->sink, "FD_TO_CLOCKID(%d)", ~(v >> 3));
	} else if (v < 0) {
		sink_wordf(&d->sink, "MAKE_%s_CPUCLOCK(%d, CPUCLOCK_%s)",
			   v & 4 ? "THREAD" : "PROCESS", ~(v >> 3), per_thread[v & 3]);
	} else {
		sink_enum(&d->sink, SET_clockid, (uint64_t)v);
	}
}

/* PERSONALITY's 0xffffffff asks for the current one. */
static void show_persona(struct call_decoder *d, uint32_t v)
{
	if (v == UINT32_MAX)
		sink_word(&d->sink, "0xffffffff");
	else
		sink_flags(&d->sink, SET_personality_flags, v);
}

/* The length of a buffer, or with SYSLOG_ACTION_CONSOLE_LEVEL the level. */
static void show_log_len(struct call_decoder *d, int32_t v)
{
	const char *name = v >= 0 ? flag_set_name(SET_loglevel, (uint64_t)v) : NULL;

	sink_i64(&d->sink, v);
	if ((uint32_t)d->args[0] == 8 && decode_strace(d) && d->opts->constants != CONSTANTS_RAW)
		sink_comment(&d->sink, "%s", name ?: "LOGLEVEL_???");
}

static void show_enum_dec(struct call_decoder *d, enum flag_set_id set, uint32_t v)
{
	if (!decode_strace(d)) {
		sink_enum(&d->sink, set, v);
		return;
	}
	sink_i64(&d->sink, (int32_t)v);
	sink_comment(&d->sink, "%s", flag_set_name(set, v) ?: flag_sets[set].unknown);
}

/* Plain numbers; false: the kind is not one. */
static bool show_plain(struct call_decoder *d, const struct arg_kind *kind, uint64_t v)
{
	struct value_sink *s = &d->sink;
	const bool narrow = d->layout != LAYOUT_64;

	switch ((enum show_as)kind->value) {
	case SHOW_INT:
		sink_i64(s, (int32_t)v);
		return true;
	case SHOW_UINT:
	case SHOW_SOCKLEN:
	case SHOW_FUTEX_VAL:
		sink_u64(s, (uint32_t)v);
		return true;
	case SHOW_USHORT:
		sink_u64(s, (uint16_t)v);
		return true;
	case SHOW_LONG:
	case SHOW_OFF:
		sink_i64(s, narrow && kind->value == SHOW_LONG ? (int32_t)v : (int64_t)v);
		return true;
	case SHOW_OFF64:
		sink_i64(s, (int64_t)v);
		return true;
	case SHOW_ULONG:
	case SHOW_SIZE:
	case SHOW_U64:
		sink_u64(s, v);
		return true;
	case SHOW_HEX:
		sink_hex(s, v);
		return true;
	case SHOW_IFINDEX:
		show_ifindex(d, (uint32_t)v);
		return true;
	case SHOW_TCP_STATES:
		show_tcp_states(d, (uint32_t)v);
		return true;
	case SHOW_HEX32:
		if (sink_is_perf(s)) /* as perf shows flags that it does not know */
			sink_u64(s, (uint32_t)v);
		else
			sink_hex(s, (uint32_t)v);
		return true;
	case SHOW_FUTEX_VAL3:
		sink_hex(s, (uint32_t)v);
		return true;
	case SHOW_PAGES:
		sink_hex(s, v * 4096);
		return true;
	case SHOW_ADDR:
	case SHOW_NEW_ADDR:
	case SHOW_FUTEX_ADDR2:
		sink_addr(s, v);
		return true;
	case SHOW_MODE:
	case SHOW_OPEN_MODE:
		sink_octal(s, (uint16_t)v);
		return true;
	case SHOW_OCTAL64:
		sink_octal(s, v);
		return true;
	case SHOW_PID:
		sink_i64(s, (int32_t)v);
		return true;
	case SHOW_UID:
		if ((uint32_t)v == UINT32_MAX)
			sink_i64(s, -1);
		else
			sink_u64(s, (uint32_t)v);
		return true;
	default:
		return false;
	}
}

/* Names of sets; false: the kind is not one. */
static bool show_named(struct call_decoder *d, const struct arg_kind *kind, uint64_t v)
{
	struct value_sink *s = &d->sink;
	const enum flag_set_id set = (enum flag_set_id)kind->set;

	switch ((enum show_as)kind->value) {
	case SHOW_FLAGS:
		sink_flags(s, set, (uint32_t)v);
		return true;
	case SHOW_FLAGS64:
		sink_flags(s, set, v);
		return true;
	case SHOW_ENUM:
		sink_enum(s, set, (uint32_t)v);
		return true;
	case SHOW_ENUM_DEC:
		show_enum_dec(d, set, (uint32_t)v);
		return true;
	case SHOW_OPEN_FLAGS:
		sink_flags(s, SET_open_flags, (uint32_t)v);
		return true;
	case SHOW_OPEN_FLAGS64:
		sink_flags(s, SET_open_flags, v);
		return true;
	case SHOW_CLONE_FLAGS:
		sink_flags(s, SET_clone_flags, v);
		return true;
	case SHOW_MEMFD_FLAGS:
		sink_flags(s, SET_memfd_flags, (uint32_t)v);
		return true;
	case SHOW_IPC_FLAGS:
		show_ipc_flags(d, set, (uint32_t)v);
		return true;
	case SHOW_IPC_CMD:
		sink_enum(s, set, (uint32_t)v & ~0x100u);
		return true;
	case SHOW_IPC_KEY:
		if (v)
			sink_hex(s, (uint32_t)v);
		else
			sink_constf(s, "IPC_PRIVATE", "0");
		return true;
	case SHOW_CAP_VERSION:
		sink_enum(s, SET_cap_version, (uint32_t)v);
		return true;
	case SHOW_TTY_OFLAG:
		show_tty_oflag(d, (uint32_t)v);
		return true;
	case SHOW_TTY_CFLAG:
		show_tty_cflag(d, (uint32_t)v);
		return true;
	case SHOW_PERSONA:
		show_persona(d, (uint32_t)v);
		return true;
	case SHOW_KEY_SERIAL:
		if (flag_set_name(SET_key_spec, (uint64_t)(int32_t)v))
			sink_constf(s, flag_set_name(SET_key_spec, (uint64_t)(int32_t)v), "%d",
				    (int32_t)v);
		else
			sink_i64(s, (int32_t)v);
		return true;
	default:
		return false;
	}
}

/* A node, or an error: "-ENOENT". */
static void show_status(struct call_decoder *d, int32_t v)
{
	const char *name = v < 0 ? flag_set_name(SET_error, (uint64_t) - (int64_t)v) : NULL;
	char text[32];

	snprintf(text, sizeof(text), "-%s", name ?: "");
	if (name)
		sink_constf(&d->sink, text, "%d", v);
	else
		sink_i64(&d->sink, v);
}

void ioprio_text(const struct call_decoder *d, uint32_t v, struct strbuf *out)
{
	const char *class = flag_set_name(SET_ioprio_class, v >> 13);
	const bool verbose = decode_strace(d) && d->opts->constants == CONSTANTS_VERBOSE;

	strbuf_adds(out, "IOPRIO_PRIO_VALUE(");
	if (class && !verbose)
		strbuf_adds(out, class);
	else
		strbuf_addf(out, "%#x", v >> 13);
	if ((!class || verbose) && !sink_is_perf(&d->sink))
		strbuf_addf(out, " /* %s */", class ?: "IOPRIO_CLASS_???");
	strbuf_addf(out, ", %u)", v & 0x1fff);
}

static void show_ioprio(struct call_decoder *d, uint32_t v)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	ioprio_text(d, v, &text);
	sink_constf(&d->sink, strbuf_str(&text), "%d", (int32_t)v);
}

void show_number(struct call_decoder *d, const struct arg_kind *kind, uint64_t v)
{
	struct value_sink *s = &d->sink;

	if (show_plain(d, kind, v) || show_named(d, kind, v))
		return;
	switch ((enum show_as)kind->value) {
	case SHOW_FD:
		show_fd(d, (int)v);
		break;
	case SHOW_UFD:
		if ((int)v < 0)
			sink_u64(s, (uint32_t)v);
		else
			show_fd(d, (int)v);
		break;
	case SHOW_DIRFD:
		show_dirfd(d, (int)v);
		break;
	case SHOW_SIG:
		show_signal(d, (int)v);
		break;
	case SHOW_DEV:
	case SHOW_MKNOD_DEV:
		show_dev(d, (uint32_t)v);
		break;
	case SHOW_CLOCKID:
		show_clockid(d, (int)v);
		break;
	case SHOW_MODET:
		show_file_mode(d, (uint16_t)v);
		break;
	case SHOW_RLIM:
	case SHOW_RLIM64:
		show_rlim(d, v, kind->value == SHOW_RLIM64);
		break;
	case SHOW_IOPRIO:
		show_ioprio(d, (uint32_t)v);
		break;
	case SHOW_TICKS:
		sink_u64(s, v);
		if (v && decode_strace(d) && d->opts->constants != CONSTANTS_RAW)
			sink_comment(s, "%" PRIu64 ".%02" PRIu64 " s", v / 100, v % 100);
		break;
	case SHOW_DATE:
		sink_i64(s, (int64_t)v);
		show_date(d, (int64_t)v, 0);
		break;
	case SHOW_STATUS:
		show_status(d, (int32_t)v);
		break;
	case SHOW_LOG_LEN:
		show_log_len(d, (int32_t)v);
		break;
	case SHOW_WAIT_STATUS:
		show_wait_status(d, (uint32_t)v);
		break;
	case SHOW_BTF:
		show_btf(d, kind->btf_type, &v, sizeof(v));
		break;
	default:
		sink_hex(s, v);
	}
}

void show_number_at(struct call_decoder *d, const struct arg_kind *kind, const void *p,
		    uint32_t size, bool is_signed)
{
	show_number(d, kind, is_signed ? (uint64_t)value_int(p, size) : value_uint(p, size));
}
