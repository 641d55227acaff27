// SPDX-License-Identifier: BSD-2-Clause
/* System calls as text: records made by hand, and what strace and perf trace print of them. */
#include <bpf/btf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "syscalls/call_text.h"

/* A record under construction; its pieces follow the arguments. */
struct test_record {
	union {
		struct trace_record rec;
		uint8_t bytes[4096];
	};
};

static struct call_table *table;

static int setup(void **state)
{
	const struct call_table_opts opts = {.sz = sizeof(opts)};

	assert_null(call_table_new(&opts, &table));
	return 0;
}

static int teardown(void **state)
{
	call_table_free(table);
	return 0;
}

static struct test_record record(uint16_t nr, int64_t ret, uint8_t n, const uint64_t *args)
{
	struct test_record r = {0};

	r.rec = (struct trace_record){.nr = nr, .ret = ret, .n_args = n, .pid = 1, .tid = 1};
	memcpy(r.rec.args, args, n * sizeof(*args));
	r.rec.size = (uint32_t)(sizeof(r.rec) + n * sizeof(*args));
	return r;
}
#define RECORD(name, ret, ...)                                                                     \
	record(SYS_##name, ret, ARRAY_SIZE(((const uint64_t[]){__VA_ARGS__})),                     \
	       (const uint64_t[]){__VA_ARGS__})

static void add_piece(struct test_record *r, uint8_t arg, bool at_exit, uint8_t flags,
		      const void *data, uint32_t len)
{
	struct trace_piece piece = {.arg = arg, .exit = at_exit, .flags = flags, .len = len};

	const struct call *call = call_by_nr(table, TRACE_ABI_NATIVE, r->rec.nr);

	for (uint8_t i = 0; call && i < call->copies.n_copies; i++)
		if (call->copies.copies[i].arg == arg &&
		    !(call->copies.copies[i].flags & TRACE_COPY_AT_EXIT) == !at_exit)
			piece.copy = i;
	piece.addr = r->rec.args[arg];
	assert_true(r->rec.size + sizeof(piece) + len + 8 <= sizeof(r->bytes));
	memcpy(r->bytes + r->rec.size, &piece, sizeof(piece));
	memcpy(r->bytes + r->rec.size + sizeof(piece), data, len);
	r->rec.size += (uint32_t)(sizeof(piece) + ((len + 7) & ~7u));
	r->rec.n_pieces++;
}

static void add_text(struct test_record *r, uint8_t arg, const char *text)
{
	add_piece(r, arg, false, 0, text, (uint32_t)strlen(text) + 1);
}

static void check(const struct test_record *r, enum call_style style, const char *want)
{
	const struct call_text_opts opts = {.style = style};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	assert_null(call_text_add(&out, table, &r->rec, &opts));
	assert_string_equal(strbuf_str(&out), want);
}

static void check_strace(const struct test_record *r, const char *want)
{
	check(r, CALL_STYLE_STRACE, want);
}

static void check_json(const struct test_record *r, const char *want)
{
	const struct call_text_opts opts = {0};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct json_writer w = json_writer_make(&out);

	jw_object(&w, NULL);
	assert_null(call_json_add(&w, table, &r->rec, &opts));
	jw_end(&w);
	json_writer_finish(&w);
	assert_string_equal(strbuf_str(&out), want);
}

static void test_open(void **state)
{
	struct test_record r = RECORD(openat, 3, (uint64_t)-100, 0x1000, 02000000, 0);

	add_text(&r, 1, "/etc/passwd");
	check_strace(&r, "openat(AT_FDCWD, \"/etc/passwd\", O_RDONLY|O_CLOEXEC) = 3");
	check(&r, CALL_STYLE_PERF,
	      "openat(dfd: CWD, filename: \"/etc/passwd\", flags: RDONLY|CLOEXEC) = 3");
	check_json(&r, "{\"syscall\":\"openat\",\"args\":{\"dfd\":\"AT_FDCWD\",\"filename\":"
		       "\"/etc/passwd\",\"flags\":\"O_RDONLY|O_CLOEXEC\"},\"ret\":3}");
	r = RECORD(openat, -2, (uint64_t)-100, 0, 01101, 0644);
	check_strace(&r, "openat(AT_FDCWD, NULL, O_WRONLY|O_CREAT|O_TRUNC, 0644) = "
			 "-1 ENOENT (No such file or directory)");
	check_json(&r, "{\"syscall\":\"openat\",\"args\":{\"dfd\":\"AT_FDCWD\",\"filename\":null,"
		       "\"flags\":\"O_WRONLY|O_CREAT|O_TRUNC\",\"mode\":\"0644\"},\"ret\":-2,"
		       "\"error\":\"ENOENT\"}");
	r = RECORD(openat, 3, 5, 0x1000, 0x80000001, 0);
	check_strace(&r, "openat(5, 0x1000, O_WRONLY|0x80000000) = 3");
}

static void check_constants(const struct test_record *r, enum call_constants constants,
			    const char *want)
{
	const struct call_text_opts opts = {.style = CALL_STYLE_STRACE, .constants = constants};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	assert_null(call_text_add(&out, table, &r->rec, &opts));
	assert_string_equal(strbuf_str(&out), want);
}

static void test_constants(void **state)
{
	struct test_record r = RECORD(openat, 3, (uint64_t)-100, 0, 0101, 0644);

	check_constants(&r, CONSTANTS_RAW, "openat(-100, NULL, 0x41, 0644) = 3");
	check_constants(&r, CONSTANTS_VERBOSE,
			"openat(-100 /* AT_FDCWD */, NULL, 0x41 /* O_WRONLY|O_CREAT */, 0644) = 3");
	r = RECORD(kill, 0, 7, 15);
	check_constants(&r, CONSTANTS_RAW, "kill(7, 15) = 0");
	check_constants(&r, CONSTANTS_VERBOSE, "kill(7, 15 /* SIGTERM */) = 0");
	r = RECORD(lseek, -22, 1, 0, 77);
	check_constants(&r, CONSTANTS_RAW, "lseek(1, 0, 0x4d) = -1 EINVAL (Invalid argument)");
	check_constants(&r, CONSTANTS_VERBOSE,
			"lseek(1, 0, 0x4d /* SEEK_??? */) = -1 EINVAL (Invalid argument)");
}

