#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Calls that trace does not see as others: denied, unknown, interrupted, or with memory that comes
# later.
. "$(dirname "$0")/../tap.sh"

# build NAME: from standard input
build() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	cat >"$1.c"
	gcc -w -O1 -o "$1" "$1.c"
}

# trace OPTION... COMMAND: ./lines
trace() {
	expect_status 0 "$PERF_BPF" trace --log lines "$@"
}

# is N PATTERN: so many lines of ./lines match
is() {
	local n
	n=$(grep -cE -- "$2" lines || :)
	[ "$n" = "$1" ] || { sed 's/^/# | /' lines; fail "$n lines match '$2', wanted $1"; }
}

# Denies mkdir 3 times with EXDEV, rmdir by a signal, chroot for want of a tracer, and kills two
# children at swapon and swapoff.
make_denied() {
	build denied <<-'END'
		#define _GNU_SOURCE
		#include <errno.h>
		#include <linux/filter.h>
		#include <linux/seccomp.h>
		#include <signal.h>
		#include <stddef.h>
		#include <string.h>
		#include <sys/prctl.h>
		#include <sys/syscall.h>
		#include <sys/wait.h>
		#include <unistd.h>

		#define DENY(nr, action)                                                           \
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),                             \
			BPF_STMT(BPF_RET | BPF_K, action)

		static void handle(int sig)
		{
		}

		int main(void)
		{
			struct sock_filter filter[] = {
				BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
				DENY(SYS_mkdir, SECCOMP_RET_ERRNO | EXDEV),
				DENY(SYS_rmdir, SECCOMP_RET_TRAP),
				DENY(SYS_chroot, SECCOMP_RET_TRACE),
				DENY(SYS_swapon, SECCOMP_RET_KILL_PROCESS),
				DENY(SYS_swapoff, SECCOMP_RET_KILL_THREAD),
				BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
			};
			struct sock_fprog prog = {sizeof(filter) / sizeof(*filter), filter};
			char path[32];

			strcpy(path, "/tmp/pbt_denied");
			signal(SIGSYS, handle);
			prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
			prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
			for (int i = 0; i < 3; i++)
				syscall(SYS_mkdir, path, 0700);
			syscall(SYS_rmdir, path);
			syscall(SYS_chroot, path);
			signal(SIGSYS, SIG_DFL);
			if (!fork())
				syscall(SYS_swapon, path, 0);
			wait(NULL);
			if (!fork())
				syscall(SYS_swapoff, path);
			wait(NULL);
			syscall(SYS_getppid);
			return 0;
		}
	END
}

# Before Linux 5.17 a thread that is killed does not leave the call.
leaves_when_killed() { is_kernel_from 5 17; }
is_kernel_from() {
	local have
	have=$(uname -r | sed 's/[^0-9.].*//')
	[ "$(printf '%s\n' "$1.$2" "$have" | sort -V | head -1)" = "$1.$2" ]
}

check_denied() {
	is 3 '^mkdir\("/tmp/pbt_denied", 0700\) += -1 EXDEV '
	is 1 '^rmdir\("/tmp/pbt_denied"\) += [0-9]+$'
	is 1 '^chroot\("/tmp/pbt_denied"\) += -1 ENOSYS '
	leaves_when_killed || return 0
	is 1 ' swapon\("/tmp/pbt_denied", 0\) += [0-9]+$'
	is 1 ' swapoff\("/tmp/pbt_denied"\) += [0-9]+$'
}

test_denied_calls() {
	make_denied
	trace --strace ./denied
	check_denied
	is 1 'getppid\(\)'
	trace --strace -e mkdir,rmdir,chroot,swapon,swapoff ./denied
	check_denied
	trace --failure --strace -e mkdir ./denied
	is 3 '^mkdir\("/tmp/pbt_denied", 0700\) += -1 EXDEV '
	trace --strace -e mkdir --where 'mkdir.pathname ~ "*denied" && ret < 0' ./denied
	is 3 '^mkdir\("/tmp/pbt_denied", 0700\) += -1 EXDEV '
}

test_denied_calls_are_counted() {
	make_denied
	trace -s --errno-summary --summary-mode=total -e mkdir,rmdir,chroot ./denied
	is 1 '^ +mkdir +3 +3 '
	is 1 '^\s+EXDEV: 3$'
	is 1 '^ +rmdir +1 +0 '
	is 1 '^ +chroot +1 +1 '
}

# A recording has them with the same arguments.
test_denied_calls_in_a_recording() {
	make_denied
	trace -e mkdir --record t.data ./denied
	trace --strace -i t.data
	is 3 '^mkdir\("/tmp/pbt_denied", 0700\) += -1 EXDEV '
	trace -s -i t.data
	is 1 '^ +mkdir +3 +3 '
}

