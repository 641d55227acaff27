#!/usr/bin/env bash
# Samples by cgroup: the names of containers and pods, as record, report and script have them.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"

A=4bf12d0b5d3a7a4e8c4fb4ae4e6cf1a3b8d2a0f77c1b4f1d9e0a6b5c4d3e2f10
B=00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee
POD=1f6b2c3d-0a1b-4c2d-8e3f-112233445566

# Makes $top, a cgroup of this test's own, and in it those of two runtimes: $docker, and $crio in
# a pod.
needs() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	root=/sys/fs/cgroup/unified
	[ -e $root/cgroup.procs ] || root=/sys/fs/cgroup
	[ -e $root/cgroup.controllers ] || skip "no cgroup v2 is mounted"
	[ ! -e /sys/fs/cgroup/perf_event ] || skip "perf_event is in a hierarchy of version 1"
	top=$(mktemp -d $root/pbt-cgroups.XXXXXX 2>/dev/null) || skip "cannot make cgroups"
	trap tidy EXIT
	docker=$top/docker/$A
	slice=$top/kubepods.slice/kubepods-pod${POD//-/_}.slice
	crio=$slice/crio-$B.scope
	mkdir -p $docker $crio/container
}

empty() {
	local pids
	pids=$(find $top -name cgroup.procs -exec cat {} + 2>/dev/null)
	[ -z "$pids" ] || kill -KILL $pids 2>/dev/null || true
	find $top -depth -type d -exec rmdir {} + 2>/dev/null
}

tidy() {
	kill -KILL $(jobs -p) 2>/dev/null || true
	soon empty
}

# build NAME: a program that uses a CPU for as many seconds as it is told, or without end
build() {
	cat >work.c <<-'END'
		#include <stdlib.h>
		#include <time.h>
		volatile unsigned long n;
		int main(int argc, char **argv)
		{
			const double end = argc < 2 ? 1e18 : atof(argv[1]) * CLOCKS_PER_SEC;
			while (clock() < end)
				for (int i = 0; i < 100000; i++)
					n += i;
			return 0;
		}
	END
	gcc -O1 -o "$1" work.c
}

# in_cgroup DIR COMMAND... &: the command has never run in another cgroup
in_cgroup() {
	echo $BASHPID >"$1/cgroup.procs"
	shift
	exec "$@"
}

# pid_in DIR NAME: the id of the process of this name in the cgroup
pid_in() {
	local pid
	for pid in $(cat "$1/cgroup.procs"); do
		[ "$(cat /proc/$pid/comm)" != "$2" ] || echo $pid
	done | grep .
}

# waits_for_child PID: in wait4(2), by the numbers of x86-64 and arm64
waits_for_child() {
	case $(cut -d' ' -f1 "/proc/$1/syscall") in
	61 | 260) ;;
	*) return 1 ;;
	esac
}

# Two programs run in the two containers, and nothing else: unshare waits for them.
start_two() {
	build blue
	build red
	in_cgroup $docker unshare --fork --kill-child ./blue &
	soon waits_for_child $!
	in_cgroup $crio/container unshare --fork --kill-child ./red &
	soon waits_for_child $!
	soon pid_in $docker blue >/dev/null
	soon pid_in $crio/container red >/dev/null
	blue=$(pid_in $docker blue) red=$(pid_in $crio/container red)
	pids=$blue,$red
}

# switched PID...: each of the processes has given up its CPU: one that is alone on its CPU may keep
# it for long. It is stopped for that.
write_switched() {
	cat >switched <<-'END'
		switches() { awk '/ctxt_switches/ { n += $2 } END { print n }' "/proc/$1/status"; }
		for pid; do
			before=$(switches $pid)
			kill -STOP $pid
			until [ "$(switches $pid)" != "$before" ]; do sleep 0.01; done
			kill -CONT $pid
		done
	END
}

# The command of a recording that both have samples in.
UNTIL_USED="$SRC/tests/cmd/until_used 50"