static void test_strings(void **state)
{
	struct test_record r = RECORD(write, 14, 1, 0x1000, 14);

	add_piece(&r, 1, false, 0, "a\"\\\n\t\033[1\0012\0xyz", 14);
	check_strace(&r, "write(1, \"a\\\"\\\\\\n\\t\\33[1\\0012\\0xyz\", 14) = 14");
	r = RECORD(write, 100, 1, 0x1000, 100);
	add_piece(&r, 1, false, TRACE_PIECE_CUT, "0123", 4);
	check_strace(&r, "write(1, \"0123\"..., 100) = 100");
	r = RECORD(read, 0, 1, 0x1000, 100);
	check_strace(&r, "read(1, \"\", 100) = 0");
	r = RECORD(read, -11, 1, 0x1000, 100);
	check_strace(&r, "read(1, 0x1000, 100) = -1 EAGAIN (Resource temporarily unavailable)");
	r = RECORD(read, -512, 1, 0x1000, 100);
	check_strace(&r,
		     "read(1, 0x1000, 100) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)");
}

static void test_structs(void **state)
{
	const int64_t time[] = {1, 500};
	const uint64_t limits[] = {8192 * 1024, UINT64_MAX};
	const uint64_t action[] = {1, 0x4000000, 0x7000, 0x10001};
	const uint8_t polled[] = {3, 0, 0, 0, 1, 0, 1, 0};
	const uint32_t status = 9, exited = 3 << 8;
	struct test_record r = RECORD(clock_nanosleep, 0, 1, 1, 0x1000, 0x2000);

	add_piece(&r, 2, false, 0, time, 16);
	check_strace(&r, "clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, {tv_sec=1, tv_nsec=500}, "
			 "0x2000) = 0");
	check(&r, CALL_STYLE_PERF,
	      "clock_nanosleep(which_clock: MONOTONIC, flags: ABSTIME, rqtp: { .tv_sec: 1, "
	      ".tv_nsec: 500 }, rmtp: 0x2000) = 0");
	r = RECORD(setrlimit, 0, 3, 0x1000);
	add_piece(&r, 1, false, 0, limits, 16);
	check_strace(&r,
		     "setrlimit(RLIMIT_STACK, {rlim_cur=8192*1024, rlim_max=RLIM64_INFINITY}) = 0");
	r = RECORD(rt_sigaction, 0, 2, 0x1000, 0, 8);
	add_piece(&r, 1, false, 0, action, 32);
	check_strace(&r, "rt_sigaction(SIGINT, {sa_handler=SIG_IGN, sa_mask=[HUP CHLD], "
			 "sa_flags=SA_RESTORER, sa_restorer=0x7000}, NULL, 8) = 0");
	r = RECORD(wait4, 77, (uint64_t)-1, 0x1000, 0, 0);
	add_piece(&r, 1, true, 0, &status, 4);
	check_strace(&r, "wait4(-1, [{WIFSIGNALED(s) && WTERMSIG(s) == SIGKILL}], 0, NULL) = 77");
	r = RECORD(wait4, 77, (uint64_t)-1, 0x1000, 1, 0);
	add_piece(&r, 1, true, 0, &exited, 4);
	check_strace(&r, "wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 3}], WNOHANG, NULL) = 77");
	r = RECORD(ppoll, 1, 0x1000, 1, 0, 0, 8);
	add_piece(&r, 0, false, 0, polled, 8);
	add_piece(&r, 0, true, 0, polled, 8);
	r.rec.n_pieces = 2;
	((struct trace_piece *)(r.bytes + sizeof(r.rec) + 40 + sizeof(struct trace_piece) + 8))
		->copy = 3;
	check_strace(&r, "ppoll([{fd=3, events=POLLIN}], 1, NULL, NULL, 8) = 1 "
			 "([{fd=3, revents=POLLIN}])");
}

static void test_sockets(void **state)
{
	const uint8_t inet[] = {2, 0, 0, 80, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0};
	struct test_record r = RECORD(connect, -111, 3, 0x1000, 16);

	add_piece(&r, 1, false, 0, inet, 16);
	check_strace(&r, "connect(3, {sa_family=AF_INET, sin_port=htons(80), "
			 "sin_addr=inet_addr(\"127.0.0.1\")}, 16) = "
			 "-1 ECONNREFUSED (Connection refused)");
	r = RECORD(connect, 0, 3, 0x1000, 6);
	add_piece(&r, 1, false, 0, "\1\0\0abc", 6);
	check_strace(&r, "connect(3, {sa_family=AF_UNIX, sun_path=@\"abc\"}, 6) = 0");
	r = RECORD(socket, 3, 2, 02000001, 6);
	check_strace(&r, "socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_TCP) = 3");
	check(&r, CALL_STYLE_PERF, "socket(family: INET, type: STREAM|CLOEXEC, protocol: TCP) = 3");
}