test_numbers_beyond_the_table() {
	build numbers <<-'END'
		#include <unistd.h>
		int main(void)
		{
			syscall(9999, 1, 2, 3, 4, 5, 6);
			syscall(0x10001, 1, 2, 3, 4, 5, 6);
			syscall(-1, 1, 2, 3, 4, 5, 6);
			return 0;
		}
	END
	for options in "" "-e !read"; do
		trace --strace $options ./numbers
		is 1 '^syscall_0x270f\(0x1, 0x2, 0x3, 0x4, 0x5, 0x6\) += -1 ENOSYS '
		is 1 '^syscall_0x10001\(0x1, 0x2, 0x3, 0x4, 0x5, 0x6\) += -1 ENOSYS '
		is 1 '^syscall_0xffffffff\(0x1, 0x2, 0x3, 0x4, 0x5, 0x6\) += -1 ENOSYS '
	done
	trace -s ./numbers
	is 1 '^ +unknown +3 +3 '
	trace --record t.data ./numbers
	trace --strace -i t.data
	is 1 '^syscall_0x270f\(0x1, 0x2, 0x3, 0x4, 0x5, 0x6\) += -1 ENOSYS '
	trace -s -i t.data
	is 1 '^ +unknown +3 +3 '
}

# Strings that no page has been read for, since only the kernel looks at them.
test_arguments_of_execve() {
	build untouched <<-'END'
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			if (argc > 1)
				return 0;
			execl("/nonexistent/of/pbt", "failing", "arg-three", NULL);
			execl("/proc/self/exe", "one", "arg-two", "", "a string of more than 32 characters", NULL);
			return 1;
		}
	END
	trace --strace -e execve ./untouched
	is 1 '^execve\("/nonexistent/of/pbt", \["failing", "arg-three"\], .*-1 ENOENT'
	is 1 '^execve\("/proc/self/exe", \["one", "arg-two", "", "a string of more than 32 charact"\.\.\.\], '
	# a script's interpreter is not what the call named
	build of_script <<-'END'
		#include <unistd.h>
		int main(void)
		{
			execl("./script", "./other", "arg-two", NULL);
			return 1;
		}
	END
	printf '#!/bin/true option\n' >script
	chmod +x script
	trace --strace -e execve ./of_script
	is 0 'bin/true'
	is 2 '^execve\('
}

# The kernel's own numbers for calls that a signal interrupted, and returns from handlers.
test_interrupted_calls_are_counted() {
	build interrupted <<-'END'
		#include <signal.h>
		#include <string.h>
		#include <sys/prctl.h>
		#include <sys/time.h>
		#include <unistd.h>
		static volatile int n;
		static void handle(int sig) { n++; }
		int main(void)
		{
			struct itimerval t = {{0, 10000}, {0, 10000}};
			prctl(PR_SET_NAME, "pbt_pause");
			signal(SIGALRM, handle);
			setitimer(ITIMER_REAL, &t, 0);
			while (n < 5)
				pause();
			prctl(PR_SET_NAME, "pbt_end");
			return 0;
		}
	END
	trace -S --strace --errno-summary -e pause,rt_sigreturn ./interrupted
	is 5 '^pause\(\) += \? ERESTARTNOHAND \(To be restarted if no handler\)$'
	is 1 '^\s+ERESTARTNOHAND: 5$'
	trace --json -e pause ./interrupted
	is 5 '"error":"ERESTARTNOHAND"'
	expect_status 0 "$PERF_BPF" run -q syscount --comm pbt_pause --csv -- ./interrupted
	assert_contains out "pause,-514,ERESTARTNOHAND,5"
	! grep -E "EINTR|4294967295" out || fail "a return from a handler has no result"
}

# Sets of more descriptors than FD_SETSIZE.
test_large_sets_of_select() {
	build large <<-'END'
		#include <string.h>
		#include <sys/resource.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		static unsigned long set[1024];
		static void add(int fd) { set[fd / 64] |= 1ul << fd % 64; }
		int main(void)
		{
			struct rlimit l = {65536, 65536};
			struct { long sec, usec; } zero = {0};
			int p[2];
			setrlimit(RLIMIT_NOFILE, &l);
			pipe(p);
			write(p[1], "x", 1);
			dup2(p[0], 5);
			dup2(p[0], 1500);
			add(5);
			add(1500);
			syscall(SYS_select, 1501, set, 0, 0, &zero);
			syscall(SYS_select, 20001, set, 0, 0, &zero);
			return 0;
		}
	END
	trace --strace -e select ./large
	is 1 '^select\(1501, \[5 1500\], .*= 2 \(in \[5 1500\], '
	is 1 '^select\(20001, \[5 1500 \.\.\.\], .*= 2 \(in \[5 1500 \.\.\.\], '
}