test_names_of_samples() {
	needs
	start_two
	expect_status 0 "$PERF_BPF" record -q -N --all-cgroups -e cpu-clock:u -o data -p $pids -- $UNTIL_USED $blue $red
	"$PERF_BPF" script -i data --json >json
	python3 - "${top#$root}" $A $B $POD <<-'PYTHON'
		import json, sys
		top, a, b, pod = sys.argv[1:]
		want = {
		    "blue": {"cgroup": f"{top}/docker/{a}", "container": a},
		    "red": {"cgroup": f"{top}/kubepods.slice/kubepods-pod{pod.replace('-', '_')}.slice/"
		                      f"crio-{b}.scope/container",
		            "container": b, "pod": pod, "unit": f"crio-{b}.scope"},
		}
		seen = set()
		for line in open("json"):
		    s = json.loads(line)
		    if s["type"] != "sample":
		        continue
		    got = {k: s[k] for k in ("cgroup", "container", "pod", "unit") if k in s}
		    assert got == want[s["comm"]], s
		    seen.add(s["comm"])
		assert seen == {"blue", "red"}, seen
	PYTHON
	expect_status 0 "$PERF_BPF" script -i data -F comm,cgroup,unit,container,pod
	sed 's/^ *//; s/  */ /g' out | sort -u >lines
	assert_contains lines "blue ${docker#$root} - $A -"
	assert_contains lines "red ${crio#$root}/container crio-$B.scope $B $POD"
	assert_equal "$(wc -l <lines)" 2
	expect_status 0 "$PERF_BPF" report -i data -s comm,container,pod -t '|'
	grep -v '^#' out | grep . | cut -d'|' -f2- | tr -d ' ' | sort >rows
	grep -qx "red|$B|$POD" rows || fail "$(cat rows)"
	assert_equal "$(wc -l <rows)" 2
}

test_selection() {
	local by
	needs
	start_two
	expect_status 0 "$PERF_BPF" record -q -N --all-cgroups -e cpu-clock:u -o data -p $pids -- $UNTIL_USED $blue $red
	for by in "--container ${B:0:12}" "--pod $POD" "--cgroup ${slice#$root}" \
		"--where container==\"$B\"" "--where pod==\"$POD\"" "--where unit==\"crio-$B.scope\"" \
		"--where cgroup~\"*/crio-*\""; do
		expect_status 0 "$PERF_BPF" script -i data -F comm $by
		assert_equal "$(sort -u out | tr -d ' ')" red
		expect_status 0 "$PERF_BPF" report -i data -s comm -t '|' $by
		assert_contains out '|red'
		! grep -q '|blue' out || fail "$by: blue is shown"
	done
	expect_status 0 "$PERF_BPF" script -i data -F comm --container "$A,$B"
	assert_equal "$(sort -u out | wc -l)" 2
	expect_status 0 "$PERF_BPF" script -i data -F comm --container 1234
	assert_equal "$(cat out)" ""
	# below, not beside
	expect_status 0 "$PERF_BPF" script -i data -F comm --cgroup "${docker#$root}/"
	assert_equal "$(sort -u out | tr -d ' ')" blue
	expect_status 0 "$PERF_BPF" script -i data -F comm --cgroup "${docker%?}"
	assert_equal "$(cat out)" ""
}

# Its name comes from the kernel, when it is made.
test_a_cgroup_made_meanwhile() {
	needs
	build red
	new=$top/docker/$B
	cat >work.sh <<-END
		mkdir $new
		echo \$\$ >$new/cgroup.procs
		exec ./red 0.3
	END
	expect_status 0 "$PERF_BPF" record -q -N --all-cgroups -e cpu-clock:u -o data -- bash work.sh
	expect_status 0 "$PERF_BPF" script -i data -F comm,cgroup,container
	grep '^ *red ' out | sed 's/^ *//; s/  */ /g' | sort -u >lines
	assert_equal "$(cat lines)" "red ${new#$root} $B"
	expect_status 0 "$PERF_BPF" script -i data --show-cgroup-events -F comm
	assert_contains out " ${new#$root}"
	# it has gone when the recording is read
	rmdir $new
	expect_status 0 "$PERF_BPF" report -i data -s container -t '|'
	assert_contains out "|$B"
}