static void test_flags(void **state)
{
	struct test_record r = RECORD(mmap, 0x7f0000000000, 0, 4096, 3, 0x22, (uint64_t)-1, 0);

	check_strace(&r, "mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)"
			 " = 0x7f0000000000");
#ifdef __aarch64__ /* O_LARGEFILE differs */
	r = RECORD(fcntl, 0x20002, 1, 3, 0);
	check_strace(&r, "fcntl(1, F_GETFL) = 0x20002 (flags O_RDWR|O_LARGEFILE)");
#else
	r = RECORD(fcntl, 0x8002, 1, 3, 0);
	check_strace(&r, "fcntl(1, F_GETFL) = 0x8002 (flags O_RDWR|O_LARGEFILE)");
#endif
	r = RECORD(futex, 1, 0x1000, 129, 1, 0, 0, 0);
	check_strace(&r, "futex(0x1000, FUTEX_WAKE_PRIVATE, 1) = 1");
	r = RECORD(clone, 9, 0x1200011, 0, 0, 0x3000, 0);
	check_strace(&r, "clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|"
			 "SIGCHLD, child_tidptr=0x3000) = 9");
	r = RECORD(lseek, 0, 1, 0, 99);
	check_strace(&r, "lseek(1, 0, 0x63 /* SEEK_??? */) = 0");
}

/* Each truncation of a record is an error or text, and reads nothing behind it. */
/* Parts of a number that are shown by themselves: an enumerator, a shifted number. */
static void test_parts_of_flags(void **state)
{
	struct test_record r = RECORD(personality, 0, 0x4000008);

	check_strace(&r, "personality(PER_LINUX32|STICKY_TIMEOUTS) = 0 (PER_LINUX)");
	check_constants(&r, CONSTANTS_VERBOSE,
			"personality(0x8 /* PER_LINUX32 */|0x4000000 /* STICKY_TIMEOUTS */) = "
			"0 (0 /* PER_LINUX */)");
	r = RECORD(mmap, 4096, 0, 4096, 0, 21 << 26 | 0x40022, (uint64_t)-1, 0);
	check_strace(&r, "mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_HUGETLB|"
			 "21<<MAP_HUGE_SHIFT, -1, 0) = 0x1000");
	r = RECORD(shmget, 5, 0, 4096, 21 << 26 | 01000 | 0600);
	check_strace(&r, "shmget(IPC_PRIVATE, 4096, IPC_CREAT|21<<SHM_HUGE_SHIFT|0600) = 5");
	check_constants(&r, CONSTANTS_RAW, "shmget(0, 4096, 0x200|21<<26|0600) = 5");
}

static void test_socket_options(void **state)
{
	static const uint32_t cred[] = {17, 1000, 100}, room = 7, mreq[] = {0, 6u << 16 | 1};
	struct test_record r = RECORD(getsockopt, 0, 3, 1, 17, 0x1000, 0x2000);

	add_piece(&r, 4, false, 0, &room, 4);
	add_piece(&r, 4, true, 0, &room, 4);
	add_piece(&r, 3, true, 0, cred, room);
	check_strace(&r,
		     "getsockopt(3, SOL_SOCKET, SO_PEERCRED, {pid=17, uid=\"\\xe8\\x03\\x00\"}, "
		     "[7]) = 0");
	r = RECORD(setsockopt, 0, 3, 1, 2, 0x1000, 5);
	add_piece(&r, 3, false, TRACE_PIECE_FAULT, cred, 4);
	check_strace(&r, "setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [17], 5) = 0");
	r = RECORD(setsockopt, -14, 3, 1, 13, 0x1000, 8);
	add_piece(&r, 3, false, TRACE_PIECE_FAULT, cred, 4);
	check_strace(&r, "setsockopt(3, SOL_SOCKET, SO_LINGER, 0x1000, 8) = "
			 "-1 EFAULT (Bad address)");
	r = RECORD(setsockopt, 0, 3, 263, 1, 0x1000, 16);
	uint8_t bytes[16] = {[8] = 2, [13] = 0xff};
	memcpy(bytes, mreq, sizeof(mreq));
	add_piece(&r, 3, false, 0, bytes, sizeof(bytes));
	check_strace(
		&r, "setsockopt(3, SOL_PACKET, PACKET_ADD_MEMBERSHIP, {mr_ifindex=0, "
		    "mr_type=PACKET_MR_PROMISC, mr_alen=6, mr_address=02:00:00:00:00:ff}, 16) = 0");
}

/* Masks of nodes: the last bit of the count is not used. */
static void test_node_masks(void **state)
{
	static const uint64_t mask[] = {5, 0x100};
	struct test_record r = RECORD(set_mempolicy, 0, 2, 0x1000, 66);

	add_piece(&r, 1, false, 0, mask, sizeof(mask));
	check_strace(&r, "set_mempolicy(MPOL_BIND, [0x00000000000005, 0x00000000000100], 66) = 0");
	r = RECORD(set_mempolicy, 0, 2, 0x1000, 65);
	add_piece(&r, 1, false, TRACE_PIECE_FAULT, mask, 8);
	check_strace(&r, "set_mempolicy(MPOL_BIND, [0x00000000000005], 65) = 0");
	r = RECORD(set_mempolicy, -14, 2, 0x1000, 66);
	add_piece(&r, 1, false, TRACE_PIECE_FAULT, mask, 8);
	check_strace(&r, "set_mempolicy(MPOL_BIND, 0x1000, 66) = -1 EFAULT (Bad address)");
}

static void test_ipc(void **state)
{
	struct test_record r = RECORD(msgctl, 0, 7, 1, 0x1000);
	uint64_t ds[15] = {[11] = 16384}; /* msg_qbytes */

	ds[0] = (uint64_t)1000 << 32;	  /* uid, behind the key */
	ds[1] = 100 | (uint64_t)5 << 32;  /* gid, cuid */
	ds[2] = 6 | (uint64_t)0600 << 32; /* cgid, mode */
	add_piece(&r, 2, false, 0, ds, sizeof(ds));
	check_strace(&r, "msgctl(7, IPC_SET, {msg_perm={uid=1000, gid=100, mode=0600}, "
			 "msg_qbytes=16384}) = 0");
	r = RECORD(msgctl, 0, 7, 2, 0x1000);
	add_piece(&r, 2, true, 0, ds, sizeof(ds));
	check_strace(&r, "msgctl(7, IPC_STAT, {msg_perm={uid=1000, gid=100, mode=0600, key=0, "
			 "cuid=5, cgid=6}, msg_stime=0, msg_rtime=0, msg_ctime=0, msg_qnum=0, "
			 "msg_qbytes=16384, msg_lspid=0, msg_lrpid=0}) = 0");
	r = RECORD(msgctl, -22, 7, 2, 0x1000);
	add_piece(&r, 2, true, 0, ds, sizeof(ds));
	check_strace(&r, "msgctl(7, IPC_STAT, 0x1000) = -1 EINVAL (Invalid argument)");
}