# Descriptors that are in sets, behind many others, and in a second part of a message.
test_paths_of_many_descriptors() {
	build many <<-'END'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <poll.h>
		#include <string.h>
		#include <sys/select.h>
		#include <sys/socket.h>
		#include <sys/uio.h>
		#include <unistd.h>
		int main(void)
		{
			struct pollfd polled[40];
			struct timeval zero = {0};
			struct ucred own = {getpid(), getuid(), getgid()};
			union { char bytes[256]; struct cmsghdr head; } control = {0};
			struct iovec iov = {"x", 1};
			struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control};
			fd_set in, out;
			int one = open("one", O_RDWR | O_CREAT, 0600), pair[2];

			dup2(one, 70);
			dup2(one, 100);
			FD_ZERO(&in);
			FD_ZERO(&out);
			FD_SET(100, &in);
			FD_SET(70, &out);
			FD_SET(0, &out);
			select(101, &in, &out, NULL, &zero);
			for (int i = 0; i < 40; i++)
				polled[i] = (struct pollfd){i < 39 ? -1 : 100, POLLIN};
			poll(polled, 40, 0);
			socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
			m.msg_controllen = CMSG_SPACE(sizeof(own)) + CMSG_SPACE(sizeof(int));
			struct cmsghdr *part = CMSG_FIRSTHDR(&m);
			*part = (struct cmsghdr){CMSG_LEN(sizeof(own)), SOL_SOCKET, SCM_CREDENTIALS};
			memcpy(CMSG_DATA(part), &own, sizeof(own));
			part = (struct cmsghdr *)((char *)part + CMSG_SPACE(sizeof(own)));
			*part = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
			memcpy(CMSG_DATA(part), &one, sizeof(one));
			sendmsg(pair[0], &m, 0);
			return 0;
		}
	END
	one=$(pwd -P)/one
	trace --strace -y --string-size 64 ./many
	is 1 "^p?select6?\\(101, \\[100<$one>\\], \\[0<.*> 70<$one>\\], NULL, .*\\(in \\[100\\], out \\[(0 )?70\\]"
	is 1 "^poll\\(\\[.*\\{fd=100<$one>, events=POLLIN\\}\\], 40, 0\\) += 1 \\(\\[\\{fd=100<$one>, revents=POLLIN\\}\\]\\)"
	is 1 "^sendmsg\\(.*cmsg_type=SCM_CREDENTIALS, .*cmsg_type=SCM_RIGHTS, cmsg_data=\\[[0-9]+<$one>\\]\\}\\]"
	trace --strace ./many
	is 0 "<$one>"
}

# Arguments that depend on the command, and what was not written because the call failed.
test_keys_and_failed_messages() {
	build keys <<-'END'
		#define _GNU_SOURCE
		#include <linux/keyctl.h>
		#include <poll.h>
		#include <string.h>
		#include <sys/socket.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		static long ctl(long a, long b, long c, long d, long e) { return syscall(SYS_keyctl, a, b, c, d, e); }
		int main(void)
		{
			long session = ctl(KEYCTL_JOIN_SESSION_KEYRING, (long)"pbt_session", 0, 0, 0);
			long key = syscall(SYS_add_key, "user", "pbt_key", "secret", 6, session);
			struct msghdr m = {.msg_namelen = 7};
			struct pollfd none = {-1, POLLIN};
			char buf[64];
			int pair[2];

			ctl(KEYCTL_SEARCH, session, (long)"user", (long)"pbt_key", 0);
			ctl(KEYCTL_UPDATE, key, (long)"new", 3, 9);
			ctl(KEYCTL_READ, key, (long)buf, sizeof(buf), 9);
			ctl(KEYCTL_READ, key, (long)buf, 1, 9);
			ctl(KEYCTL_DESCRIBE, KEY_SPEC_SESSION_KEYRING, (long)buf, sizeof(buf), 9);
			ctl(KEYCTL_SETPERM, key, 0x01030000, 9, 9);
			ctl(KEYCTL_UNLINK, key, session, 9, 9);
			socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
			recvmsg(pair[0], &m, MSG_DONTWAIT);
			poll(&none, 1, 0);
			return 0;
		}
	END
	trace --strace --string-size 64 ./keys
	is 1 '^keyctl\(KEYCTL_JOIN_SESSION_KEYRING, "pbt_session"\) += [0-9]+$'
	is 1 '^keyctl\(KEYCTL_SEARCH, [0-9]+, "user", "pbt_key", 0\) += [0-9]+$'
	is 1 '^keyctl\(KEYCTL_UPDATE, [0-9]+, "new", 3\) += 0$'
	is 1 '^keyctl\(KEYCTL_READ, [0-9]+, "new", 64\) += 3$'
	is 1 '^keyctl\(KEYCTL_READ, [0-9]+, ("n"|0x[0-9a-f]+|"[^"]*"), 1\) += 3$'
	is 1 '^keyctl\(KEYCTL_DESCRIBE, KEY_SPEC_SESSION_KEYRING, "keyring;[^"\\]*;pbt_session", 64\) += [0-9]+$'
	is 1 '^keyctl\(KEYCTL_SETPERM, [0-9]+, KEY_POS_VIEW\|KEY_USR_VIEW\|KEY_USR_READ\) += 0$'
	is 1 '^keyctl\(KEYCTL_UNLINK, [0-9]+, [0-9]+\) += 0$'
	is 1 '^recvmsg\([0-9]+, \{msg_namelen=7\}, MSG_DONTWAIT\) += -1 EAGAIN '
	is 1 '^poll\(\[\{fd=-1\}\], 1, 0\) += 0 \(Timeout\)$'
}