# perf reads our recordings, and we read perf's, with the same result.
test_as_perf() {
	local f
	needs
	perf --version >/dev/null 2>&1 || skip "no perf"
	start_two
	expect_status 0 "$PERF_BPF" record -q -N --all-cgroups --namespaces -e cpu-clock:u -o ours -p $pids -- $UNTIL_USED $blue $red
	expect_status 0 perf record -q -N --all-cgroups --namespaces -e cpu-clock:u -o perfs -p $pids -- $UNTIL_USED $blue $red
	for f in ours perfs; do
		perf script -F comm,tid,time,event -i $f --show-cgroup-events --show-namespace-events >want 2>/dev/null
		expect_status 0 "$PERF_BPF" script -F comm,tid,time,event -i $f --show-cgroup-events --show-namespace-events
		cmp out want || { diff out want | head; fail "of $f"; }
		assert_contains out "PERF_RECORD_NAMESPACES"
		assert_contains out " ${docker#$root}"
		perf script -i $f -D 2>/dev/null | grep -A2 -E 'PERF_RECORD_(CGROUP|NAMESPACES)' >want
		"$PERF_BPF" script -i $f -D | grep -A2 -E 'PERF_RECORD_(CGROUP|NAMESPACES)' >out
		cmp out want || { diff out want | head; fail "of $f"; }
		perf report --stdio -i $f -s cgroup,comm 2>/dev/null | grep '^ ' >want
		expect_status 0 "$PERF_BPF" report --stdio -i $f -s cgroup,comm
		grep '^ ' out >rows
		cmp rows want
	done
}

# The namespaces of a process are those of /proc, when it is there already and when it is made.
test_namespaces() {
	local pid ns
	needs
	build red
	unshare --uts --pid --fork --kill-child ./red &
	soon pgrep -x red -P $! >/dev/null
	pid=$(pgrep -x red -P $!)
	expect_status 0 "$PERF_BPF" record -q -N --namespaces -e cpu-clock:u -o data -p $pid -- sleep 0.1
	expect_status 0 "$PERF_BPF" script -i data --json --show-namespace-events
	grep '"type":"namespaces"' out >records
	for ns in net uts ipc pid user mnt cgroup; do
		assert_contains records "\"name\":\"$ns\",\"dev\":$(stat -Lc %d /proc/$pid/ns/$ns),\"inode\":$(stat -Lc %i /proc/$pid/ns/$ns)"
	done
	expect_status 0 "$PERF_BPF" record -q -N --namespaces -e cpu-clock:u -o data -- \
		unshare --uts sh -c 'stat -Lc %i /proc/self/ns/uts >inode'
	expect_status 0 "$PERF_BPF" script -i data --json --show-namespace-events
	assert_contains out "\"inode\":$(cat inode)}"
}

# What is below a container or pod is in it; what is beside it is not.
test_record_of_containers() {
	local by
	needs
	start_two
	for by in "--container ${B:0:12}" "--container $B" "--pod $POD" "--cgroup ${slice#$root/}" \
		"--cgroup $slice" "--cgroup $(stat -c %i $slice)"; do
		expect_status 0 "$PERF_BPF" record -q -N -e cpu-clock:u -o data $by -- $UNTIL_USED $blue $red
		expect_status 0 "$PERF_BPF" script -i data -F comm
		assert_equal "$(sort -u out | tr -d ' ')" red
	done
	# with --all-cgroups, nested selections, and a tracepoint in a group of its own
	expect_status 0 "$PERF_BPF" record -q -N --all-cgroups -e cpu-clock:u -e sched:sched_switch -o data \
		--container $A --pod $POD --cgroup $crio -- $UNTIL_USED $blue $red
	expect_status 0 "$PERF_BPF" script -i data -F comm,event,container
	grep cpu-clock out | sed 's/^ *//; s/  */ /g' | cut -d' ' -f1,3 | sort | uniq >lines
	assert_equal "$(cat lines)" "blue $A
red $B"
	! grep -v " $A\$" out | grep -v " $B\$" || fail "samples of other cgroups"
}

