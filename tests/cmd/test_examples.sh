#!/usr/bin/env bash
# Each example is compiled, loaded, and does what its first lines say.
. "$(dirname "$0")/../tap.sh"
EXAMPLES=$SRC/examples

need_root() {
	[ "$(id -u)" = 0 ] || skip "loading a BPF program takes root"
}

# record EXAMPLE[/PARAMETERS/] OPTION... -- COMMAND...: into ./perf.data, script's lines in ./lines
record() {
	local example=$1
	shift
	"$PERF_BPF" record -o perf.data -e "$EXAMPLES/$example" "$@" >log 2>&1 ||
		{ cat log; fail "$example is not recorded"; }
	# A host whose own programs are at the tracepoint filters ours, as record says.
	! grep "programs\? of others" log >others || skip "$(head -n 1 others)"
	"$PERF_BPF" script -i perf.data >lines 2>log || { cat log; fail "script fails"; }
}

# A command of a name that nothing else on the machine has.
own_command() {
	ln -s "$(type -P "$2")" "$1"
	PATH=$PWD:$PATH
}

test_every_example_says_how_to_run_it() {
	for example in "$EXAMPLES"/*.bpf.c; do
		grep -qE "^ \*	perf bpf (record|run) .*examples/$(basename "$example")" "$example" ||
			fail "$(basename "$example") does not say how to run it"
		grep -q "test_.*$(basename "$example" .bpf.c)" "$SRC/tests/cmd/test_examples.sh" ||
			fail "$(basename "$example") has no test"
	done
}

# The kernel's counts are those of the workload: 5 writes of 1234 bytes, 7 of 512.
test_write_sizes() {
	need_root
	own_command pbt_sizes dd
	cat >workload.sh <<-'END'
		pbt_sizes if=/dev/zero of=/dev/null bs=1234 count=5 status=none
		pbt_sizes if=/dev/zero of=/dev/null bs=512 count=7 status=none
	END
	"$PERF_BPF" run "$EXAMPLES/write_sizes.bpf.c" --comm pbt_sizes --json -- sh workload.sh >json
	python3 - <<-'END'
		import json
		maps = {m["map"]: m for m in map(json.loads, open("json"))}
		assert [(b["low"], b["count"]) for b in maps["sizes"]["hists"][0]["buckets"]] == \
		    [(512, 7), (1024, 5)], maps["sizes"]
		assert maps["bytes"]["count"] == 5 * 1234 + 7 * 512
		assert [(w["comm"], w["writes"]) for w in maps["writers"]["rows"]] == \
		    [("pbt_sizes", 7), ("pbt_sizes", 5)], maps["writers"]
	END
	"$PERF_BPF" run "$EXAMPLES/write_sizes.bpf.c" --comm pbt_sizes --set min_size=1000 --json \
		-- sh workload.sh >json
	grep -q '"map":"bytes".*"count":6170}' json || fail "min_size is not honoured"
}

test_write_1234() {
	need_root
	record write_1234.bpf.c -- sh -c '
		dd if=/dev/zero of=/dev/null bs=1234 count=5 status=none
		dd if=/dev/zero of=/dev/null bs=512 count=7 status=none'
	assert_equal "$(grep -c 'sys_enter_write:.*0x0*4d2' lines)" 5
	assert_equal "$(wc -l <lines)" 5
	record write_1234.bpf.c/wanted=512/ -- sh -c '
		dd if=/dev/zero of=/dev/null bs=1234 count=5 status=none
		dd if=/dev/zero of=/dev/null bs=512 count=7 status=none'
	assert_equal "$(grep -c 'sys_enter_write:.*0x0*200' lines)" 7
	assert_equal "$(wc -l <lines)" 7
}

# The reader sleeps before it reads: a write into its full pipe takes as long.
test_slow_writes() {
	need_root
	cat >workload <<-'END'
		import os, time
		end, to = os.pipe()
		os.write(to, bytes(65536))
		if os.fork() == 0:
		    time.sleep(0.3)
		    os.read(end, 65536)
		    os._exit(0)
		os.write(to, b"slow")
		os.wait()
		for _ in range(3):
		    os.write(to, b"quick")
	END
	record slow_writes.bpf.c/min_us=150000/ -- /usr/bin/python3 workload
	assert_equal "$(grep -c 'sys_exit_write:.*0x4' lines)" 1
	assert_equal "$(wc -l <lines)" 1
}

test_openat_by_comm() {
	need_root
	echo >wanted.txt
	own_command pbx_cat cat
	record openat_by_comm.bpf.c --clang-opt '-DCOMM=\"pbx_cat\"' -- \
		sh -c 'pbx_cat wanted.txt; cat wanted.txt'
	grep -q 'pbx_cat.*sys_enter_openat:' lines || { cat lines; fail "nothing of pbx_cat"; }
	assert_equal "$(grep -vc '^ *pbx_cat ' lines)" 0
}

# Two that want the same CPU take it from each other.
test_preempted() {
	need_root
	own_command pbx_spin sh
	record preempted.bpf.c -a -- sh -c '
		for i in 1 2 3; do taskset -c 0 pbx_spin -c "i=0; while [ \$i -lt 400000 ]; do i=\$((i+1)); done" & done
		wait'
	grep -q 'prev_comm=pbx_spin' lines || fail "no pbx_spin was preempted"
	! grep -v 'prev_state=R' lines || fail "somebody left of his own will"
}

test_kernel_samples() {
	need_root
	record kernel_samples.bpf.c -e cpu-clock -F 999 -- \
		dd if=/dev/zero of=/dev/null bs=1M count=3000 status=none
	"$PERF_BPF" script -i perf.data -F event,ip >addresses
	[ "$(wc -l <addresses)" -gt 10 ] || fail "$(wc -l <addresses) samples"
	! grep -v ' ffff[0-9a-f]*$' addresses || fail "a sample of user mode"
}

test_exec_output() {
	need_root
	own_command pbx_execed true
	record exec_output.bpf.c -a -- sh -c 'pbx_execed; sleep 0.1'
	grep -q '__bpf_stdout__' lines || { cat lines; fail "no output event"; }
	"$PERF_BPF" script -i perf.data --json >json
	local name
	name=$(printf pbx_execed | od -An -tx1 | tr -d ' \n')
	grep -q "\"raw\":\"[0-9a-f]*${name}00" json || fail "the file's name is not in the output"
}

test_large_malloc() {
	need_root
	record large_malloc.bpf.c/min_size=12345678/ -- /usr/bin/python3 -c '
import ctypes
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
for size in (10, 12345678, 1000, 23456789):
    libc.malloc(ctypes.c_size_t(size))'
	assert_equal "$(grep -c 'malloc' lines)" 2
}

# Of a hundred reads of one size every tenth; python's own reads are of others.
test_every_nth() {
	need_root
	record 'every_nth.bpf.c/map:settings.value[0]=10/' -- \
		dd if=/dev/zero of=/dev/null bs=3333333 count=100 status=none
	assert_equal "$(grep -c 'sys_enter_read:.*0x0*32dcd5' lines)" 10
}

# Python collects at its end, too: what is asked for is the difference.
test_python_gc() {
	need_root
	readelf -n /usr/bin/python3 2>/dev/null | grep 'Name: gc__start' >probes ||
		skip "this Python has no USDT probes"
	"$PERF_BPF" features bpf.cookie >/dev/null || skip "this kernel has no cookies"
	for times in 0 5; do
		record python_gc.bpf.c/generation=2/ -- /usr/bin/python3 -c "
import gc
gc.disable()
for _ in range($times):
    gc.collect(0), gc.collect(1), gc.collect(2)"
		wc -l <lines >lines.$times
		[ "$(grep -c 'sdt_python:gc__start:' lines)" = "$(cat lines.$times)" ] ||
			{ cat lines; fail "other events are recorded"; }
	done
	assert_equal "$(($(cat lines.5) - $(cat lines.0)))" 5
}

run_tests