# Messages of netlink sockets have headers; those of others are bytes.
test_netlink_messages() {
	build netlink <<-'END'
		#include <linux/netlink.h>
		#include <linux/rtnetlink.h>
		#include <string.h>
		#include <sys/socket.h>
		#include <unistd.h>
		struct request {
			struct nlmsghdr head;
			struct rtgenmsg body;
		};
		int main(void)
		{
			struct request r[2] = {{{sizeof(*r), RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, 7}}};
			struct iovec iov = {r, sizeof(*r)};
			struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
			int pair[2], route = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);

			send(route, r, sizeof(*r), 0);
			r[0].head.nlmsg_type = RTM_NEWADDR;
			r[0].head.nlmsg_flags = NLM_F_REQUEST | NLM_F_EXCL;
			sendmsg(route, &m, 0);
			r[0].head.nlmsg_len = sizeof(r->head);
			memcpy((char *)r + 16, r, 16);
			send(route, r, 32, 0);
			r[0].head.nlmsg_type = NLMSG_DONE;
			send(route, r, 16, 0);
			r[0].head.nlmsg_type = 0x18;
			send(socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC), r, 16, 0);
			socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
			send(pair[0], r, 16, 0);
			return 0;
		}
	END
	trace --strace -e %network ./netlink
	is 1 '^sendto\([0-9]+, \[\{nlmsg_len=20, nlmsg_type=RTM_GETLINK, nlmsg_flags=NLM_F_REQUEST\|NLM_F_DUMP, nlmsg_seq=7, nlmsg_pid=0\}, \{ifi_family=AF_UNSPEC, \.\.\.\}\], 20, 0, NULL, 0\) '
	is 1 '^sendmsg\(.*iov_base=\[\{nlmsg_len=20, nlmsg_type=RTM_NEWADDR, nlmsg_flags=NLM_F_REQUEST\|NLM_F_EXCL, nlmsg_seq=7, nlmsg_pid=0\}, \{ifa_family=AF_UNSPEC, \.\.\.\}\], iov_len=20'
	one='\{nlmsg_len=16, nlmsg_type=RTM_NEWADDR, nlmsg_flags=NLM_F_REQUEST\|NLM_F_EXCL, nlmsg_seq=7, nlmsg_pid=0\}'
	is 1 "^sendto\\([0-9]+, \\[$one, $one\\], 32, 0, NULL, 0\\) "
	is 1 '^sendto\(3, \{nlmsg_len=16, nlmsg_type=NLMSG_DONE, [^}]*\}, 16, '
	is 1 '^sendto\(.*nlmsg_len=16, nlmsg_type=0x18 /\* NLMSG_\?\?\? \*/, '
	is 1 '^sendto\([0-9]+, "\\20'
}

