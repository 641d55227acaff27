#!/usr/bin/env bash
# perf-bpf top: tables, and the browser on a terminal of tmux.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/tmux.sh"

# A process that takes page faults until it is killed: pbt_hot three for each one of pbt_warm. Its pid
# is in $pid. It changes its name to an argument, if there is one.
work() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	cat >work.c <<-'END'
		#include <stdio.h>
		#include <sys/mman.h>
		#include <sys/prctl.h>
		#include <unistd.h>
		enum { PAGE = 4096 };
		static char pages[40 * PAGE] __attribute__((aligned(4096)));
		__attribute__((noinline)) void pbt_hot(volatile char *p)
		{
			for (int i = 0; i < 30; i++)
				p[i * PAGE] = 1;
			__asm__("");
		}
		__attribute__((noinline)) void pbt_warm(volatile char *p)
		{
			for (int i = 30; i < 40; i++)
				p[i * PAGE] = 1;
			__asm__("");
		}
		__attribute__((noinline)) void pbt_both(volatile char *p) { pbt_hot(p); pbt_warm(p); __asm__(""); }
		int main(int n, char **v)
		{
			if (n > 1)
				prctl(PR_SET_NAME, v[1]);
			for (int i = 0;; i++) {
				pbt_both(pages);
				madvise(pages, sizeof(pages), MADV_DONTNEED);
				usleep(2000);
				if (i == 1) {
					puts("ready");
					fflush(stdout);
				}
			}
		}
	END
	gcc -O0 -fno-omit-frame-pointer -o pbt_work work.c
	trap end_all EXIT
	./pbt_work "$@" >ready &
	pid=$!
	soon test -s ready
	write_until_faults
}
FAULTS="-e page-faults:u -c 1"

# until_faults PID N: the command of a recording of so many page faults, whoever else wants the CPUs
write_until_faults() {
	cat >until_faults <<-'END'
		faults() { cut -d' ' -f10 "/proc/$1/stat"; }
		end=$(($(faults $1) + $2))
		until [ "$(faults $1)" -ge $end ]; do sleep 0.02; done
	END
}

end_all() {
	t kill-server 2>/dev/null || true
	kill -KILL $(jobs -p) 2>/dev/null || true
}

# start_top OPTION...: prints tables to ./out
start_top() {
	: >out
	"$PERF_BPF" top --stdio -d 0.2 "$@" >out 2>err &
	top_pid=$!
}

# tables N: so many were printed, and the begin of one more
tables() {
	[ "$(grep -c '^# perf-bpf top: ' out)" -gt "$1" ]
}

out_has() {
	grep -qE -- "$1" out
}

end_top() {
	local status=0
	kill -INT $top_pid
	wait $top_pid || status=$?
	[ $status = 0 ] || fail "top ended with $status: $(cat err)"
}

# has_samples N: pbt_hot has so many in a table
has_samples() {
	awk -v least="$1" '/ pbt_hot *$/ && $2 >= least { found = 1 } END { exit !found }' out
}

# The workload's rounds may be cut by the begin and the end, so there have to be many.
test_shares_are_those_of_report() {
	work
	start_top $FAULTS -p $pid -n -E 2
	soon has_samples 600
	end_top
	[ ! -s err ] || fail "$(cat err)"
	"$PERF_BPF" record -q $FAULTS -o perf.data -p $pid -- sh until_faults $pid 4000
	"$PERF_BPF" report -q --stdio -n -s dso,sym >report
	python3 - out report <<-'END'
		import re, sys
		row = r"^ +([\d.]+)% +(\d+) +(\S+) +\[\.\] (\S+) *$"
		tables = open(sys.argv[1]).read().split("# perf-bpf top: ")[1:]
		assert all(re.match(r"\d+ samples in \d+\.\d s, \d+ lost\n", t) for t in tables), tables
		top = max((re.findall(row, t, re.M) for t in tables), key=lambda rows: int(rows[0][1]) if rows else 0)
		report = re.findall(row, open(sys.argv[2]).read(), re.M)
		assert len(top) == 2, tables
		for rows in top, report:
		    assert [r[3] for r in rows[:2]] == ["pbt_hot", "pbt_warm"], rows
		    assert all(r[2] == "pbt_work" for r in rows[:2]), rows
		    assert abs(float(rows[0][0]) - 75) < 3, rows
		    assert abs(float(rows[1][0]) - 25) < 3, rows
		    assert 2.7 < int(rows[0][1]) / int(rows[1][1]) < 3.3, rows
	END
}

