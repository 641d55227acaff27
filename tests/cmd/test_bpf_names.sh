#!/usr/bin/env bash
# BPF programs in profiles: their names and lines, and how much of the time is theirs.
. "$(dirname "$0")/../tap.sh"

exec 3>&1 # for figures

ATTACHED=$BUILD/tests/cmd/attached

need() {
	[ "$(id -u)" = 0 ] || skip "needs root"
}

# The half of a workload's time is that of a program: it spends as long in its own code as its system
# calls, which run the program, have taken.
make_half() {
	cat >half.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		volatile unsigned pbt_sum;
		static __attribute__((noinline)) int pbt_spin(int n)
		{
			for (int i = 0; i < 4000; i++)
				pbt_sum += i ^ n; /* PBT_LINE */
			return 0;
		}
		SEC("tp/syscalls/sys_enter_getppid") int pbt_half(void *ctx) { return pbt_spin(3); }
		char LICENSE[] SEC("license") = "GPL";
	END
	compile_bpf half.bpf.c half.o
	cat >half.c <<-'END'
		#include <sys/syscall.h>
		#include <time.h>
		#include <unistd.h>
		static long now(void)
		{
			struct timespec t;
			clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
			return t.tv_sec * 1000000000 + t.tv_nsec;
		}
		int main(void)
		{
			const long start = now();
			while (now() - start < 1500000000) {
				const long before = now();
				for (int i = 0; i < 1000; i++)
					syscall(SYS_getppid);
				const long after = now();
				while (now() - after < after - before)
					;
			}
			return 0;
		}
	END
	gcc -O1 -o half half.c
}

# The share that the kernel counts as the program's (run_time_ns), and that of its samples, of the
# same run: within 5 points.
test_half_of_the_time() {
	need
	make_half
	# other tasks' time is in run_time_ns if they preempt the program
	local calm="chrt -f 1"
	$calm true 2>/dev/null || calm=
	$calm "$ATTACHED" half.o 0 "$PERF_BPF" record -q -e cpu-clock -c 250000 -o d -- ./half >counted || fail "attached: $?"
	"$PERF_BPF" report -i d -s sym --json >out
	"$PERF_BPF" report -i d -s sym,srcline >lines
	python3 - <<-'END' >shares || fail "$(cat shares counted; head -n 30 lines)"
		import json, re
		name, _, run_time, count = open("counted").read().split()
		assert name == "pbt_half" and int(count) > 100
		rows = []
		for line in open("out"):
		    rows += json.loads(line).get("rows", [])
		of = lambda r: r.get("symbol", "")
		total = sum(r["overhead"] for r in rows)
		ours = sum(r["overhead"] for r in rows if re.search(r"bpf_prog_[0-9a-f]{16}_pbt_(half|spin)", of(r)))
		sampled, counted = 100 * ours / total, 100 * int(run_time) / total
		print("sampled %.1f %%, counted %.1f %%" % (sampled, counted))
		assert total > 1e9 and 20 < counted < 60, total
		assert abs(sampled - counted) <= 5
	END
	echo "# $(cat shares)" >&3
	# by the line in which it spends its time
	local line
	line=$(grep -n PBT_LINE half.bpf.c | cut -d: -f1)
	grep -E "bpf_prog_[0-9a-f]{16}_pbt_spin +half.bpf.c:($line|$((line - 1)))" lines >of_the_line || fail "$(head -n 30 lines)"
	awk '{ sum += $1 } END { exit !(sum > 15) }' of_the_line || fail "$(head -n 30 lines)"
}

# frames FILE NAME: how many frames of call chains have this name
frames() {
	"$PERF_BPF" script -i "$1" -F ip,sym | grep -cE "^[[:space:]]+[0-9a-f]+ $2\$" || :
}