# Attributes of messages that a socket sends: of each kind, within others, and with sizes that are wrong.
test_netlink_attributes() {
	build attributes <<-'END'
		#include <arpa/inet.h>
		#include <linux/fib_rules.h>
		#include <linux/if_addr.h>
		#include <linux/if_link.h>
		#include <linux/inet_diag.h>
		#include <linux/neighbour.h>
		#include <linux/netlink.h>
		#include <linux/rtnetlink.h>
		#include <linux/sock_diag.h>
		#include <net/if.h>
		#include <string.h>
		#include <sys/socket.h>

		static struct { struct nlmsghdr head; char data[2048]; } m;

		static void begin(int type, const void *body, int size)
		{
			memset(&m, 0, sizeof(m));
			m.head = (struct nlmsghdr){.nlmsg_len = NLMSG_LENGTH(NLMSG_ALIGN(size)), .nlmsg_type = type,
						   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP};
			memcpy(m.data, body, size);
		}

		/* A value of size bytes in an attribute that says so, or something else. */
		static void add(int type, const void *value, int size, int said)
		{
			struct nlattr a = {.nla_len = said, .nla_type = type};
			char *p = (char *)&m + m.head.nlmsg_len;

			memcpy(p, &a, sizeof(a));
			memcpy(p + sizeof(a), value, size);
			m.head.nlmsg_len += NLA_ALIGN(sizeof(a) + size);
		}
		static void attr(int type, const void *value, int size)
		{
			add(type, value, size, size + 4);
		}
		static void send_to(int fd)
		{
			send(fd, &m, m.head.nlmsg_len, 0);
		}

		int main(void)
		{
			const int route = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
			const int diag = socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG);
			struct ifinfomsg link = {.ifi_index = if_nametoindex("lo"), .ifi_flags = IFF_UP};
			struct rtmsg rt = {.rtm_family = AF_INET, .rtm_dst_len = 24, .rtm_table = RT_TABLE_MAIN,
					   .rtm_protocol = RTPROT_BOOT, .rtm_scope = RT_SCOPE_LINK, .rtm_type = RTN_UNICAST};
			struct ifaddrmsg addr = {.ifa_family = AF_INET6, .ifa_prefixlen = 64};
			struct inet_diag_req_v2 req = {.sdiag_family = AF_INET, .sdiag_protocol = IPPROTO_TCP,
						       .idiag_states = 1 << 10, .idiag_ext = 2};
			struct { struct nlattr a; char kind[8]; } info = {{10, IFLA_INFO_KIND}, "dummy"};
			struct in6_addr six = {.s6_addr = {0xfd, [15] = 1}};
			const int mtu = 1400, ten = htonl(0x0a000001), main = 254;

			begin(RTM_GETLINK, &link, sizeof(link));
			attr(IFLA_IFNAME, "eth7", 5);
			attr(IFLA_MTU, &mtu, 4);
			attr(IFLA_ADDRESS, "\1\2\3\4\5\6", 6);
			attr(IFLA_LINKINFO, &info, sizeof(info));
			attr(IFLA_MTU, &mtu, 2);
			attr(0x3ff0, "ab", 2);
			attr(IFLA_AF_SPEC | NLA_F_NESTED, "", 0);
			send_to(route);
			begin(RTM_GETROUTE, &rt, sizeof(rt));
			attr(RTA_TABLE, &main, 4);
			attr(RTA_DST, &ten, 4);
			attr(RTA_OIF, &link.ifi_index, 4);
			send_to(route);
			begin(RTM_GETADDR, &addr, sizeof(addr));
			attr(IFA_ADDRESS, &six, 16);
			send_to(route);
			begin(SOCK_DIAG_BY_FAMILY, &req, sizeof(req));
			send_to(diag);
			/* nothing, more than there is, and less than the head */
			begin(RTM_GETLINK, &link, sizeof(link));
			attr(IFLA_IFNAME, "", 0);
			add(IFLA_IFNAME, "abc", 3, 60000);
			send_to(route);
			begin(RTM_GETLINK, &link, sizeof(link));
			add(IFLA_IFNAME, "abc", 3, 1);
			add(IFLA_IFNAME, "def", 3, 7);
			send_to(route);
			return 0;
		}
	END
	trace --strace -e sendto ./attributes
	is 1 'RTM_GETLINK, .*, \{ifi_family=AF_UNSPEC, ifi_type=ARPHRD_NETROM, ifi_index=if_nametoindex\("lo"\), ifi_flags=IFF_UP, ifi_change=0\}, \[\[\{nla_len=9, nla_type=IFLA_IFNAME\}, "eth7"\], \[\{nla_len=8, nla_type=IFLA_MTU\}, 1400\], \[\{nla_len=10, nla_type=IFLA_ADDRESS\}, 01:02:03:04:05:06\], \[\{nla_len=16, nla_type=IFLA_LINKINFO\}, \[\{nla_len=10, nla_type=IFLA_INFO_KIND\}, "dummy"\]\], \[\{nla_len=6, nla_type=IFLA_MTU\}, "\\x78\\x05"\], \[\{nla_len=6, nla_type=0x3ff0 /\* IFLA_\?\?\? \*/\}, "\\x61\\x62"\], \{nla_len=4, nla_type=NLA_F_NESTED\|IFLA_AF_SPEC\}\]\], [0-9]+, 0'
	is 1 'rtm_family=AF_INET, rtm_dst_len=24, rtm_src_len=0, rtm_tos=0, rtm_table=RT_TABLE_MAIN, rtm_protocol=RTPROT_BOOT, rtm_scope=RT_SCOPE_LINK, rtm_type=RTN_UNICAST, rtm_flags=0\}, \[\[\{nla_len=8, nla_type=RTA_TABLE\}, RT_TABLE_MAIN\], \[\{nla_len=8, nla_type=RTA_DST\}, inet_addr\("10\.0\.0\.1"\)\], \[\{nla_len=8, nla_type=RTA_OIF\}, if_nametoindex\("lo"\)\]\]\]'
	is 1 '\{ifa_family=AF_INET6, ifa_prefixlen=64, .*\}, \[\{nla_len=20, nla_type=IFA_ADDRESS\}, inet_pton\(AF_INET6, "fd00::1"\)\]\]'
	is 1 'nlmsg_type=SOCK_DIAG_BY_FAMILY, .*\{sdiag_family=AF_INET, sdiag_protocol=IPPROTO_TCP, idiag_ext=1<<\(INET_DIAG_INFO-1\), idiag_states=1<<TCP_LISTEN, id=\{idiag_sport=htons\(0\), .*idiag_cookie=\[0, 0\]\}\}\]'
	is 1 '\[\{nla_len=4, nla_type=IFLA_IFNAME\}, \[\{nla_len=60000, nla_type=IFLA_IFNAME\}, "abc"(\.\.\.)?\]\]\]'
	is 1 '\{nla_len=1, nla_type=IFLA_IFNAME\}\]'
	# names of interfaces are those of another network namespace, and of a recording not known
	trace --strace -e sendto unshare -n ./attributes
	is 0 'if_nametoindex'
	trace -e sendto --record t.data ./attributes
	trace --strace -i t.data
	is 1 'ifi_index=1, ifi_flags=IFF_UP, ifi_change=0\}, \[\[\{nla_len=9, nla_type=IFLA_IFNAME\}, "eth7"\]'
}