test_call_chains() {
	work
	start_top $FAULTS -t $pid -s comm,sym -g --no-children
	soon out_has "^ +pbt_both$"
	end_top
	assert_contains out "# Overhead  Command   Symbol"
	start_top $FAULTS -p $pid -g
	soon out_has "^ +100\.00% +0\.00% +pbt_work +\[\.\] pbt_both" # what it calls is counted for it, too
	end_top
	start_top $FAULTS -p $pid --no-children --call-graph dwarf,4096,folded,0.5,caller
	soon out_has "main;pbt_both;pbt_hot$"
	end_top
	start_top $FAULTS -p $pid --call-graph none
	soon out_has "^ +7[45]\.[0-9]+% .*pbt_hot" # of few rounds, it may be less or more
	end_top
	! grep -qE "^ +\|?--?[0-9]" out || fail "call chains: $(cat out)"
}

# What is hidden; samples of the last interval alone; samples of one process of all; rows that are few.
test_what_is_shown() {
	work
	start_top -e page-faults -c 1 -p $pid -K -z
	soon out_has pbt_hot
	soon tables 2
	end_top
	! grep -q '\[k\]' out || fail "the kernel is there: $(cat out)"
	start_top $FAULTS -a --comms pbt_work --symbols pbt_warm --percentage relative
	soon out_has '^ +100\.00% +pbt_work *$' # one function: no column says which
	end_top
	start_top $FAULTS -p $pid -f 1000000000
	soon tables 1
	end_top
	! grep -qE '^ +[0-9.]+%' out || fail "rows with few samples: $(cat out)"
	start_top $FAULTS -p $pid --hierarchy -s dso,sym
	soon out_has '^ +[0-9.]+% +pbt_work'
	end_top
	start_top -e task-clock -F 1000 -C 0 -d 0.1
	soon tables 1
	end_top
}

