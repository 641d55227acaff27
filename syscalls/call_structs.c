// SPDX-License-Identifier: BSD-2-Clause
/*
 * Structs that pointers point to. Most are rows of syscalls/structs.in; here are also those whose
 * members are shown in another order than they lie in memory, or only some of them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "syscalls/call_decode.h"

static void show_chars(struct call_decoder *d, const uint8_t *p, size_t len)
{
	sink_string(&d->sink, p, strnlen((const char *)p, len),
		    strnlen((const char *)p, len) == len);
}

void show_mac(struct call_decoder *d, const uint8_t *p, size_t len)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < len; i++)
		strbuf_addf(&text, "%s%02x", i ? ":" : "", p[i]);
	sink_word(&d->sink, strbuf_str(&text));
}

static void show_member(struct call_decoder *d, const struct call_member *m, const uint8_t *p)
{
	const uint32_t size = m->at[d->layout].size, n = m->at[d->layout].n;

	if (m->kind.value == SHOW_CHARS) {
		show_chars(d, p, n);
		return;
	}
	if (m->kind.value == SHOW_SOCKADDR) {
		show_sockaddr(d, p, n);
		return;
	}
	if (m->kind.value == SHOW_MAC) {
		show_mac(d, p, n);
		return;
	}
	if (m->kind.value == SHOW_TTY_CC) {
		show_tty_cc(d, p, n);
		return;
	}
	if (!m->is_array) {
		if (m->kind.value == SHOW_STRUCT || m->kind.value == SHOW_EPOLL_DATA)
			show_element(d, &m->kind, p, size);
		else
			show_number_at(d, &m->kind, p, size, m->is_signed);
		return;
	}
	sink_array(&d->sink);
	for (uint32_t i = 0; i < n; i++) {
		sink_item(&d->sink);
		show_number_at(d, &m->kind, p + (size_t)i * size, size, m->is_signed);
	}
	sink_end_array(&d->sink);
}

void show_call_struct(struct call_decoder *d, const struct call_struct *s, const uint8_t *p)
{
	show_call_struct_of(d, s, p, UINT32_MAX);
}

void show_call_struct_of(struct call_decoder *d, const struct call_struct *s, const uint8_t *p,
			 uint32_t size)
{
	sink_struct(&d->sink);
	for (int i = 0; i < s->n; i++) {
		const struct call_member *m = &s->members[i];

		if ((uint32_t)m->at[d->layout].off + m->at[d->layout].size * m->at[d->layout].n >
		    size)
			continue;
		/* text has what poll(2) wrote with the result */
		if (m->hidden && !(d->sink.w && !strcmp(m->name, "revents")))
			continue;
		if (m->rest && !d->opts->full && !d->sink.w) {
			sink_more(&d->sink);
			break;
		}
		sink_member(&d->sink, m->name);
		show_member(d, m, p + m->at[d->layout].off);
	}
	sink_end_struct(&d->sink);
}

/* A descriptor below 0 has no events. */
static void show_pollfd(struct call_decoder *d, const struct call_struct *s, const uint8_t *p)
{
	if (!decode_strace(d) || value_int(p, 4) >= 0) {
		show_call_struct(d, s, p);
		return;
	}
	sink_struct(&d->sink);
	sink_member(&d->sink, "fd");
	show_fd(d, (int)value_int(p, 4));
	sink_end_struct(&d->sink);
}

/* The times that utimensat(2) gives a meaning of their own. */
static void show_utime(struct call_decoder *d, const struct call_struct *s, const uint8_t *p)
{
	const int64_t nsec = value_int(p + s->size[d->layout] / 2, s->size[d->layout] / 2);
	const char *name = nsec == UTIME_NOW	? "UTIME_NOW"
			   : nsec == UTIME_OMIT ? "UTIME_OMIT"
						: NULL;

	if (name && (!decode_strace(d) || d->opts->constants == CONSTANTS_NAMED)) {
		sink_word(&d->sink, name);
		return;
	}
	show_call_struct(d, s, p);
	if (!name)
		show_date(d, value_int(p, s->size[d->layout] / 2), (uint64_t)nsec);
	else if (d->opts->constants == CONSTANTS_VERBOSE)
		sink_comment(&d->sink, "%s", name);
}