# What a call was given and what it wrote, each as strace has it.
test_messages_before_and_after() {
	build messages <<-'END'
		#define _GNU_SOURCE
		#include <signal.h>
		#include <sys/socket.h>
		#include <sys/syscall.h>
		#include <sys/un.h>
		#include <unistd.h>
		static void handle(int sig, siginfo_t *info, void *context) { }
		int main(void)
		{
			struct sigaction action = {.sa_sigaction = handle,
						   .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
			struct sockaddr_un from;
			char bytes[16];
			struct iovec hello = {"hello", 5}, room = {bytes, 16};
			struct mmsghdr sent[2] = {{{.msg_iov = &hello, .msg_iovlen = 1}},
						  {{.msg_iov = &hello, .msg_iovlen = 1}}};
			struct mmsghdr got = {{.msg_iov = &room, .msg_iovlen = 1, .msg_name = &from,
					       .msg_namelen = sizeof(from)}};
			int pair[2];

			socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
			sendmmsg(pair[0], sent, 2, 0);
			recvmsg(pair[1], &got.msg_hdr, 0);
			got.msg_hdr.msg_namelen = sizeof(from);
			recvmmsg(pair[1], &got, 1, 0, NULL);
			sigaction(SIGUSR1, &action, NULL);
			syscall(SYS_membarrier, 0, 0, 0);
			syscall(SYS_membarrier, 0, 5, 0);
			return 0;
		}
	END
	trace --strace ./messages
	is 1 '^sendmmsg\(.*iov_base="hello", iov_len=5.*iov_base="hello", iov_len=5'
	is 1 '^sendmmsg\(.*msg_flags=0\}, msg_len=5\}, \{msg_hdr=.*, msg_flags=0\}, msg_len=5\}\], 2, 0\) += 2$'
	is 1 '^recvmsg\(.*msg_name=0x[0-9a-f]+, msg_namelen=110 => 0, '
	is 1 '^recvmmsg\(.*msg_name=0x[0-9a-f]+, msg_namelen=110 => 0, .*msg_len=5\}\], 1, 0, NULL\) += 1$'
	is 1 'sa_flags=SA_RESTORER\|SA_ONSTACK\|SA_RESTART\|SA_SIGINFO, '
	is 1 '^membarrier\(MEMBARRIER_CMD_QUERY, 0\) += 0x[0-9a-f]+ \(MEMBARRIER_CMD_GLOBAL\|'
	is 1 '^membarrier\(MEMBARRIER_CMD_QUERY, [^,]*0x4, 0\) += -1 EINVAL '
}

# Each kind of siginfo_t, and how processes end. One signal at a time: the order is certain.
make_signals() {
	build signals <<-'END'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <linux/filter.h>
		#include <linux/seccomp.h>
		#include <pthread.h>
		#include <setjmp.h>
		#include <signal.h>
		#include <stddef.h>
		#include <sys/mman.h>
		#include <sys/prctl.h>
		#include <sys/socket.h>
		#include <sys/syscall.h>
		#include <sys/wait.h>
		#include <time.h>
		#include <unistd.h>

		static sigjmp_buf env;
		static void handle(int sig, siginfo_t *info, void *context) { }
		static void jump(int sig, siginfo_t *info, void *context) { siglongjmp(env, 1); }
		static void on(int sig, void *handler)
		{
			struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

			sigaction(sig, &action, NULL);
		}

		static void by_processes(void)
		{
			union sigval value = {.sival_int = 77};
			struct sigevent event = {.sigev_signo = SIGALRM, .sigev_value = {5}};
			struct itimerspec soon = {.it_value.tv_nsec = 1000000};
			sigset_t alarm;
			timer_t timer;

			on(SIGUSR1, handle);
			on(SIGUSR2, handle);
			on(SIGALRM, handle);
			on(SIGRTMIN + 3, handle);
			kill(getpid(), SIGUSR1);
			raise(SIGUSR2);
			sigqueue(getpid(), SIGRTMIN + 3, value);
			sigemptyset(&alarm);
			sigaddset(&alarm, SIGALRM);
			sigprocmask(SIG_BLOCK, &alarm, NULL);
			timer_create(CLOCK_MONOTONIC, &event, &timer);
			timer_settime(timer, 0, &soon, NULL);
			sigemptyset(&alarm);
			sigsuspend(&alarm);
		}

		static void by_faults(void)
		{
			int fd = open("file", O_RDWR | O_CREAT, 0600);
			volatile char *p, *null = (char *)8;

			on(SIGSEGV, jump);
			on(SIGBUS, jump);
			if (!sigsetjmp(env, 1))
				*null = 1;
			p = mmap(NULL, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (!sigsetjmp(env, 1))
				*p = 1;
			p = mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0);
			if (!sigsetjmp(env, 1))
				fd = *p;
		}

		static void by_files(void)
		{
			int pair[2];

			on(SIGIO, handle);
			on(SIGPIPE, handle);
			socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
			fcntl(pair[0], F_SETOWN, getpid());
			fcntl(pair[0], F_SETSIG, SIGIO);
			fcntl(pair[0], F_SETFL, O_ASYNC);
			write(pair[1], "x", 1);
			close(pair[0]);
			write(pair[1], "x", 1);
		}

		static void by_filter(void)
		{
			struct sock_filter filter[] = {
				BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
				BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rmdir, 0, 1),
				BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP | 2),
				BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
			};
			struct sock_fprog prog = {4, filter};

			on(SIGSYS, handle);
			prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
			prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
			syscall(SYS_rmdir, "/tmp/pbt_denied");
		}

		static void *wait_for_end(void *arg)
		{
			pause();
			return NULL;
		}

		int main(void)
		{
			pthread_t thread;

			by_processes();
			by_faults();
			by_files();
			by_filter();
			on(SIGCHLD, handle);
			if (!fork())
				_exit(3);
			wait(NULL);
			if (!fork()) {
				signal(SIGRTMIN + 5, SIG_DFL);
				raise(SIGRTMIN + 5);
			}
			wait(NULL);
			if (!fork())
				kill(getpid(), SIGKILL);
			wait(NULL);
			pthread_create(&thread, NULL, wait_for_end, NULL);
			_exit(5);
		}
	END
}