# --filter of samples, in the kernel: one function of two is left, by the addresses of its code.
test_filter_of_samples() {
	local from size
	work
	bpftool btf dump file /sys/kernel/btf/vmlinux | grep -q "FUNC 'bpf_cast_to_kern_ctx'" ||
		skip "this kernel does not let programs read samples"
	from=$(awk '/pbt_work$/ && $2 ~ /x/ { split($1, a, "-"); print a[1], $3; exit }' /proc/$pid/maps)
	set -- $(nm -S pbt_work | awk '$4 == "pbt_warm" { print $1, $2 }')
	size=$((16#$2)) from=$((16#${from% *} - 16#${from#* } + 16#$1))
	start_top $FAULTS --filter "ip >= $from, ip < $((from + size))" -p $pid
	soon out_has '^ +100\.00% .*pbt_warm *$'
	end_top
	! grep -q pbt_hot out || fail "$(cat out)"
}

# Threads of a user end while their events are opened.
test_users() {
	work
	(while :; do /bin/true; done) &
	start_top $FAULTS -u 0 --comms pbt_work --percentage relative
	soon out_has '^ +7[0-9.]+% .*pbt_hot'
	end_top
}

test_wrong_options() {
	expect_status 2 "$PERF_BPF" top --stdio -s nonsense
	assert_contains err "unknown sort key 'nonsense'"
	expect_status 2 "$PERF_BPF" top -d 0
	assert_contains err "-d: '0' is not a number from 0.1 on"
	expect_status 2 "$PERF_BPF" top -c 0
	assert_contains err "-c 0: expected a count of at least 1"
	expect_status 2 "$PERF_BPF" top --percentage x
	expect_status 2 "$PERF_BPF" top --call-graph nonsense
	assert_contains err "perf-bpf: error: --call-graph: invalid mode 'nonsense'"
	expect_status 2 "$PERF_BPF" top --call-graph dwarf,1000000
	expect_status 2 "$PERF_BPF" top -w x
	assert_contains err "perf-bpf: error: --column-widths: 'x'"
	expect_status 2 "$PERF_BPF" top nonsense
	expect_status 1 "$PERF_BPF" top --stdio -p 999999999
	expect_status 1 "$PERF_BPF" top --stdio -u no_such_user_
	assert_contains err "no_such_user_"
	expect_status 1 "$PERF_BPF" top --stdio -G /no/such/cgroup
	assert_contains err "cgroup"
}

test_without_privileges() {
	command -v setpriv >/dev/null || skip "setpriv is not installed"
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 1 ] || skip "anybody may sample all processes"
	chmod 711 "$top" . # the binary's folder may be closed to others, not its descriptor
	exec {binary}<"$PERF_BPF"
	setpriv --reuid 4242 --clear-groups "/proc/self/fd/$binary" --version >/dev/null 2>&1 ||
		skip "other users cannot run $PERF_BPF"
	expect_status 1 setpriv --reuid 4242 --clear-groups "/proc/self/fd/$binary" top --stdio
	grep -qE 'CAP_PERFMON|perf_event_paranoid' err || fail "$(cat err)"
}

# Processes that have ended are forgotten, also those that map code of their own: of 9000, a few
# thousand are kept at most, beside those that run.
test_ended_processes_are_forgotten() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	cat >forks.c <<-'END'
		#include <stdlib.h>
		#include <sys/mman.h>
		#include <sys/wait.h>
		#include <unistd.h>
		int main(int n, char **v)
		{
			for (int i = atoi(v[1]); i--;) {
				if (!fork()) {
					*(volatile char *)mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
							       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) = 1;
					_exit(0);
				}
				wait(NULL);
			}
			return 0;
		}
	END
	gcc -O1 -o pbt_forks forks.c
	trap end_all EXIT
	start_top $FAULTS -g -s pid,dso,sym --comms pbt_forks -v
	soon tables 0
	./pbt_forks 9000
	soon tables $(grep -c '^# perf-bpf top: ' out)
	end_top
	grep -q pbt_forks out || fail "no short process: $(tail -60 out)"
	python3 - err $(ls -d /proc/[0-9]*/task/[0-9]* | wc -l) <<-'END'
		import re, sys
		text = open(sys.argv[1]).read()
		threads = re.search(r"at the end (\d+) threads", text)
		assert threads, text
		# perf/top/live_profile.c forgets when there are 4096 more than those that ran
		assert int(threads[1]) < 4096 + 1500 + int(sys.argv[2]), (threads[1], sys.argv[2])
	END
}

# While top does not read, the ring becomes full.
test_losses_are_counted() {
	work
	start_top $FAULTS -p $pid -m 1
	soon tables 1
	kill -STOP $top_pid
	faults() { cut -d' ' -f10 /proc/$pid/stat; }
	more() { [ "$(faults)" -gt $((before + 2000)) ]; }
	before=$(faults)
	soon more
	kill -CONT $top_pid
	soon out_has '^# perf-bpf top: .* s, [1-9][0-9]* lost$'
	end_top
	# the total of each table is what all tables so far have lost
	python3 - out <<-'END'
		import re, sys
		text = open(sys.argv[1]).read()
		lost = [int(n) for n in re.findall(r"^# perf-bpf top: .* s, (\d+) lost$", text, re.M)]
		totals = [int(n) for n in re.findall(r"^# Total Lost Samples: (\d+)$", text, re.M)]
		assert totals == [sum(lost[: i + 1]) for i in range(len(lost))], (lost, totals)
	END
}