/* With the date, to the microsecond. */
static void show_timeval_date(struct call_decoder *d, const struct call_struct *s, const uint8_t *p)
{
	const uint32_t word = s->size[d->layout] / 2;
	const int64_t sec = value_int(p, word);
	const uint64_t usec = value_uint(p + word, word);
	char text[96];

	show_call_struct(d, s, p);
	if (!decode_strace(d) || usec > 999999 || !date_text(sec, 0, text, sizeof(text)))
		return;
	if (usec && strlen(text) > 19)
		sink_comment(&d->sink, "%.19s.%06" PRIu64 "%s", text, usec, text + 19);
	else
		sink_comment(&d->sink, "%s", text);
}

static void add_stat_time(struct call_decoder *d, const char *name, const char *nsec_name,
			  int64_t sec, uint64_t nsec)
{
	sink_member(&d->sink, name);
	sink_i64(&d->sink, sec);
	show_date(d, sec, nsec);
	if (nsec || d->sink.w) {
		sink_member(&d->sink, nsec_name);
		sink_u64(&d->sink, nsec);
	}
}

static void member_u64(struct call_decoder *d, const char *name, uint64_t v)
{
	sink_member(&d->sink, name);
	sink_u64(&d->sink, v);
}

/* The kernel's struct stat of 64-bit programs is that of the C library. */
static void show_stat(struct call_decoder *d, const uint8_t *p)
{
	struct value_sink *s = &d->sink;
	const bool full = d->opts->full || s->w;
	struct stat st;

	memcpy(&st, p, sizeof(st));
	sink_struct(s);
	if (full) {
		sink_member(s, "st_dev");
		show_dev(d, st.st_dev);
		member_u64(d, "st_ino", st.st_ino);
	}
	sink_member(s, "st_mode");
	show_file_mode(d, st.st_mode);
	if (full) {
		member_u64(d, "st_nlink", st.st_nlink);
		member_u64(d, "st_uid", st.st_uid);
		member_u64(d, "st_gid", st.st_gid);
		member_u64(d, "st_blksize", (uint64_t)st.st_blksize);
		member_u64(d, "st_blocks", (uint64_t)st.st_blocks);
	}
	if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)) {
		sink_member(s, "st_rdev");
		show_dev(d, st.st_rdev);
	} else {
		member_u64(d, "st_size", (uint64_t)st.st_size);
	}
	if (full) {
		add_stat_time(d, "st_atime", "st_atime_nsec", st.st_atim.tv_sec,
			      (uint64_t)st.st_atim.tv_nsec);
		add_stat_time(d, "st_mtime", "st_mtime_nsec", st.st_mtim.tv_sec,
			      (uint64_t)st.st_mtim.tv_nsec);
		add_stat_time(d, "st_ctime", "st_ctime_nsec", st.st_ctim.tv_sec,
			      (uint64_t)st.st_ctim.tv_nsec);
	} else {
		sink_more(s);
	}
	sink_end_struct(s);
}

enum statx_offset {
	STX_MASK = 0,
	STX_BLKSIZE = 4,
	STX_ATTRIBUTES = 8,
	STX_NLINK = 16,
	STX_UID = 20,
	STX_GID = 24,
	STX_MODE = 28,
	STX_INO = 32,
	STX_SIZE = 40,
	STX_BLOCKS = 48,
	STX_ATTRIBUTES_MASK = 56,
	STX_TIMES = 64, /* atime, btime, ctime, mtime: 16 bytes each */
	STX_RDEV = 128,
	STX_DEV = 136,
	STX_MNT_ID = 144,
};