static void test_prctl(void **state)
{
	struct test_record r = RECORD(prctl, 0, 15, 0x1000, 1, 2, 3);

	add_piece(&r, 1, false, 0, "worker\0\0\0\0\0\0\0\0\0", 16);
	check_strace(&r, "prctl(PR_SET_NAME, \"worker\") = 0");
	/* fifteen bytes and no NUL before the memory ends */
	r = RECORD(prctl, 0, 15, 0x1000, 1, 2, 3);
	add_piece(&r, 1, false, TRACE_PIECE_FAULT, "0123456789abcde", 15);
	check_strace(&r, "prctl(PR_SET_NAME, \"0123456789abcde\"...) = 0");
	r = RECORD(prctl, -14, 15, 0x1000, 1, 2, 3);
	add_piece(&r, 1, false, TRACE_PIECE_FAULT, "0123", 4);
	check_strace(&r, "prctl(PR_SET_NAME, 0x1000) = -1 EFAULT (Bad address)");
	r = RECORD(prctl, 1, 3, 7, 7, 7, 7);
	check_strace(&r, "prctl(PR_GET_DUMPABLE) = 1 (SUID_DUMP_USER)");
	r = RECORD(prctl, 0, 47, 2, 13, 0, 0);
	check_strace(&r, "prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0) = 0");
	r = RECORD(prctl, 0, 47, 4, 13, 0, 0);
	check_strace(&r, "prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0xd, 0, 0) = 0");
	r = RECORD(prctl, -22, 0xfffff, 1, 2, 3, 4);
	check_strace(&r, "prctl(0xfffff /* PR_??? */, 0x1, 0x2, 0x3, 0x4) = "
			 "-1 EINVAL (Invalid argument)");
	check_json(&r, "{\"syscall\":\"prctl\",\"args\":{\"option\":1048575,\"arg2\":1,"
		       "\"arg3\":2,\"arg4\":3,\"arg5\":4},\"ret\":-22,\"error\":\"EINVAL\"}");
}

static void test_ioctl_commands(void **state)
{
	struct test_record r = RECORD(ioctl, -25, 0, 0x80042bff, 0x1000);

	check_strace(&r, "ioctl(0, _IOC(_IOC_READ, 0x2b, 0xff, 0x4), 0x1000) = "
			 "-1 ENOTTY (Inappropriate ioctl for device)");
	check_constants(&r, CONSTANTS_RAW,
			"ioctl(0, 0x80042bff, 0x1000) = -1 ENOTTY (Inappropriate ioctl for "
			"device)");
	check_constants(&r, CONSTANTS_VERBOSE,
			"ioctl(0, 0x80042bff /* _IOC(_IOC_READ, 0x2b, 0xff, 0x4) */, 0x1000) = "
			"-1 ENOTTY (Inappropriate ioctl for device)");
	r = RECORD(ioctl, 0, 5, 0x5451, 0x1000);
	check_strace(&r, "ioctl(5, FIOCLEX) = 0");
	check_json(&r, "{\"syscall\":\"ioctl\",\"args\":{\"fd\":5,\"cmd\":\"FIOCLEX\"},"
		       "\"ret\":0}");
	r = RECORD(ioctl, 0, 5, 0x4c00, 7);
	check_strace(&r, "ioctl(5, LOOP_SET_FD, 7) = 0");
	/* a name, but nothing is known of its argument */
	r = RECORD(ioctl, 0, 5, 0x4b33, 0x1000);
	check_strace(&r, "ioctl(5, KDGKBTYPE, 0x1000) = 0");
	/* constants of the same headers are not commands */
	r = RECORD(ioctl, -25, 5, 3, 0);
	check_strace(&r, "ioctl(5, _IOC(_IOC_NONE, 0, 0x3, 0), 0) = "
			 "-1 ENOTTY (Inappropriate ioctl for device)");
	const uint64_t range[2] = {4096, 8192};
	r = RECORD(ioctl, 0, 5, 0x1277, 0x1000);
	add_piece(&r, 2, false, 0, range, sizeof(range));
	check_strace(&r, "ioctl(5, BLKDISCARD, [4096, 8192]) = 0");
	const uint16_t sectors[4] = {1280};
	r = RECORD(ioctl, 0, 5, 0x1267, 0x1000);
	add_piece(&r, 2, true, 0, sectors, sizeof(sectors));
	check_strace(&r, "ioctl(5, BLKSECTGET, [1280]) = 0");
	check(&r, CALL_STYLE_PERF, "ioctl(fd: 5, cmd: BLKSECTGET, arg: [1280]) = 0");
}