test_browser() {
	work "$(printf 'pbt\033]2;X\a')"
	open_terminal 80 24
	trap end_all EXIT
	t send-keys "$PERF_BPF top -d 0.2 $FAULTS -p $pid -g --no-children; echo status \$? >status" Enter
	wait_for screen_has "[.] pbt_hot"
	wait_for screen_has "of event 'page-faults:u', "
	wait_for screen_has " lost"
	# it goes on by itself, and what is open stays open
	t send-keys e
	wait_for screen_has "pbt_both"
	t send-keys s Down Enter
	wait_for screen_has 'pbt\x1b]2;X\x07'
	t send-keys p
	wait_for screen_has "[paused]"
	t capture-pane -p >before
	t send-keys h
	wait_for screen_has "perf-bpf top: keys"
	t send-keys End
	wait_for screen_has "drop samples of earlier intervals"
	t send-keys q
	wait_for same_as before
	t send-keys z
	wait_for screen_has "Samples of earlier intervals are dropped"
	t send-keys p D 0 . 1 Enter
	wait_for screen_has "pbt_hot"
	t send-keys x
	t resize-window -x 200 -y 60
	wait_for is_wide
	t resize-window -x 40 -y 8
	wait_for is_small
	t send-keys q
	wait_for test -s status
	assert_equal "$(cat status)" "status 0"
	wait_for is_back
	takes_lines
}

test_terminal_that_nobody_reads() {
	work
	assert_equal "$(PERF_BPF=$PERF_BPF "$SRC/tests/cmd/unread_terminal.py" SIGTERM hq "$PERF_BPF" top -d 0.1 $FAULTS -p $pid)" "exit 0"
}

is_wide() {
	t capture-pane -p >wide
	[ "$(wc -l <wide)" = 60 ] && grep -q '[0-9]%  pbt' wide && tail -1 wide | grep -q '^h help.*/[0-9]* *$'
}

is_small() {
	t capture-pane -p >small
	[ "$(wc -l <small)" = 8 ] && grep -q '[0-9]%  pbt' small && tail -1 small | grep -q '^h help.*/[0-9]* *$'
}

same_as() {
	t capture-pane -p | head -n -1 | diff -q - <(head -n -1 "$1") >/dev/null
}

has_a_share() {
	t capture-pane -p >code
	grep -qE '^ +[1-9][0-9.]+ │ ' code
}

# The code of a function, whose samples are counted while it is shown; one of it has most faults.
test_code_of_a_function() {
	work
	"$PERF_BPF" record -q $FAULTS -o perf.data -p $pid -- sh until_faults $pid 400
	"$PERF_BPF" annotate pbt_hot >/dev/null 2>why || skip "$(cat why)"
	open_terminal 160 24
	trap end_all EXIT
	t send-keys "$PERF_BPF top -d 0.2 --no-source $FAULTS -p $pid; echo status \$? >status" Enter
	wait_for screen_has "[.] pbt_hot"
	t send-keys a
	wait_for has_a_share
	assert_contains code "pbt_hot  $PWD/pbt_work"
	assert_contains code "Source code & Disassembly of pbt_work for page-faults:u"
	# the store takes the faults
	"$PERF_BPF" annotate --no-source pbt_hot 2>/dev/null |
		sed -nE 's/^ +(9[0-9]|100)\.[0-9]+ : +[0-9a-f]+: //p' >hot
	[ "$(wc -l <hot)" = 1 ] || fail "faults at several instructions"
	grep -E '^ +(9[0-9]|100)\.[0-9]+ │ ' code | grep -qF -- "$(cat hot)" || fail "$(cat hot): $(cat code)"
	n=$(n_samples)
	[ -n "$n" ] || fail "no number of samples: $(cat code)"
	# more samples come in, and what was searched for stays
	t send-keys / r e t Enter
	wait_for searched
	wait_for is_counting
	t send-keys q
	wait_for screen_has "of event 'page-faults:u', "
	t send-keys q
	wait_for test -s status
	assert_equal "$(cat status)" "status 0"
}

# The bar at the bottom has the line of the cursor, which is the last one.
searched() {
	t capture-pane -p | tail -n 1 | grep -qE ' ([0-9]+)/\1 *$'
}

is_counting() {
	searched && t capture-pane -p >code && [ "$(n_samples)" != "$n" ]
}

n_samples() {
	sed -nE '1s/.* ([0-9]+) samples.*/\1/p' code
}