static void show_statx(struct call_decoder *d, const uint8_t *p)
{
	static const char *const times[] = {"stx_atime", "stx_btime", "stx_ctime", "stx_mtime"};
	static const uint32_t time_bits[] = {0x20, 0x800, 0x80, 0x40};
	struct value_sink *s = &d->sink;
	const bool full = d->opts->full || s->w;
	const uint32_t mask = (uint32_t)value_uint(p + STX_MASK, 4);

	sink_struct(s);
	sink_member(s, "stx_mask");
	sink_flags(s, SET_statx_mask, mask);
	if (full)
		member_u64(d, "stx_blksize", value_uint(p + STX_BLKSIZE, 4));
	sink_member(s, "stx_attributes");
	sink_flags(s, SET_statx_attr, value_uint(p + STX_ATTRIBUTES, 8));
	if (full) {
		member_u64(d, "stx_nlink", value_uint(p + STX_NLINK, 4));
		member_u64(d, "stx_uid", value_uint(p + STX_UID, 4));
		member_u64(d, "stx_gid", value_uint(p + STX_GID, 4));
	}
	sink_member(s, "stx_mode");
	show_file_mode(d, (uint32_t)value_uint(p + STX_MODE, 2));
	if (full)
		member_u64(d, "stx_ino", value_uint(p + STX_INO, 8));
	member_u64(d, "stx_size", value_uint(p + STX_SIZE, 8));
	if (!full) {
		sink_more(s);
		sink_end_struct(s);
		return;
	}
	member_u64(d, "stx_blocks", value_uint(p + STX_BLOCKS, 8));
	sink_member(s, "stx_attributes_mask");
	sink_flags(s, SET_statx_attr, value_uint(p + STX_ATTRIBUTES_MASK, 8));
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		const uint8_t *t = p + STX_TIMES + 16 * i;

		if (!(mask & time_bits[i]))
			continue;
		sink_member(s, times[i]);
		sink_struct(s);
		sink_member(s, "tv_sec");
		sink_i64(s, value_int(t, 8));
		member_u64(d, "tv_nsec", value_uint(t + 8, 4));
		sink_end_struct(s);
		show_date(d, value_int(t, 8), value_uint(t + 8, 4));
	}
	member_u64(d, "stx_rdev_major", value_uint(p + STX_RDEV, 4));
	member_u64(d, "stx_rdev_minor", value_uint(p + STX_RDEV + 4, 4));
	member_u64(d, "stx_dev_major", value_uint(p + STX_DEV, 4));
	member_u64(d, "stx_dev_minor", value_uint(p + STX_DEV + 4, 4));
	if (mask & 0x1000)
		member_u64(d, "stx_mnt_id", value_uint(p + STX_MNT_ID, 8));
	sink_end_struct(s);
}

/* struct statfs of 64-bit programs: eleven words and spare ones. */
static void show_statfs(struct call_decoder *d, const uint8_t *p)
{
	static const char *const names[] = {"f_bsize",	"f_blocks", "f_bfree",
					    "f_bavail", "f_files",  "f_ffree"};
	struct value_sink *s = &d->sink;

	sink_struct(s);
	sink_member(s, "f_type");
	sink_enum(s, SET_fs_type, value_uint(p, 8));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		member_u64(d, names[i], value_uint(p + 8 + 8 * i, 8));
	sink_member(s, "f_fsid");
	sink_struct(s);
	sink_member(s, "val");
	sink_array(s);
	for (int i = 0; i < 2; i++) {
		sink_item(s);
		sink_hex(s, value_uint(p + 56 + 4 * i, 4));
	}
	sink_end_array(s);
	sink_end_struct(s);
	member_u64(d, "f_namelen", value_uint(p + 64, 8));
	member_u64(d, "f_frsize", value_uint(p + 72, 8));
	const uint64_t flags = value_uint(p + 80, 8);
	if (flags & 0x20) { /* ST_VALID */
		sink_member(s, "f_flags");
		sink_flags(s, SET_statfs_flags, flags);
	}
	sink_end_struct(s);
}

static void show_sigaction(struct call_decoder *d, const uint8_t *p)
{
	static const char *const handlers[] = {"SIG_DFL", "SIG_IGN"};
	struct value_sink *s = &d->sink;
	const uint32_t word = d->layout == LAYOUT_64 ? 8 : 4;
	const uint64_t handler = value_uint(p, word), flags = value_uint(p + word, word);

	sink_struct(s);
	sink_member(s, "sa_handler");
	if (handler < ARRAY_SIZE(handlers))
		sink_word(s, handlers[handler]);
	else
		sink_addr(s, handler);
	sink_member(s, "sa_mask");
	show_sigset(d, p + 3 * word, 8);
	sink_member(s, "sa_flags");
	sink_flags(s, SET_sa_flags, flags);
	if (flags & 0x4000000) { /* SA_RESTORER */
		sink_member(s, "sa_restorer");
		sink_addr(s, value_uint(p + 2 * word, word));
	}
	sink_end_struct(s);
}