static void test_ioctl_terminal(void **state)
{
	/* c_iflag, c_oflag, c_cflag, c_lflag, c_line and c_cc */
	const struct {
		uint32_t flags[4];
		uint8_t line, cc[19];
	} tty = {{0x500, 0x5, 0xbf, 0x8a3b}, 0, {3, 28, 127, 21, 4, 0, 1}};
	struct test_record r = RECORD(ioctl, 0, 0, 0x5401, 0x1000);
	struct call_text_opts opts = {.style = CALL_STYLE_STRACE, .full = true};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	add_piece(&r, 2, true, 0, &tty, sizeof(tty));
	check_strace(&r, "ioctl(0, TCGETS, {c_iflag=ICRNL|IXON, "
			 "c_oflag=NL0|CR0|TAB0|BS0|VT0|FF0|OPOST|ONLCR, c_cflag=B38400|CS8|CREAD, "
			 "c_lflag=ISIG|ICANON|ECHO|ECHOE|ECHOK|IEXTEN|ECHOCTL|ECHOKE, ...}) = 0");
	assert_null(call_text_add(&out, table, &r.rec, &opts));
	assert_non_null(strstr(strbuf_str(&out), ", c_line=N_TTY, c_cc=[[VINTR]=0x3, "
						 "[VQUIT]=0x1c, [VERASE]=0x7f, [VKILL]=0x15, "
						 "[VEOF]=0x4, [VTIME]=0, [VMIN]=0x1, "));
	assert_non_null(strstr(strbuf_str(&out), "[VEOL2]=0, [17]=0, [18]=0]}) = 0"));
	check_constants(&r, CONSTANTS_RAW,
			"ioctl(0, 0x5401, {c_iflag=0x500, c_oflag=0x5, c_cflag=0xbf, "
			"c_lflag=0x8a3b, ...}) = 0");
	/* a failed call has not written it */
	r = RECORD(ioctl, -25, 0, 0x5401, 0x1000);
	add_piece(&r, 2, true, 0, &tty, sizeof(tty));
	check_strace(&r, "ioctl(0, TCGETS, 0x1000) = -1 ENOTTY (Inappropriate ioctl for device)");
	/* delays, an input rate, a rate without a name, and bits without names */
	const struct {
		uint32_t flags[4];
		uint8_t line, cc[19];
	} odd = {{0xdead0001, 0xbad05c44, 0x1000 | 0xd << 16 | 0x10 | 0x40, 0}, 255, {0}};
	r = RECORD(ioctl, 0, 0, 0x5402, 0x1000);
	add_piece(&r, 2, false, 0, &odd, sizeof(odd));
	check_strace(&r, "ioctl(0, TCSETS, {c_iflag=IGNBRK|0xdead0000, "
			 "c_oflag=NL0|CR2|XTABS|BS0|VT1|FF0|ONLCR|OFILL|0xbad00000, "
			 "c_cflag=BOTHER|B9600<<IBSHIFT|CS6|CSTOPB, c_lflag=0, ...}) = 0");
	const uint32_t modem = 0x6;
	r = RECORD(ioctl, 0, 3, 0x5415, 0x1000);
	add_piece(&r, 2, true, 0, &modem, sizeof(modem));
	check_strace(&r, "ioctl(3, TIOCMGET, [TIOCM_DTR|TIOCM_RTS]) = 0");
}

static void test_ioctl_devices(void **state)
{
	const struct {
		char name[16];
		uint16_t family, port;
		uint8_t addr[4], rest[16];
	} req = {"eth0", 2, 0, {10, 0, 0, 7}, {0}};
	struct test_record r = RECORD(ioctl, 0, 3, 0x8915, 0x1000);

	add_piece(&r, 2, false, 0, &req, sizeof(req));
	add_piece(&r, 2, true, 0, &req, sizeof(req));
	check_strace(&r, "ioctl(3, SIOCGIFADDR, {ifr_name=\"eth0\", ifr_addr={sa_family=AF_INET, "
			 "sin_port=htons(0), sin_addr=inet_addr(\"10.0.0.7\")}}) = 0");
	check_json(&r, "{\"syscall\":\"ioctl\",\"args\":{\"fd\":3,\"cmd\":\"SIOCGIFADDR\",\"arg\":{"
		       "\"ifr_name\":\"eth0\",\"ifr_addr\":{\"sa_family\":\"AF_INET\","
		       "\"sin_port\":0,\"sin_addr\":\"10.0.0.7\"}}},\"ret\":0}");
	r.rec.ret = -19;
	check_strace(&r, "ioctl(3, SIOCGIFADDR, {ifr_name=\"eth0\"}) = "
			 "-1 ENODEV (No such device)");
	const struct {
		char name[16];
		uint16_t family;
		uint8_t mac[6], rest[8];
	} hw = {"lo", 1, {2, 3, 4, 5, 6, 255}, {0}};
	r = RECORD(ioctl, 0, 3, 0x8927, 0x1000);
	add_piece(&r, 2, true, 0, &hw, sizeof(hw));
	check_strace(&r, "ioctl(3, SIOCGIFHWADDR, {ifr_name=\"lo\", ifr_hwaddr={"
			 "sa_family=ARPHRD_ETHER, sa_data=02:03:04:05:06:ff}}) = 0");
	const uint32_t attr[7] = {0x8, 0, 3, 5, 0};
	r = RECORD(ioctl, 0, 3, 0x801c581f, 0x1000);
	add_piece(&r, 2, true, 0, attr, sizeof(attr));
	check_strace(&r, "ioctl(3, FS_IOC_FSGETXATTR, {fsx_xflags=FS_XFLAG_IMMUTABLE, "
			 "fsx_extsize=0, fsx_nextents=3, fsx_projid=0x5, fsx_cowextsize=0}) = 0");
	/* the memory ended in the middle */
	r = RECORD(ioctl, 0, 3, 0x801c581f, 0x1000);
	add_piece(&r, 2, true, 0, attr, 20);
	check_strace(&r, "ioctl(3, FS_IOC_FSGETXATTR, 0x1000) = 0");
}