# record -G: the cgroups of the events, in their order.
test_record_of_a_cgroup_by_event() {
	needs
	start_two
	recorded() {
		expect_status 0 "$PERF_BPF" record -q -N -o data "$@" -- $UNTIL_USED $blue $red
		"$PERF_BPF" script -i data -F comm,event |
			awk '$1 == "blue" || $1 == "red" { print $1, $2 }' | sort -u | tr -d : | paste -sd,
	}
	local one="-e cpu-clock/name=a/u" two="-e cpu-clock/name=b/u" three="-e cpu-clock/name=c/u"
	assert_equal "$(recorded $one $two $three -G $docker,,$crio)" "blue a,blue b,red b,red c"
	assert_equal "$(recorded $one -G $docker $two -G $crio)" "blue a,red b"
	assert_equal "$(recorded $one -G $docker $two)" "blue a,blue b,red b"
	assert_equal "$(recorded $one $two -G $docker)" "blue a,blue b"
	assert_equal "$(recorded $one -G $docker,$crio)" "blue a,red a"
	expect_status 2 "$PERF_BPF" record -q $one $two -G $docker,$crio,$docker -- true
	assert_contains err "more cgroups than events"
	expect_status 2 "$PERF_BPF" record -q -e '{cs,faults}' -G $docker,$crio -- true
	assert_contains err "are one group"
	expect_status 2 "$PERF_BPF" record -q $one $two -G $docker,$crio --pod $POD -- true
	expect_status 1 "$PERF_BPF" record -q $one -G $top/none -- true
	assert_contains err "none"
}

# has_samples COMM: in what has been recorded by now
has_samples() {
	"$PERF_BPF" script -i data -F comm,event >now 2>/dev/null || true
	grep -q "$1" now
}

# A container that is started again has the same id and a new cgroup. It waits for the recorder,
# which says that it has seen it.
test_a_container_started_again() {
	needs
	build blue
	build red
	in_cgroup $docker unshare --fork --kill-child ./blue &
	soon pid_in $docker blue >/dev/null
	libc=$(awk '$2 ~ /x/ && /libc.so/ { print $6 }' /proc/self/maps | head -n 1)
	! has attach.uprobe || probe="-e probe:exec=$libc;clock"
	"$PERF_BPF" record -v -N -e cpu-clock:u ${probe:-} -o data --container ${A:0:10} 2>log &
	record=$!
	soon has_samples blue
	again=$top/again/docker-$A.scope
	mkdir -p $again
	soon grep -q "recording the new cgroup $again" log
	in_cgroup $again unshare --fork --kill-child ./red &
	soon pid_in $again red >/dev/null
	soon has_samples "red.*cpu-clock"
	[ -z "${probe:-}" ] || soon has_samples "red.*:clock"
	kill -INT $record
	wait $record || true
}

test_run_of_containers() {
	local by
	needs
	start_two
	for by in "--container ${B:0:12}" "--pod $POD" "--cgroup ${slice#$root/}"; do
		expect_status 0 "$PERF_BPF" run profile -F 999 --folded $by -- $UNTIL_USED $blue $red
		assert_contains out red
		! grep blue out || fail "blue is shown"
	done
}