# What the kernel makes to call the functions of a struct_ops map: of one that is there before the
# recording, and of one that comes later.
test_images_of_struct_ops() {
	need
	grep -q " bpf_struct_ops_map_update_elem" /proc/kallsyms || skip "no struct_ops"
	cat >ops.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		struct sock;
		struct tcp_congestion_ops {
			unsigned (*ssthresh)(struct sock *sk);
			void (*cong_avoid)(struct sock *sk, unsigned ack, unsigned acked);
			unsigned (*undo_cwnd)(struct sock *sk);
			char name[16];
		};
		volatile int pbt_sum;
		SEC("struct_ops/pbt_ssthresh") unsigned pbt_ssthresh(unsigned long long *ctx) { return 3; }
		SEC("struct_ops/pbt_undo") unsigned pbt_undo(unsigned long long *ctx) { return 3; }
		SEC("struct_ops/pbt_avoid") void pbt_avoid(unsigned long long *ctx)
		{
			for (int i = 0; i < 20000; i++)
				pbt_sum += i;
		}
		SEC(".struct_ops.link") struct tcp_congestion_ops pbt_ops = {
			.ssthresh = (void *)pbt_ssthresh,
			.undo_cwnd = (void *)pbt_undo,
			.cong_avoid = (void *)pbt_avoid,
			.name = "pbt_ops",
		};
		char LICENSE[] SEC("license") = "GPL";
	END
	compile_bpf ops.bpf.c ops.o
	cat >tcp.py <<-'END'
		import socket, threading
		listener = socket.socket()
		listener.bind(("127.0.0.1", 0))
		listener.listen(1)
		def serve():
		    peer = listener.accept()[0]
		    while peer.recv(1 << 16):
		        pass
		server = threading.Thread(target=serve)
		server.start()
		client = socket.socket()
		client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"pbt_ops")
		client.connect(listener.getsockname())
		for i in range(3000):
		    client.sendall(b"x" * 20000)
		client.close()
		server.join()
	END
	"$ATTACHED" ops.o 0 true >out 2>&1 || skip "$(cat out)"
	local calls
	"$ATTACHED" ops.o 0 "$PERF_BPF" record -q -a -g -e cpu-clock:k -c 100000 -o before python3 tcp.py >out || fail "$(cat out)"
	calls=$(awk '$1 == "pbt_avoid" { print $4 }' out)
	[ "$calls" -ge 20 ] || fail "the program ran $calls times"
	[ "$(frames before bpf__tcp_congestion_ops_cong_avoid)" -ge 1 ] || fail "the image has no name"
	"$PERF_BPF" record -q -a -g -e cpu-clock:k -c 100000 -o during "$ATTACHED" ops.o 0 python3 tcp.py >out || fail "$(cat out)"
	[ "$(frames during bpf__tcp_congestion_ops_cong_avoid)" -ge 1 ] || fail "the image of a later map has no name"
}

# The code by which XDP programs are called stays in the kernel after the first of them: it is there
# before the recording, of which no record tells.
# named_dispatcher RECORDING: it has the dispatcher's name, also for each sample of its code. The dispatcher is a
# few instructions long: which machine samples one of them is luck.
named_dispatcher() {
	"$PERF_BPF" script -i "$1" --show-bpf-events >out
	grep "PERF_RECORD_KSYMBOL .* name bpf_dispatcher_xdp\$" out >record || fail "$1: no record of the dispatcher"
	"$PERF_BPF" script -i "$1" -F ip,sym | python3 -c 'import re, sys
start, size = re.search("addr ([0-9a-f]+) len ([0-9]+)", open("record").read()).groups()
code = range(int(start, 16), int(start, 16) + int(size))
for ip, name in map(str.split, sys.stdin):
    assert int(ip, 16) not in code or name.startswith("bpf_"), (ip, name)'
}

test_dispatcher_of_xdp() {
	need
	cat >x.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		SEC("xdp") int pbt_xdp(struct xdp_md *ctx) { return XDP_PASS; }
		char LICENSE[] SEC("license") = "GPL";
	END
	compile_bpf x.bpf.c x.o
	"$ATTACHED" x.o 10 true >out 2>&1 || fail "$(cat out)"
	grep -qP "bpf_dispatcher_xdp\t\[bpf\]" /proc/kallsyms || skip "this kernel has no dispatcher"
	"$ATTACHED" x.o 10 "$PERF_BPF" record -q -e cpu-clock:k -c 100000 -o before "$ATTACHED" x.o 10000000 true >out || fail "$(cat out)"
	named_dispatcher before
	# without a program in the recording's beginning
	"$PERF_BPF" record -q -e cpu-clock:k -c 100000 -o during "$ATTACHED" x.o 10000000 true >out || fail "$(cat out)"
	named_dispatcher during
	# what is there now need not have been there then
	"$PERF_BPF" record -q --no-bpf-event -e cpu-clock:k -c 100000 -o without "$ATTACHED" x.o 10000000 true >out ||
		fail "$(cat out)"
	assert_equal "$(frames without bpf_dispatcher_xdp)" 0
	"$PERF_BPF" script -i without --show-bpf-events >out
	! grep "KSYMBOL .* name bpf_dispatcher" out || fail "a record of the dispatcher"
}

run_tests