static void test_quota(void **state)
{
	const uint64_t block[9] = {100, 90, 4096, 0, 0, 7, 0, 0, 1};
	struct test_record r = RECORD(quotactl, 0, 0x80000700, 0x1000, 1000, 0x2000);

	add_text(&r, 1, "/dev/sda1");
	add_piece(&r, 3, true, 0, block, sizeof(block));
	check_strace(&r, "quotactl(QCMD(Q_GETQUOTA, USRQUOTA), \"/dev/sda1\", 1000, "
			 "{dqb_bhardlimit=100, dqb_bsoftlimit=90, dqb_curspace=4096, "
			 "dqb_ihardlimit=0, dqb_isoftlimit=0, dqb_curinodes=7, ...}) = 0");
	r = RECORD(quotactl, 0, 0x80000201, 0x1000, 2, 0x2000);
	add_text(&r, 1, "/dev/sda1");
	add_piece(&r, 3, false, 0, "/quota.group\0garbage", 20);
	check_strace(&r, "quotactl(QCMD(Q_QUOTAON, GRPQUOTA), \"/dev/sda1\", QFMT_VFS_V0, "
			 "\"/quota.group\") = 0");
	r = RECORD(quotactl, 0, 0x80000100, 0, 2, 0x2000);
	check_strace(&r, "quotactl(QCMD(Q_SYNC, USRQUOTA), NULL) = 0");
	r = RECORD(quotactl, -22, 0x1ff, 0, 2, 0x2000);
	check_strace(&r, "quotactl(QCMD(0x1 /* Q_??? */, 0xff /* ???QUOTA */), NULL, 2, 0x2000) = "
			 "-1 EINVAL (Invalid argument)");
	check_constants(&r, CONSTANTS_RAW,
			"quotactl(511, NULL, 2, 0x2000) = -1 EINVAL (Invalid argument)");
}

/* The file of a descriptor: of an argument, or of the result if arg is -1. */
static void add_file(struct test_record *r, int arg, uint32_t fd, enum trace_fd_kind kind,
		     uint8_t flags, const char *names, uint16_t len)
{
	const struct trace_piece piece = {
		.arg = (uint8_t)(arg < 0 ? 0 : arg),
		.copy = arg < 0 ? TRACE_FD_OF_RESULT : TRACE_FD_OF_ARG,
		.exit = arg < 0,
		.flags = flags,
		.part = TRACE_PART_FD,
		.index = (uint8_t)kind,
		.len = len,
		.addr = fd,
		.full = 77,
	};

	memcpy((char *)&r->rec + r->rec.size, &piece, sizeof(piece));
	memcpy((char *)&r->rec + r->rec.size + sizeof(piece), names, len);
	r->rec.size += (uint32_t)round_up(sizeof(piece) + len, 8);
	r->rec.n_pieces++;
}

static void check_file(enum trace_fd_kind kind, uint8_t flags, const char *names, uint16_t len,
		       const char *expected)
{
	const struct call_text_opts opts = {.style = CALL_STYLE_STRACE, .fd_paths = true};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct test_record r = RECORD(close, 0, 3);

	add_file(&r, 0, 3, kind, flags, names, len);
	assert_null(call_text_add(&out, table, &r.rec, &opts));
	assert_string_equal(strbuf_str(&out), expected);
}
#define CHECK_FILE(kind, flags, names, expected)                                                   \
	check_file(kind, flags, names, sizeof(names), expected)

/* A digit behind an octal number is not part of it, and no name ends the brackets. */
static void test_files_of_descriptors(void **state)
{
	CHECK_FILE(TRACE_FD_PATH, 0, "c\"d\0017\n\377\0a<b>\\",
		   "close(3</a\\74b\\76\\\\/c\\\"d\\0017\\n\\377>) = 0");
	check_file(TRACE_FD_PATH, 0, "", 0, "close(3</>) = 0");
	CHECK_FILE(TRACE_FD_DELETED, 0, "x\0tmp", "close(3</tmp/x>(deleted)) = 0");
	CHECK_FILE(TRACE_FD_PATH, TRACE_PIECE_CUT, "x\0tmp", "close(3<.../tmp/x>) = 0");
	CHECK_FILE(TRACE_FD_PIPE, 0, "", "close(3<pipe:[77]>) = 0");
	CHECK_FILE(TRACE_FD_SOCKET, 0, "", "close(3<socket:[77]>) = 0");
	CHECK_FILE(TRACE_FD_ANON, 0, "[eventfd]", "close(3<anon_inode:[eventfd]>) = 0");
	CHECK_FILE(TRACE_FD_PIDFD, 0, "", "close(3<anon_inode:[pidfd]>) = 0");
	CHECK_FILE(TRACE_FD_MEMORY, 0, "memfd:m", "close(3</memfd:m>(deleted)) = 0");
}

/* Each descriptor has the file of its own place and time: dup2 replaces one by another. */
static void test_files_before_and_after(void **state)
{
	const struct call_text_opts opts = {.style = CALL_STYLE_STRACE, .fd_paths = true};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct test_record r = RECORD(dup2, 5, 3, 5);

	add_file(&r, 0, 3, TRACE_FD_PATH, 0, "new", 4);
	add_file(&r, 1, 5, TRACE_FD_PATH, 0, "old", 4);
	add_file(&r, -1, 5, TRACE_FD_PATH, 0, "new", 4);
	assert_null(call_text_add(&out, table, &r.rec, &opts));
	assert_string_equal(strbuf_str(&out), "dup2(3</new>, 5</old>) = 5</new>");

	/* this one's result is a number with that value, and its second argument another's */
	strbuf_reset(&out);
	r = RECORD(landlock_create_ruleset, 5, 0, 0, 1);
	add_file(&r, -1, 5, TRACE_FD_PATH, 0, "new", 4);
	assert_null(call_text_add(&out, table, &r.rec, &opts));
	assert_non_null(strstr(strbuf_str(&out), " = 5"));
	assert_null(strstr(strbuf_str(&out), "new"));
}