# The events of a group have one table, with a column for each.
test_groups() {
	local realtime=
	work
	! chrt -f 1 true 2>/dev/null || realtime="-r 1"
	start_top -e '{page-faults:u,minor-faults:u}' -c 1 -p $pid $realtime
	soon out_has "^ +[0-9.]+% +[0-9.]+% .* pbt_hot"
	end_top
	assert_contains out "of events 'anon group { page-faults:u, minor-faults:u }'"
	start_top -e page-faults:u -e minor-faults:u --group -c 1 -p $pid
	soon out_has "^ +[0-9.]+% +[0-9.]+% .* pbt_hot"
	end_top
	assert_contains out "of events 'anon group { page-faults:u, minor-faults:u }'"
	expect_status 2 "$PERF_BPF" top --stdio -r 100
	assert_contains err "from 1 to 99"
}

# first_row: the function of the first row of the last whole table
first_row() {
	awk '/^# perf-bpf top: / { last = row; row = "" } /^ +[0-9.]+% / && !row { row = $NF } END { print last }' out
}

# The first row is that of the event that is chosen.
test_group_is_sorted_by_one_event() {
	work
	start_top -e '{page-faults:u,context-switches}' -c 1 -p $pid --group-sort-idx 0 -s sym
	soon has_rows_of_both
	end_top
	assert_equal "$(first_row)" pbt_hot
	start_top -e '{page-faults:u,context-switches}' -c 1 -p $pid --group-sort-idx 1 -s sym
	soon has_rows_of_both
	end_top
	awk '/^ +[0-9.]+% / { print $1, $2, $NF }' out | grep -E " $(first_row)\$" | tail -n 1 >row
	grep -qE '^ *0\.00% ' row || fail "it has page faults: $(cat row)"
}

has_rows_of_both() {
	[ "$(grep -cE '^ +0\.00% +[1-9][0-9.]*%' out)" -gt 2 ] && grep -qE '^ +[1-9][0-9.]*% .*pbt_hot' out
}

# A round of the workload sleeps, which switches on; the second event of its first page fault switches off.
test_events_that_switch() {
	local events="-e page-faults:u,minor-faults:u,context-switches -c 1"
	work
	start_top $events -p $pid -n -s sym --switch-on context-switches --switch-off minor-faults:u
	soon out_has '^ +[0-9.]+% +[0-9]{2,} .*pbt_hot'
	end_top
	# but for rounds in which another task had the CPU
	awk '/ pbt_hot$/ && $2 > hot { hot = $2 } / pbt_warm$/ && $2 > warm { warm = $2 }
		END { exit !(hot >= 10 && warm * 5 < hot) }' out || fail "$(cat out)"
	start_top $events -e emulation-faults -p $pid --switch-on emulation-faults
	soon tables 3
	end_top
	! grep -qE '^ +[0-9.]+% ' out || fail "samples before: $(cat out)"
	expect_status 2 "$PERF_BPF" top --stdio $events -p $pid --switch-on minor-fault:u
	assert_contains err "--switch-on: unknown event 'minor-fault:u'"
	assert_contains err "did you mean 'minor-faults:u'?"
}

# The kernel that runs has its list of symbols: top looks for no image of it, with the option or without.
test_kernel_image_is_not_looked_for() {
	local option
	work
	command -v strace >/dev/null || skip "strace is not installed"
	for option in "" --ignore-vmlinux; do
		rm -f out # of the one before: the child of the shell that makes it may be late
		ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 strace -f -o calls -e trace=%file "$PERF_BPF" top --stdio -d 0.2 -e context-switches -c 1 \
			-p $pid $option >out 2>err &
		top_pid=$!
		soon out_has '^ +[0-9.]+% .*\[k\]'
		kill -INT $(pgrep -P $top_pid)
		wait $top_pid || fail "top: $(cat err)"
		grep -q /proc/kallsyms calls || fail "no symbols of the kernel are read"
		! grep '/vmlinux' calls | grep -v /sys/kernel/btf/ || fail "an image is looked for"
	done
}

# Tables where the cursor cannot be placed; Ctrl-C ends it.
test_dumb_terminal() {
	work
	open_terminal 80 24 dumb
	trap end_all EXIT
	t send-keys "$PERF_BPF top -d 0.2 $FAULTS -p $pid -E 1; echo status \$? >status" Enter
	wait_for screen_has "[.] pbt_hot"
	mode_is alternate_on 0 || fail "the second screen on a dumb terminal"
	t send-keys C-c
	wait_for test -s status
	assert_equal "$(cat status)" "status 0"
}

run_tests