static void show_sigevent(struct call_decoder *d, const uint8_t *p)
{
	struct value_sink *s = &d->sink;
	const uint32_t word = d->layout == LAYOUT_64 ? 8 : 4;
	const uint32_t notify = (uint32_t)value_uint(p + word + 4, 4);

	sink_struct(s);
	if (value_uint(p, word)) {
		sink_member(s, "sigev_value");
		sink_struct(s);
		sink_member(s, "sival_int");
		sink_i64(s, value_int(p, 4));
		sink_member(s, "sival_ptr");
		sink_addr(s, value_uint(p, word));
		sink_end_struct(s);
	}
	sink_member(s, "sigev_signo");
	if (notify == 0 || notify == 4) /* SIGEV_SIGNAL, SIGEV_THREAD_ID */
		show_signal(d, (int)value_int(p + word, 4));
	else
		sink_u64(s, value_uint(p + word, 4));
	sink_member(s, "sigev_notify");
	sink_enum(s, SET_sigev_notify, notify);
	if (notify == 4) { /* SIGEV_THREAD_ID */
		sink_member(s, "sigev_notify_thread_id");
		sink_i64(s, value_int(p + word + 8, 4));
	}
	sink_end_struct(s);
}

/* As many descriptors as the call's first argument says. */
static void show_fd_set(struct call_decoder *d, const uint8_t *p, size_t len)
{
	const size_t limit = len * 8;
	const size_t all = (int32_t)d->args[0] < 0 ? 0 : (size_t)(uint32_t)d->args[0];
	const size_t n = all < limit ? all : limit;

	if (d->sink.w) {
		sink_array(&d->sink);
		for (size_t fd = 0; fd < n; fd++)
			if (p[fd / 8] >> fd % 8 & 1)
				sink_u64(&d->sink, fd);
		if (n < all)
			sink_more(&d->sink);
		sink_end_array(&d->sink);
		return;
	}
	const size_t start = d->sink.out->len;
	strbuf_addch(d->sink.out, '[');
	for (size_t fd = 0; fd < n; fd++)
		if (p[fd / 8] >> fd % 8 & 1) {
			if (d->sink.out->len > start + 1)
				strbuf_addch(d->sink.out, ' ');
			show_fd(d, (int)fd);
		}
	if (n < all)
		strbuf_adds(d->sink.out, d->sink.out->len > start + 1 ? " ..." : "...");
	strbuf_addch(d->sink.out, ']');
}

static void show_epoll_data(struct call_decoder *d, const uint8_t *p)
{
	sink_struct(&d->sink);
	member_u64(d, "u32", value_uint(p, 4));
	member_u64(d, "u64", value_uint(p, 8));
	sink_end_struct(&d->sink);
}

/* A pointer to signals, and their size: the last argument of pselect6(2). */
static void show_sigmask_arg(struct call_decoder *d, const struct call_struct *s, const uint8_t *p)
{
	enum { ARG = 5, SIGSET = 8 };
	const uint32_t word = s->size[d->layout] / 2;
	const unsigned at = decode_part(d, 0, ARG, false, TRACE_PART_POINTED, 0);

	if (at == d->n_pieces || d->pieces[at]->len < SIGSET ||
	    value_uint(p + word, word) != SIGSET) {
		show_call_struct(d, s, p);
		return;
	}
	sink_struct(&d->sink);
	sink_member(&d->sink, "sigmask");
	show_sigset(d, d->pieces[at]->data, SIGSET);
	member_u64(d, "sigsetsize", SIGSET);
	sink_end_struct(&d->sink);
}

bool show_element(struct call_decoder *d, const struct arg_kind *kind, const uint8_t *p, size_t len)
{
	const uint32_t size = arg_kind_size(kind, d->layout);
	const bool is_64 = d->layout == LAYOUT_64 && sizeof(long) == 8;

	if (kind->value == SHOW_EPOLL_DATA) {
		show_epoll_data(d, p); /* a member: its struct's size was checked */
		return true;
	}
	if (kind->value == SHOW_FD_SET) {
		show_fd_set(d, p, len);
		return true;
	}
	if (!size || len < size)
		return false;
	switch ((enum show_as)kind->value) {
	case SHOW_STRUCT:
		if (!strcmp(call_structs[kind->type].name, "timespec_utime"))
			show_utime(d, &call_structs[kind->type], p);
		else if (!strcmp(call_structs[kind->type].name, "timeval_utime"))
			show_timeval_date(d, &call_structs[kind->type], p);
		else if (!strcmp(call_structs[kind->type].name, "pollfd"))
			show_pollfd(d, &call_structs[kind->type], p);
		else if (!strcmp(call_structs[kind->type].name, "sigmask_arg"))
			show_sigmask_arg(d, &call_structs[kind->type], p);
		else
			show_call_struct(d, &call_structs[kind->type], p);
		return true;
	case SHOW_STAT:
		if (!is_64)
			return false;
		show_stat(d, p);
		return true;
	case SHOW_STATX:
		show_statx(d, p);
		return true;
	case SHOW_STATFS:
		if (!is_64)
			return false;
		show_statfs(d, p);
		return true;
	case SHOW_SIGSET:
	case SHOW_OLD_SIGSET:
		show_sigset(d, p, size);
		return true;
	case SHOW_SIGACTION:
		show_sigaction(d, p);
		return true;
	case SHOW_SIGINFO:
		show_siginfo(d, p);
		return true;
	case SHOW_SIGEVENT:
		show_sigevent(d, p);
		return true;
	case SHOW_BTF:
		show_btf(d, kind->btf_type, p, len);
		return true;
	default:
		show_number_at(d, kind, p, size,
			       kind->value == SHOW_INT || kind->value == SHOW_FD ||
				       kind->value == SHOW_PID || kind->value == SHOW_LONG ||
				       kind->value == SHOW_DATE);
		return true;
	}
}