# The program ends with status 5.
trace_to_end() {
	expect_status 5 "$PERF_BPF" trace --log lines "$@"
}

test_signals() {
	make_signals
	trace_to_end --strace ./signals
	local id='si_pid=[0-9]+, si_uid=0'
	is 1 "--- SIGUSR1 \\{si_signo=SIGUSR1, si_code=SI_USER, $id\\} ---\$"
	is 1 "--- SIGUSR2 \\{si_signo=SIGUSR2, si_code=SI_TKILL, $id\\} ---\$"
	is 1 "--- SIGRT_5 \\{si_signo=SIGRT_5, si_code=SI_QUEUE, $id, si_int=77, si_ptr=0x4d\\} ---\$"
	is 1 '--- SIGALRM \{si_signo=SIGALRM, si_code=SI_TIMER, si_timerid=(0|0x[0-9a-f]+), si_overrun=0, si_int=5, si_ptr=0x5\} ---$'
	is 1 '--- SIGSEGV \{si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=0x8\} ---$'
	is 1 '--- SIGSEGV \{si_signo=SIGSEGV, si_code=SEGV_ACCERR, si_addr=0x[0-9a-f]+\} ---$'
	is 1 '--- SIGBUS \{si_signo=SIGBUS, si_code=BUS_ADRERR, si_addr=0x[0-9a-f]+\} ---$'
	is 1 '--- SIGIO \{si_signo=SIGIO, si_code=POLL_IN, si_band=[0-9]+, si_fd=[0-9]+\} ---$'
	is 1 "--- SIGPIPE \\{si_signo=SIGPIPE, si_code=SI_USER, $id\\} ---\$"
	is 1 '^prctl\(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, \{len=4, filter=0x[0-9a-f]+\}\) '
	is 1 '--- SIGSYS \{si_signo=SIGSYS, si_code=SYS_SECCOMP, si_errno=ENOENT, si_call_addr=0x[0-9a-f]+, si_syscall=__NR_rmdir, si_arch=AUDIT_ARCH_'
	is 1 "--- SIGCHLD \\{si_signo=SIGCHLD, si_code=CLD_EXITED, $id, si_status=3, si_utime=.*, si_stime=.*\\} ---\$"
	is 1 "--- SIGCHLD \\{si_signo=SIGCHLD, si_code=CLD_KILLED, $id, si_status=SIGRT_7, "
	is 1 "--- SIGCHLD \\{si_signo=SIGCHLD, si_code=CLD_KILLED, $id, si_status=SIGKILL, "
	is 1 '\+\+\+ exited with 3 \+\+\+$'
	is 1 '\+\+\+ killed by SIGRT_7 \+\+\+$'
	is 1 '\+\+\+ killed by SIGKILL \+\+\+$'
	is 2 '\+\+\+ exited with 5 \+\+\+$'
	# the thread may have ended before it called anything
	! grep -E 'pause\(\)' lines | grep -v '= ?$' || fail "a thread that ended has no call that goes on"
	is 1 '^rt_sigreturn\(\{mask=\[ALRM\]\}\) += -1 EINTR '
}