# What programs count by process or by cgroup has the names, in each format.
test_labels_of_run() {
	needs
	has attach.raw_tp || skip "the kernel has no raw tracepoints"
	start_two
	"$PERF_BPF" btf dump vmlinux --format=c >vmlinux.h
	write_switched
	expect_status 0 "$PERF_BPF" run "$OBJECTS/cgroups_by.bpf.o" --json --labels container,pod,unit,cgroup -p $pids -- sh switched $blue $red
	python3 - "${top#$root}" $A $B $POD $blue $red <<-'PYTHON'
		import json, sys
		top, a, b, pod, blue, red = sys.argv[1:]
		maps = {}
		for line in open("out"):
		    r = json.loads(line)
		    maps[r["map"]] = r
		def names(r):
		    return r["container"], r["pod"], r["unit"], r.get("cgroup")
		of_blue = (a, None, None, f"{top}/docker/{a}")
		of_red = (b, pod, f"crio-{b}.scope",
		          f"{top}/kubepods.slice/kubepods-pod{pod.replace('-', '_')}.slice/crio-{b}.scope/container")
		got = {r["pid"]: names(r) for r in maps["by_process"]["rows"]}
		assert got == {int(blue): of_blue, int(red): of_red}, got
		got = {names(r)[:3] for r in maps["by_cgroup"]["rows"]}
		assert got == {of_blue[:3], of_red[:3]}, got
		got = {names(h["key"]) for h in maps["ranges"]["hists"]}
		assert got == {of_blue, of_red}, maps["ranges"]
	PYTHON
	expect_status 0 "$PERF_BPF" run "$OBJECTS/cgroups_by.bpf.o" --labels container -p $pids -- sh switched $blue $red
	grep -qE "^blue\($blue\) +$A +1\$" out || fail "$(cat out)"
	grep -qE "red\($red\), container $B" out || fail "$(cat out)"
	expect_status 0 "$PERF_BPF" run profile -F 999 --folded --labels container -p $pids -- $UNTIL_USED $blue $red
	grep -q "^blue, container $A;" out || fail "$(cat out)"
	grep -q "^red, container $B;" out || fail "$(cat out)"
	! grep -v container out || fail "a stack has no container"
	# metrics
	"$PERF_BPF" run "$OBJECTS/cgroups_by.bpf.o" --labels container,pod --openmetrics=127.0.0.1:0 -p $pids 2>log &
	run=$!
	soon grep -q 'http://' log
	scrape "$(grep -o 'http://[^ ]*' log)"
	soon scrape_has "by_process.*pid=\"$red\",container=\"$B\",pod=\"$POD\"" "$(grep -o 'http://[^ ]*' log)"
	soon scrape_has "by_process.*pid=\"$blue\",container=\"$A\"" "$(grep -o 'http://[^ ]*' log)"
	kill -INT $run
	wait $run || true
	expect_status 1 "$PERF_BPF" run "$OBJECTS/cgroups_by.bpf.o" --labels containr -- true
	assert_contains err "unknown label 'containr'"
	assert_contains err "did you mean 'container'"
	expect_status 1 "$PERF_BPF" run "$OBJECTS/cgroups_by.bpf.o" --labels pod,pod -- true
}

scrape() {
	python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())' "$1" >metrics
}

scrape_has() {
	scrape "$2"
	grep -q "$1" metrics
}