/* "1<<CAP_KILL|1<<CAP_SETUID" */
static void show_capabilities(struct call_decoder *d, const char *member, uint64_t set)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint64_t unknown = 0;

	sink_member(&d->sink, member);
	for (unsigned i = 0; i < 64; i++) {
		const char *name = set >> i & 1 ? flag_set_name(SET_capability, i) : NULL;

		if (name)
			strbuf_addf(&text, "%s1<<%s", text.len ? "|" : "", name);
		else
			unknown |= set & 1ull << i;
	}
	if (!text.len) {
		sink_hex(&d->sink, set);
		if (set && decode_strace(d) && d->opts->constants != CONSTANTS_RAW)
			sink_comment(&d->sink, "%s", flag_sets[SET_capability].unknown);
		return;
	}
	if (unknown)
		strbuf_addf(&text, "|%#" PRIx64, unknown);
	sink_constf(&d->sink, strbuf_str(&text), "%#" PRIx64, set);
}

/* Versions after the first have two structs: with the lower and the upper halves of the sets. */
void show_cap_data(struct call_decoder *d, int arg, const struct arg_kind *kind)
{
	enum { VERSION_1 = 0x19980330, HALF = 12 };
	static const char *const names[] = {"effective", "permitted", "inheritable"};
	const struct trace_piece *head = decode_piece(d, 0, false);
	const struct trace_piece *piece = decode_shown_piece(d, arg, kind);
	const bool wide = head && head->len >= 4 && value_uint(head->data, 4) != VERSION_1;

	if (!d->args[arg] || !piece || piece->len < (wide ? 2 * HALF : HALF)) {
		sink_addr(&d->sink, d->args[arg]);
		return;
	}
	sink_struct(&d->sink);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		show_capabilities(d, names[i],
				  value_uint(piece->data + 4 * i, 4) |
					  (wide ? value_uint(piece->data + HALF + 4 * i, 4) << 32
						: 0));
	sink_end_struct(&d->sink);
}

static bool is_number(const struct arg_kind *kind)
{
	return kind->value < SHOW_STRUCT;
}

/* What nanosleep(2) had left: only if a signal ended it. */
static bool is_left(const struct call_decoder *d, const struct arg_kind *kind)
{
	enum { EINTR_CODE = 4, RESTART_CODE = 516 };

	return kind->value != SHOW_STRUCT ||
	       strcmp(call_structs[kind->type].name, "timespec_rem") ||
	       d->rec->ret == -EINTR_CODE || d->rec->ret == -RESTART_CODE;
}

static void show_elements(struct call_decoder *d, const struct arg_kind *kind,
			  const struct trace_piece *piece, uint64_t addr)
{
	const uint32_t size = arg_kind_size(kind, d->layout);
	const uint64_t n = decode_count(d, kind);
	const uint64_t there = size ? piece->len / size : 0;
	const uint64_t shown = n < there ? n : there;

	sink_array(&d->sink);
	for (uint64_t i = 0; i < shown; i++) {
		if (i == decode_max_items(d)) {
			sink_more(&d->sink);
			break;
		}
		sink_item(&d->sink);
		show_element(d, kind, piece->data + i * size, size);
	}
	if (shown < n && shown <= decode_max_items(d)) {
		sink_more(&d->sink);
		if (piece->flags & TRACE_PIECE_FAULT)
			sink_comment(&d->sink, "%#" PRIx64, addr + shown * size);
	}
	sink_end_array(&d->sink);
}