test_signals_that_are_chosen() {
	make_signals
	trace_to_end --strace -e trace=none -e signal=USR1,SIGUSR2 ./signals
	is 2 '^(\[pid +[0-9]+\] )?--- '
	is 2 '--- SIGUSR[12] '
	is 5 '\+\+\+ '
	trace_to_end --strace -e trace=none -e 'signal=!SIGUSR1' ./signals
	is 0 '--- SIGUSR1'
	is 1 '--- SIGUSR2'
	trace_to_end --strace -e trace=none -e signal=none ./signals
	is 0 '--- '
	expect_status 2 "$PERF_BPF" trace --strace -e signal=NOPE true
	assert_contains err "'NOPE' is not a signal"
	# neither in perf's columns nor in JSON
	trace_to_end -e kill ./signals
	is 0 '--- |\+\+\+ '
	trace_to_end --json -e kill ./signals
	is 0 'SIGUSR2'
}

# What the kernel wrote where a struct points to, and what a call reads there.
test_memory_that_structs_point_to() {
	build pointed <<-'END'
		#define _GNU_SOURCE
		#include <linux/sched.h>
		#include <signal.h>
		#include <sys/select.h>
		#include <sys/syscall.h>
		#include <sys/wait.h>
		#include <unistd.h>
		int main(void)
		{
			int pidfd = 0, tid = 0, pair[2];
			struct clone_args args = {.flags = CLONE_PIDFD | CLONE_PARENT_SETTID,
						  .pidfd = (long)&pidfd, .parent_tid = (long)&tid,
						  .exit_signal = SIGCHLD};
			struct timespec long_time = {.tv_sec = 100};
			fd_set set;
			sigset_t mask;

			if (!syscall(SYS_clone3, &args, sizeof(args)))
				_exit(0);
			wait(NULL);
			pipe(pair);
			write(pair[1], "x", 1);
			FD_ZERO(&set);
			FD_SET(pair[0], &set);
			sigemptyset(&mask);
			sigaddset(&mask, SIGUSR1);
			pselect(pair[0] + 1, &set, NULL, NULL, &long_time, &mask);
			return 0;
		}
	END
	trace --strace ./pointed
	is 1 'clone3\(\{flags=CLONE_PIDFD\|CLONE_PARENT_SETTID, .*\} => \{pidfd=\[[0-9]+\], parent_tid=\[([0-9]+)\]\}, [0-9]+\) += [0-9]+$'
	is 1 'clone3\(.*parent_tid=\[([0-9]+)\].* = \1$'
	is 1 '^pselect6\(.*, \{sigmask=\[USR1\], sigsetsize=8\}\) += 1 \(in \[[0-9]+\], left \{tv_sec=99, tv_nsec=[0-9]+\}\)$'
}

run_tests