static void test_bpf(void **state)
{
	/* array, 4, 8, 1, BPF_F_MMAPABLE, 0, 0, the name; no more */
	const struct {
		uint32_t head[7];
		char name[16];
	} map = {{2, 4, 8, 1, 0x400, 0, 0}, "counts"};
	struct test_record r = RECORD(bpf, 3, 0, 0x1000, sizeof(map));

	add_piece(&r, 1, false, 0, &map, sizeof(map));
	check_strace(&r, "bpf(BPF_MAP_CREATE, {map_type=BPF_MAP_TYPE_ARRAY, key_size=4, "
			 "value_size=8, max_entries=1, map_flags=BPF_F_MMAPABLE, inner_map_fd=0, "
			 "numa_node=0, map_name=\"counts\"}, 44) = 3");
	const uint64_t elem[4] = {3, 0x2000, 0x3000, 2};
	r = RECORD(bpf, 0, 2, 0x1000, sizeof(elem));
	add_piece(&r, 1, false, 0, elem, sizeof(elem));
	check_strace(&r, "bpf(BPF_MAP_UPDATE_ELEM, {map_fd=3, key=0x2000, value=0x3000, "
			 "flags=BPF_EXIST}, 32) = 0");
	check_json(&r,
		   "{\"syscall\":\"bpf\",\"args\":{\"cmd\":\"BPF_MAP_UPDATE_ELEM\",\"uattr\":{"
		   "\"map_fd\":3,\"key\":\"0x2000\",\"value\":\"0x3000\",\"flags\":\"BPF_EXIST\"},"
		   "\"size\":32},\"ret\":0}");
	const uint32_t id[3] = {17};
	r = RECORD(bpf, 0, 13, 0x1000, 4);
	add_piece(&r, 1, false, 0, id, 4);
	check_strace(&r, "bpf(BPF_PROG_GET_FD_BY_ID, {prog_id=17}, 4) = 0");
	r = RECORD(bpf, -14, 13, 0x1000, 4);
	check_strace(&r, "bpf(BPF_PROG_GET_FD_BY_ID, 0x1000, 4) = -1 EFAULT (Bad address)");
}

static void test_perf_event(void **state)
{
	uint64_t attr[17] = {
		1 | 112ull << 32, /* software, size */
		9,		  /* PERF_COUNT_SW_DUMMY */
		4000,
		0x107, /* IP, TID, TIME, PERIOD */
		4,
		1 | 1 << 10 | 2 << 15 | 1 << 23, /* disabled, freq, precise_ip, mmap2 */
	};
	struct test_record r = RECORD(perf_event_open, 5, 0x1000, 0, (uint64_t)-1, (uint64_t)-1, 8);
	struct call_text_opts opts = {.style = CALL_STYLE_STRACE, .full = true};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	add_piece(&r, 0, false, 0, attr, sizeof(attr));
	check_strace(&r, "perf_event_open({type=PERF_TYPE_SOFTWARE, size=PERF_ATTR_SIZE_VER5, "
			 "config=PERF_COUNT_SW_DUMMY, sample_freq=4000, "
			 "sample_type=PERF_SAMPLE_IP|PERF_SAMPLE_TID|PERF_SAMPLE_TIME|"
			 "PERF_SAMPLE_PERIOD, read_format=PERF_FORMAT_ID, disabled=1, freq=1, "
			 "precise_ip=2 /* requested to have 0 skid */, mmap2=1, ...}, 0, -1, -1, "
			 "PERF_FLAG_FD_CLOEXEC) = 5");
	assert_null(call_text_add(&out, table, &r.rec, &opts));
	assert_non_null(strstr(strbuf_str(&out), ", inherit=0, pinned=0, "));
	/* as far as the size says */
	assert_non_null(strstr(strbuf_str(&out), ", aux_watermark=0, sample_max_stack=0}, 0, -1"));
	attr[0] = 56ull << 32;
	r = RECORD(perf_event_open, -7, 0x1000, 0, (uint64_t)-1, (uint64_t)-1, 8);
	add_piece(&r, 0, false, 0, attr, sizeof(attr));
	check_strace(&r, "perf_event_open(0x1000, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) = "
			 "-1 E2BIG (Argument list too long)");
}

static void test_truncated(void **state)
{
	struct test_record r = RECORD(openat, 3, (uint64_t)-100, 0x1000, 0, 0);
	const struct call_text_opts opts = {.style = CALL_STYLE_STRACE};

	add_text(&r, 1, "/etc/passwd");
	for (uint32_t size = sizeof(r.rec); size < r.rec.size; size++) {
		_cleanup_free_ struct trace_record *copy = malloc(size);
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

		assert_non_null(copy);
		memcpy(copy, &r.rec, size);
		copy->size = size;
		struct error *err = call_text_add(&out, table, copy, &opts);
		assert_non_null(err);
		assert_int_equal(err->code, EBADMSG);
		error_free(err);
	}
}

static unsigned count_selected(const char *expr, struct trace_call *calls)
{
	unsigned n = 0;

	memset(calls, 0, sizeof(*calls) * TRACE_ABIS * TRACE_NRS);
	assert_null(call_table_select(table, expr, calls));
	for (uint32_t nr = 0; nr < TRACE_NRS; nr++)
		n += calls[nr].traced;
	return n;
}

