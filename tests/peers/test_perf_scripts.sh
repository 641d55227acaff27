#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The Python scripts that come with Debian sid's perf: by that perf and by perf-bpf, with the same output.
. "$(dirname "$0")/../tap.sh"
BUILDID_CACHE_OF_PERF=yes

FILES=$(mktemp -d "${TMPDIR:-/tmp}/scripts-of-perf-bpf.XXXXXX")
tests_end() {
	rm -rf "$FILES"
}

# all.data: the tracepoints that the scripts want; cpu.data: a profile; faults.data: data addresses;
# tasks.data: switches alone
recordings() {
	local syscalls=raw_syscalls:sys_enter,raw_syscalls:sys_exit
	local tasks=sched:sched_switch,sched:sched_migrate_task
	local futex=syscalls:sys_enter_futex,syscalls:sys_exit_futex
	local net=net:net_dev_queue,net:net_dev_xmit,net:netif_receive_skb,napi:napi_poll

	[ "$(id -u)" = 0 ] || skip "recording needs root"
	PERF=$("$SRC/tests/vm/fetch-perf" sid) || skip "$PERF"
	export PERF_EXEC_PATH=${PERF%/*}/usr/lib/perf-core
	SCRIPTS=$PERF_EXEC_PATH/scripts/python
	[ -d "$SCRIPTS" ] || skip "this perf comes without Python scripts"
	[ -d /sys/kernel/tracing/events ] || mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null || :
	[ -d /sys/kernel/tracing/events ] || skip "tracefs cannot be mounted"
	if [ -e "$FILES/all.data" ]; then
		cp "$FILES"/*.data .
		return
	fi
	cat >work.py <<-'END'
		import socket, threading, time
		a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		a.bind(("127.0.0.1", 0))
		b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		for i in range(20):
		    b.sendto(b"x" * 100, a.getsockname())
		    a.recv(200)
		lock = threading.Lock()
		def work():
		    for i in range(50):
		        with lock:
		            time.sleep(0.0001)
		threads = [threading.Thread(target=work) for i in range(3)]
		for t in threads:
		    t.start()
		for t in threads:
		    t.join()
		try:
		    open("/nonexistent")
		except OSError:
		    pass
	END
	"$PERF" record -q -g -o all.data -e "$syscalls,$tasks,$futex,$net" \
		-e compaction:mm_compaction_begin,irq:softirq_entry,irq:softirq_exit -- python3 work.py
	"$PERF" record -q -g -o cpu.data -e cpu-clock -c 500000 -- python3 work.py
	"$PERF" record -q -d -o faults.data -e page-faults -c 1 -- python3 work.py
	"$PERF" record -q -o tasks.data -e $tasks -- python3 work.py
	cp ./*.data "$FILES"
}

# same RECORDING SCRIPT ARGUMENT...: what they print, and write to the file "written" if they do. sid's
# Python is not installed, so it is told where it is. The scripts' own database is removed.
same() {
	local data=$1 script=$2 theirs=0 mine=0
	shift 2
	rm -f written /dev/shm/perf.db
	PYTHONHOME=${PERF%/*}/usr "$PERF" script --no-inline -i "$data" -s "$SCRIPTS/$script.py" \
		"$@" >theirs 2>theirs.err </dev/null || theirs=$?
	[ ! -e written ] || mv written theirs.written
	rm -f /dev/shm/perf.db
	"$PERF_BPF" script --no-inline -i "$data" -s "$SCRIPTS/$script.py" \
		"$@" >mine 2>mine.err </dev/null || mine=$?
	rm -f /dev/shm/perf.db
	[ $theirs = 0 ] || fail "perf: $script ended with $theirs: $(tail -n 3 theirs.err)"
	[ $mine = 0 ] || fail "$script ended with $mine: $(tail -n 3 mine.err)"
	cmp -s theirs mine || fail "$script: $(diff theirs mine | head -10 | cut -c1-300)"
	[ ! -e theirs.written ] || cmp theirs.written written || fail "$script writes another file"
	rm -f theirs.written
}

test_system_calls() {
	recordings
	same all.data failed-syscalls-by-pid
	assert_contains mine "err = ENOENT"
	same all.data syscall-counts
	same all.data syscall-counts python3
	same all.data syscall-counts-by-pid
	same all.data futex-contention
	assert_contains mine "contended"
}

test_tasks() {
	recordings
	same tasks.data task-analyzer
	same tasks.data task-analyzer -- --ns --summary --extended-times
	assert_contains mine "Summary"
}

test_profiles() {
	recordings
	same cpu.data stackcollapse
	same cpu.data stackcollapse -- --tid --kernel
	[ "$(wc -l <mine)" -gt 20 ] || fail "stackcollapse printed $(wc -l <mine) lines"
	same cpu.data flamegraph -- -f json -o written
	same cpu.data gecko -- --save-only written
	same cpu.data event_analyzing_sample
	assert_contains mine "Statistics about the general events"
	same cpu.data mem-phys-addr
}

test_all_that_is_in_a_sample() {
	recordings
	same all.data check-perf-trace
	assert_contains mine "unhandled events"
	same cpu.data intel-pt-events
	same cpu.data intel-pt-events -- --insn-trace --src-trace
	[ "$(wc -l <mine)" -gt 20 ] || fail "intel-pt-events printed $(wc -l <mine) lines"
}

# What they have nothing of in these recordings.
test_others() {
	recordings
	for script in compaction-times stat-cpi powerpc-hcalls netdev-times net_dropmonitor; do
		same all.data $script
	done
}

run_tests