/* The bytes of the call's sigset_t by its argument of that name; 0: it is not one. */
static uint32_t sigset_size(const struct call_decoder *d)
{
	const bool any = decode_is(d, "rt_sigpending");

	for (int i = 0; i < d->n_args; i++) {
		const char *name = d->call->args[i].name;

		if (!name || (strcmp(name, "sigsetsize") != 0 && strcmp(name, "sizemask") != 0 &&
			      strcmp(name, "argsz") != 0))
			continue;
		const uint64_t size = d->args[i];

		return size <= 8 && (size == 8 || any) ? (uint32_t)size : 0;
	}
	return 8;
}

/* Memory that the kernel does not look at. */
static bool is_not_used(const struct call_decoder *d, int arg)
{
	enum { CTL_DEL = 2 };

	if (decode_is(d, "epoll_ctl"))
		return (uint32_t)d->args[1] == CTL_DEL;
	if (decode_is(d, "setgroups"))
		return (int32_t)d->args[0] > 65536; /* NGROUPS_MAX */
	/* it refuses all flags first; strace shows the attribute nevertheless */
	if (decode_is(d, "landlock_add_rule"))
		return sink_is_perf(&d->sink) && d->args[3];
	return decode_is(d, "wait4") && arg == 3 && d->rec->ret <= 0;
}

/* "[0] => [512]" */
static void show_moved_offset(struct call_decoder *d, int arg, const struct trace_piece *shown)
{
	const struct trace_piece *before = decode_piece(d, arg, false);

	if (before && before != shown && before->len >= 8 && d->rec->ret > 0)
		sink_wordf(&d->sink, "[%" PRIu64 "] => [%" PRIu64 "]", value_uint(before->data, 8),
			   value_uint(shown->data, 8));
	else
		sink_wordf(&d->sink, "[%" PRIu64 "]", value_uint(shown->data, 8));
}

void show_pointer(struct call_decoder *d, int arg, const struct arg_kind *kind)
{
	const uint64_t addr = d->args[arg];
	const struct trace_piece *piece = decode_shown_piece(d, arg, kind);
	const bool is_array = kind->count_by != COUNT_NONE && kind->value != SHOW_FD_SET;
	const bool is_sigset = kind->value == SHOW_SIGSET;
	uint32_t size = arg_kind_size(kind, d->layout);
	const bool is_written = kind->direction == ARG_WRITTEN;

	if (kind->count_by == COUNT_FIXED)
		size *= kind->count;
	if (is_sigset)
		size = sigset_size(d);
	if (kind->value == SHOW_FD_SET) /* all that was copied of it, if that could be read */
		size = !(uint32_t)d->args[0]			   ? 0
		       : piece && piece->flags & TRACE_PIECE_FAULT ? UINT32_MAX
								   : 8;
	if (!addr) {
		sink_addr(&d->sink, 0);
	} else if (is_array && !decode_count(d, kind) &&
		   !(is_written && (d->failed || !d->ended))) {
		sink_array(&d->sink);
		sink_end_array(&d->sink);
	} else if (!piece || !size || piece->len < size || !is_left(d, kind) ||
		   is_not_used(d, arg)) {
		sink_addr(&d->sink, addr);
	} else if (decode_strace(d) && decode_is(d, "rt_sigreturn")) {
		strbuf_adds(d->sink.out, "{mask=");
		show_sigset(d, piece->data, size);
		strbuf_addch(d->sink.out, '}');
	} else if (is_sigset) {
		show_sigset(d, piece->data, size);
	} else if (decode_strace(d) && decode_is(d, "sendfile")) {
		show_moved_offset(d, arg, piece);
	} else if (is_array) {
		show_elements(d, kind, piece, addr);
	} else if (is_number(kind)) {
		if (kind->value == SHOW_WAIT_STATUS && d->rec->ret <= 0) {
			sink_addr(&d->sink, addr);
			return;
		}
		sink_array(&d->sink);
		sink_item(&d->sink);
		show_element(d, kind, piece->data, piece->len);
		sink_end_array(&d->sink);
	} else if (!show_element(d, kind, piece->data, piece->len)) {
		sink_addr(&d->sink, addr);
	}
}