# The programs of probes and objects run for all tasks: they ask for the cgroup themselves.
test_programs_of_containers() {
	local by event libc
	needs
	has attach.uprobe || skip "the kernel has no uprobes"
	start_two
	"$PERF_BPF" btf dump vmlinux --format=c >vmlinux.h
	cat >put.bpf.c <<-'END'
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>
		#include <bpf/perf_bpf_prog.h>
		perf_output_map();
		SEC("raw_tp/sched_switch")
		int put(void *ctx)
		{
			__u32 one = 1;
			if (WANTED)
				perf_output(ctx, &one, sizeof(one));
			return 0;
		}
		char _license[] SEC("license") = "GPL";
	END
	compile_bpf put.bpf.c put.bpf.o -I. -DWANTED='perf_bpf_wanted()'
	compile_bpf put.bpf.c all.bpf.o -I. -DWANTED=1
	libc=$(awk '$2 ~ /x/ && /libc.so/ { print $6 }' /proc/self/maps | head -n 1)
	write_switched
	for event in "probe:exec=$libc;clock" put.bpf.o; do
		expect_status 0 "$PERF_BPF" record -q -N -e "$event" -o data --pod $POD -- \
			sh -c "$UNTIL_USED $blue $red; sh switched $blue $red"
		expect_status 0 "$PERF_BPF" script -i data -F comm
		# its parent is in the pod, too, and wakes up when it stops
		assert_equal "$(sort -u out | tr -d ' ' | grep -vx unshare)" red
	done
	expect_status 0 "$PERF_BPF" record -q -N -e "probe:exec=$libc;clock" -e cpu-clock:u -o data \
		--container $A,$B -- $UNTIL_USED $blue $red
	expect_status 0 "$PERF_BPF" script -i data -F comm,event
	assert_equal "$(awk '{ print $1, $2 }' out | sort -u | tr -d : | paste -sd,)" \
		"blue cpu-clocku,blue probe_libcclock,red cpu-clocku,red probe_libcclock"
	expect_status 2 "$PERF_BPF" record -e all.bpf.o --container $B -- true
	assert_contains err "does not call perf_bpf_wanted()"
}

test_trace_of_a_container() {
	needs
	workload_as blue
	cp blue red
	in_cgroup $docker unshare --fork --kill-child ./blue forever call getppid 1 + sleeps 1 1000 &
	in_cgroup $crio/container unshare --fork --kill-child ./red forever call getppid 1 + sleeps 1 1000 &
	soon pid_in $docker blue >/dev/null
	soon pid_in $crio/container red >/dev/null
	for by in "--container ${B:0:12}" "--pod $POD"; do
		rm -f log # of the one before: it would be ended before it has begun
		"$PERF_BPF" trace -e getppid $by 2>log &
		soon grep -q 'red/[0-9]* getppid' log
		kill -INT $!
		wait $! || true
		! grep blue log || fail "blue is shown"
	done
	expect_status 1 "$PERF_BPF" trace -e getppid --container $A,$B
	assert_contains err "2 cgroups are named"
}

test_names_that_are_not_there() {
	local what
	needs
	mkdir $top/docker/${A%0}1
	for what in record run trace; do
		[ $what != run ] || what="run profile"
		expect_status 1 "$PERF_BPF" $what --container 5bf12d0b5d3a
		assert_contains err "there is no container '5bf12d0b5d3a'"
		assert_contains err "did you mean '"
		assert_contains err "'$A'"
		expect_status 1 "$PERF_BPF" $what --container ${A:0:12}
		assert_contains err "'${A:0:12}' is the start of several ids"
		assert_contains err "${A%0}1"
		expect_status 1 "$PERF_BPF" $what --container xyz
		assert_contains err "there are: "
		assert_contains err "${B:0:12}"
		expect_status 1 "$PERF_BPF" $what --pod ${POD%6}7
		assert_contains err "there is no pod"
		assert_contains err "did you mean '$POD'"
		expect_status 1 "$PERF_BPF" $what --cgroup kubepods.slicr
		assert_contains err "unknown cgroup 'kubepods.slicr'"
		assert_contains err "${top#$root}/kubepods.slice"
		expect_status 1 "$PERF_BPF" $what --cgroup /proc
		assert_contains err "'/proc' is not a cgroup"
		expect_status 1 "$PERF_BPF" $what --container ''
	done
	expect_status 2 "$PERF_BPF" record --container $B -p $$ -- true
	assert_contains err "cannot be used with -p"
}

test_errors() {
	needs
	expect_status 0 "$PERF_BPF" record -q -N -e cpu-clock:u -o data -- true
	for by in "--container $A" "--pod $POD" "--cgroup /"; do
		expect_status 1 "$PERF_BPF" report -i data $by
		assert_contains err "have no cgroup"
		assert_contains err "--all-cgroups"
	done
	expect_status 1 "$PERF_BPF" script -i data -F cgroup
	assert_contains err "have no cgroup"
	expect_status 0 "$PERF_BPF" report -i data -s cgroup
}

run_tests
