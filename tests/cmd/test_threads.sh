#!/usr/bin/env bash
# record, run, trace and top of processes with very many threads.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"

TRACEFS=/sys/kernel/tracing
THREADS=10000
# As many open files as the default hard limit of some systems: too few for an event of each thread.
FILES=12000

# many N: starts the process. Its pid is in $pid; ask COMMAND sends it a line, and waits for the answer.
many() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -d $TRACEFS/events ] || mount -t tracefs nodev $TRACEFS 2>/dev/null || true
	[ -d $TRACEFS/events ] || skip "tracefs cannot be mounted"
	mkfifo orders
	"$BUILD/tests/cmd/many_threads" "$1" <orders >answers &
	pid=$!
	trap 'kill $(jobs -p) 2>/dev/null || :' EXIT
	exec 7>orders
	soon test -s answers
	grep -q ready answers || skip "no $1 threads: $(head -1 answers)"
	# for the workloads of record and its like, which do not have the descriptor 7
	cat >ask.sh <<-'ASK'
		for order; do
			n=$(wc -l <answers)
			echo "$order" >orders
			until [ "$(wc -l <answers)" -gt "$n" ]; do sleep 0.02; done
		done
	ASK
}

# exec_with_files N COMMAND...: becomes the command, with at most N open files, also as a hard limit
exec_with_files() {
	exec setpriv --bounding-set -sys_resource --inh-caps -sys_resource bash -c 'ulimit -n "$0" && exec "$@"' "$@"
}

with_files() { (exec_with_files "$@"); }

# record OPTION...: of the process, while it does what is in $orders
record() {
	with_files $FILES "$PERF_BPF" record -p $pid "$@" -- bash ask.sh "${orders[@]}" >record.out 2>record.err ||
		{ sed 's/^/# | /' record.err; fail "record $*"; }
	assert_contains record.err ", 0 lost)"
}

# tids FILE OPTION...: of the samples, each once; only the process and its children have any
tids() {
	"$PERF_BPF" script -i "$1" -F comm,pid,tid "${@:2}" >samples 2>script.err || fail "$(cat script.err)"
	! grep -v '^ *pbt_many ' samples || fail "samples of others"
	sed -n "s|^ *pbt_many *$pid/\([0-9]*\) *$|\1|p" samples | sort -u
}

# A tracepoint, by the recorder, and a counter, in the kernel: each thread has its samples, and so do
# those that come later, and children.
test_record() {
	many $THREADS
	orders=(each "new 100" fork)
	# room for all samples (4 MB), and for those of other tasks, which are left out when they are read
	record -m 16M -e syscalls:sys_enter_getppid -e page-faults:u -c 1 -g -o t.data
	assert_contains record.err "recording $THREADS threads on $(nproc) CPUs needs $((THREADS * 3 * $(nproc) + 128)) open files, but the limit is $FILES"
	assert_contains record.err "recording all CPUs instead, with the samples of these tasks only"
	tids t.data >got
	[ "$(wc -l <got)" -ge $((THREADS - 1 + 1)) ] || fail "$(wc -l <got) threads have samples"
	"$PERF_BPF" script -i t.data -F event,ip,sym >chains 2>err
	assert_equal "$(grep -c 'sys_enter_getppid:' chains)" $((THREADS - 1 + 100 + 1))
	assert_equal "$(grep -c ' pbt_touch' chains)" $((THREADS - 1 + 100 + 1))
	"$PERF_BPF" report -i t.data --tasks >tasks 2>err
	[ "$(grep -c pbt_many tasks)" -ge $THREADS ] || fail "$(grep -c pbt_many tasks) threads are named"
}