static void test_select(void **state)
{
	struct trace_call *calls = calloc((size_t)TRACE_ABIS * TRACE_NRS, sizeof(*calls));

	assert_non_null(calls);
	assert_int_equal(count_selected("openat", calls), 1);
	assert_true(calls[SYS_openat].traced && calls[SYS_openat].n_copies == 1);
	assert_int_equal(count_selected("!openat", calls), TRACE_NRS - 1);
	assert_true(count_selected("open*", calls) >= 4);
	assert_true(count_selected("%network", calls) == count_selected("net", calls));
	assert_true(calls[SYS_sendmmsg].traced && !calls[SYS_openat].traced);
	count_selected("newfstat*", calls);
	assert_true(calls[SYS_newfstatat].traced && calls[SYS_fstat].traced);
	count_selected("/^p?read", calls);
	assert_true(calls[SYS_read].traced && calls[SYS_pread64].traced &&
		    !calls[SYS_write].traced);
	assert_int_equal(count_selected("?nonsense,read", calls), 1);
	struct error *err = call_table_select(table, "opneat", calls);
	assert_non_null(err);
	assert_string_equal(err->msg, "unknown system call 'opneat'");
	assert_non_null(strstr(err->hint, "'openat'"));
	error_free(err);
	free(calls);
}

/* SYSCALL_DEFINE0 gives the function a parameter that the call does not have. */
static void calls_without_arguments(void **state)
{
	struct btf *btf = btf__new_empty();
	const struct call_table_opts opts = {.sz = sizeof(opts), .vmlinux = btf};
	struct call_table *with_btf;

	assert_non_null(btf);
	const int number = btf__add_int(btf, "long", 8, BTF_INT_SIGNED);
	const int none = btf__add_func_proto(btf, number);
	assert_int_equal(btf__add_func_param(btf, "__unused", number), 0);
	assert_true(btf__add_func(btf, "__do_sys_getppid", BTF_FUNC_STATIC, none) > 0);
	const int one = btf__add_func_proto(btf, number);
	assert_int_equal(btf__add_func_param(btf, "fd", number), 0);
	assert_true(btf__add_func(btf, "__do_sys_close", BTF_FUNC_STATIC, one) > 0);
	assert_null(call_table_new(&opts, &with_btf));
	assert_int_equal(call_by_name(with_btf, TRACE_ABI_NATIVE, "getppid")->copies.n_args, 0);
	assert_int_equal(call_by_name(with_btf, TRACE_ABI_NATIVE, "close")->copies.n_args, 1);
	call_table_free(with_btf);
	btf__free(btf);
}

static void check_signal(int sig, int code, const void *rest, size_t size, const char *want)
{
	const struct call_text_opts opts = {.style = CALL_STYLE_STRACE};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	int32_t info[12] = {sig, 0, code};
	struct test_record r;

	memcpy(info + 4, rest, size);
	r = record(TRACE_EVENT_SIGNAL, sig, TRACE_ARGS, (const uint64_t[TRACE_ARGS]){0});
	memcpy(r.rec.args, info, sizeof(info));
	assert_null(call_text_add_signal(&out, table, &r.rec, &opts));
	assert_string_equal(strbuf_str(&out), want);
}

static void test_signals(void **state)
{
	enum { PID = 77, NOBODY = 65534, UNKNOWN_CODE = 99 };
	const int32_t sender[] = {PID, NOBODY}, value[] = {PID, 0, 5, 0};
	const int32_t child[] = {PID, 0, 9, 0, 250, 0, 0, 0};
	const int32_t addr[] = {0x1234, 0, 0, 0}, timer[] = {3, 2, -1, -1};

	check_signal(
		10, 0, sender, sizeof(sender),
		"--- SIGUSR1 {si_signo=SIGUSR1, si_code=SI_USER, si_pid=77, si_uid=65534} ---");
	check_signal(34, -1, value, sizeof(value),
		     "--- SIGRT_2 {si_signo=SIGRT_2, si_code=SI_QUEUE, si_pid=77, si_uid=0, "
		     "si_int=5, si_ptr=0x5} ---");
	check_signal(14, -2, timer, sizeof(timer),
		     "--- SIGALRM {si_signo=SIGALRM, si_code=SI_TIMER, si_timerid=0x3, "
		     "si_overrun=2, si_int=-1, si_ptr=0xffffffffffffffff} ---");
	check_signal(17, 2, child, sizeof(child),
		     "--- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_KILLED, si_pid=77, si_uid=0, "
		     "si_status=SIGKILL, si_utime=250 /* 2.50 s */, si_stime=0} ---");
	check_signal(11, 2, addr, sizeof(addr),
		     "--- SIGSEGV {si_signo=SIGSEGV, si_code=SEGV_ACCERR, si_addr=0x1234} ---");
	check_signal(11, UNKNOWN_CODE, addr, sizeof(addr),
		     "--- SIGSEGV {si_signo=SIGSEGV, si_code=0x63 /* SEGV_??? */, "
		     "si_addr=0x1234} ---");
	check_signal(10, 128, addr, 0, "--- SIGUSR1 {si_signo=SIGUSR1, si_code=SI_KERNEL} ---");
}

static void check_end(int status, const char *want)
{
	const struct call_text_opts opts = {.style = CALL_STYLE_STRACE};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	call_text_add_end(&out, status, &opts);
	assert_string_equal(strbuf_str(&out), want);
}

static void test_ends(void **state)
{
	check_end(0x300, "+++ exited with 3 +++");
	check_end(9, "+++ killed by SIGKILL +++");
	check_end(0x80 | 11, "+++ killed by SIGSEGV (core dumped) +++");
	check_end(39, "+++ killed by SIGRT_7 +++");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_constants),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_structs),
		cmocka_unit_test(test_sockets),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_parts_of_flags),
		cmocka_unit_test(test_ipc),
		cmocka_unit_test(test_socket_options),
		cmocka_unit_test(test_node_masks),
		cmocka_unit_test(test_prctl),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_select),
		cmocka_unit_test(test_ioctl_commands),
		cmocka_unit_test(test_ioctl_terminal),
		cmocka_unit_test(test_ioctl_devices),
		cmocka_unit_test(test_quota),
		cmocka_unit_test(test_bpf),
		cmocka_unit_test(calls_without_arguments),
		cmocka_unit_test(test_perf_event),
		cmocka_unit_test(test_files_of_descriptors),
		cmocka_unit_test(test_files_before_and_after),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