# Without children and new threads; with programs of the user.
test_record_few() {
	many 1000
	FILES=1500
	orders=(each "new 100" fork)
	record --no-inherit -e syscalls:sys_enter_getppid -o n.data
	tids n.data >got
	assert_equal "$(wc -l <got)" 999
	assert_equal "$(wc -l <samples)" 999
	# programs that filter
	orders=(each)
	record -e "$OBJECTS/threads_even.bpf.o" -e page-faults:u -c 1 -o t.data
	ls /proc/$pid/task | grep -vx $pid | sort >all
	grep '[02468]$' all >even
	grep '[13579]$' all >odd
	"$PERF_BPF" script -i t.data -F pid,tid,event >events
	sed -n "s|^ *$pid/\([0-9]*\) .*sys_enter_getppid.*|\1|p" events | sort >got
	cmp -s got even || fail "$(wc -l <got) calls of $(wc -l <even) threads"
	sed -n "s|^ *$pid/\([0-9]*\) .*page-faults.*|\1|p" events | grep -vx $pid | sort -u >got
	cmp -s got odd || fail "page faults of $(wc -l <got) threads, not of $(wc -l <odd)"
	tids t.data >got # no other task
	# the recording ends with the process
	exec_with_files $FILES "$PERF_BPF" record -p $pid -e cpu-clock -o u.data >record.out 2>record.err &
	local recorder=$!
	soon test -e u.data
	kill $pid
	soon_ended() { ! kill -0 $recorder 2>/dev/null; }
	soon soon_ended
	wait $recorder || fail "the recording did not end with the process: $(cat record.err)"
}

test_run_trace_top() {
	many $THREADS
	with_files $FILES "$PERF_BPF" run -q profile -e page-faults:u -c 1 -p $pid --folded -- bash ask.sh each >out 2>err ||
		fail "run: $(cat err)"
	awk '/;pbt_touch [0-9]+$/ { n += $NF } END { print n + 0 }' out >n
	assert_equal "$(cat n)" $((THREADS - 1))
	with_files $FILES "$PERF_BPF" trace -e getppid -p $pid -- bash ask.sh each >out 2>err || fail "trace: $(cat err)"
	assert_equal "$(grep -c "pbt_many.*getppid()" err)" $((THREADS - 1))
	bash ask.sh spin
	rm -f out err # the shell in the background makes them only when it runs
	exec_with_files $FILES "$PERF_BPF" top --stdio -d 0.2 -p $pid -e cpu-clock >out 2>err &
	local top=$!
	shows '%.*many_threads.*pbt_touch'
	kill -INT $top
	wait $top || true
	rm -f out err
	exec_with_files $FILES "$PERF_BPF" top --stdio -d 0.2 -p $pid -e syscalls:sys_enter_getppid -n >out 2>err &
	top=$!
	shows '# perf-bpf top: '
	bash ask.sh each
	shows '%.*syscall'
	kill -INT $top
	wait $top || true
	assert_contains err "recording all CPUs instead"
}

# shows REGEX: top comes to it
shows() {
	soon has_or_ended "$1"
	grep -q "$1" out || fail "no '$1': $(head -c 2000 err; tail -n 40 out)"
}

has_or_ended() {
	grep -qs "$1" out || ! kill -0 $top
}

# Where samples of all tasks are not allowed, the limit is told before anything is begun.
test_limit() {
	many 1000
	# The soft limit is raised by itself.
	(ulimit -Sn 100 && "$PERF_BPF" record -p $pid -e cpu-clock -o t.data -- true 2>err) || fail "the soft limit was not raised"
	! grep "open files" err || fail "$(cat err)"
	local needed=$((1000 * 2 * $(nproc) + 128)) no_bpf=-bpf,-sys_admin,-sys_resource
	expect_status 1 setpriv --bounding-set $no_bpf --inh-caps $no_bpf bash -c 'ulimit -n "$0" && exec "$@"' 500 \
		"$PERF_BPF" record -p $pid -e cpu-clock -o u.data
	assert_contains err "recording 1000 threads on $(nproc) CPUs needs $needed open files, but the limit is 500"
	assert_contains err "ulimit -Hn $needed' (LimitNOFILE= of a systemd unit), which needs CAP_SYS_RESOURCE, or select all CPUs or a cgroup instead of threads"
	[ ! -e u.data ] || fail "a recording was begun"
	expect_status 1 with_files 500 "$PERF_BPF" record --per-thread -p $pid -e cpu-clock -o u.data
	assert_contains err "recording 1000 threads on 1 CPUs needs 2128 open files, but the limit is 500"
	[ ! -e u.data ] || fail "a recording was begun"
	# run has a link for each of them; the number that it names is enough
	(ulimit -Sn 100 && expect_status 0 "$PERF_BPF" run -q profile -p $pid --duration 50ms --folded) || fail "the soft limit was not raised"
	expect_status 1 with_files 700 "$PERF_BPF" run -q profile -p $pid --duration 50ms --folded
	needed=$(sed -n 's/.*sampling all threads of -p needs \([0-9]*\) open files, but the limit is 700.*/\1/p' err)
	[ -n "$needed" ] || fail "it does not say what it needs: $(cat err)"
	[ "$needed" -lt 1500 ] || fail "$needed open files for 1000 threads"
	expect_status 0 with_files "$needed" "$PERF_BPF" run -q profile -p $pid --duration 50ms --folded
}

# opens_events PID FROM TO: so many of the recorder's descriptors are events by now
opens_events() {
	local n
	n=$(ls -l /proc/$1/fd 2>/dev/null | grep -c perf_event)
	[ "$n" -gt "$2" ] && [ "$n" -lt "$3" ]
}

# A thread that is started while events are opened may have none. The recorder is stopped meanwhile;
# where it was too quick, once more.
test_threads_started_meanwhile() {
	many 2000
	local status
	for _ in $(seq 20); do
		"$PERF_BPF" record -p $pid -e cpu-clock -o t.data -- true >out 2>err &
		local recorder=$!
		until opens_events $recorder 50 10000000 || ! kill -0 $recorder 2>/dev/null; do :; done
		kill -STOP $recorder 2>/dev/null || true
		if opens_events $recorder 50 $((2000 * 2 * $(nproc))); then
			bash ask.sh spin
			kill -CONT $recorder
			wait $recorder || fail "record: $(cat err)"
			assert_contains err "1 threads were started while events were being opened: some of them may be missing"
			return
		fi
		kill -CONT $recorder 2>/dev/null || true
		wait $recorder || true
	done
	skip "the recorder is too quick"
}

# bounded COMMAND...: it ends well, with at most 512 MB, and writes to out and err
bounded() {
	"$SRC/tests/cmd/limited.py" status "$@" >out 2>err || fail "'$*': $(tail -3 err)"
	assert_equal "$(cat status)" 0
}

# A recording of 100,000 threads: each has its name and its samples.
test_recording_of_100000() {
	"$SRC/tests/cmd/threads_recording.py" 100000 >t.data
	awk 'BEGIN { for (i = 0; i < 100000; i++) print "t" i % 1000, 100000 + i, 1 + i % 3 }' >want
	bounded "$PERF_BPF" script -F comm,tid -i t.data
	awk '{ n[$1 " " $2]++ } END { for (k in n) print k, n[k] }' out | sort >got
	sort want | cmp -s got - || fail "script: other samples: $(sort want | diff - got | head -3)"
	bounded "$PERF_BPF" report --stdio -n --sort comm -i t.data
	awk '/^ .*% / { print $3, $2 }' out | sort >got
	awk '{ n[$1] += $3 } END { for (k in n) print k, n[k] }' want | sort | cmp -s got - ||
		fail "report: other counts: $(head -3 got)"
	bounded "$PERF_BPF" report --stdio -n --sort tid -i t.data
	assert_equal "$(awk '/^ .*% / { n += $2 } END { print n }' out)" 199999
	assert_equal "$(grep -c '^ .*% ' out)" 100000
	bounded "$PERF_BPF" report --tasks -i t.data
	assert_equal "$(grep -cw 't[0-9]*' out)" 100000
}

run_tests
