#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# perf-bpf list: against tracefs, sysfs, perf list, BTF and the binaries themselves.
. "$(dirname "$0")/../tap.sh"

tracing=/sys/kernel/tracing

# The names of one kind of a list in the file out.
names_of() {
	sed -n "s/^  \(.*[^ ]\) *\[$1\]\$/\1/p" out
}

# ftrace's own formats are no perf events.
tracefs_has() {
	(cd $tracing/events && ls -d */*/id) | sed 's,/id$,,; s,/,:,' | grep -v '^ftrace:' | sort
}

# Others may define probes in tracefs meanwhile.
test_all_tracepoints_of_tracefs_are_listed() {
	[ -r $tracing/available_events ] || skip "tracefs cannot be read"
	tracefs_has >before
	expect_status 0 "$PERF_BPF" list tracepoint
	names_of 'Tracepoint event' | sort >ours
	expect_status 0 "$PERF_BPF" list
	names_of 'Tracepoint event' | sort >of_all
	tracefs_has >after
	comm -12 before after >theirs
	[ "$(wc -l <theirs)" -gt 100 ] || fail "hardly any tracepoint"
	assert_equal "$(comm -23 theirs ours | head -5)" ""
	assert_equal "$(comm -23 theirs of_all | head -5)" ""
	assert_equal "$(sort -u before after | comm -23 ours - | head -5)" ""
}

test_patterns_find_what_perf_list_finds() {
	local pattern kind
	[ -r $tracing/available_events ] || skip "tracefs cannot be read"
	perf list sw >/dev/null 2>&1 || skip "perf is not installed"
	for pattern in sched_switch 'sched:*' 'sched:*switch' '*:sys_enter_read' 'sys_*_openat' \
		'SCHED:*' 'Sched_Switch' cpu-clock faults sw hw cache 'page*' Page; do
		"$PERF_BPF" list "$pattern" >out 2>err || true
		perf list "$pattern" >perf.out 2>/dev/null || true
		for kind in 'Software event' 'Hardware event' 'Hardware cache event' 'Kernel PMU event' \
			'Tracepoint event'; do
			names_of "$kind" | sort >ours
			mv out out.ours && cp perf.out out
			# ftrace's own formats are no perf events.
			names_of "$kind" | grep -v '^ftrace:' | sort >theirs || true
			mv out.ours out
			case $pattern in
			*:* | sw | hw | cache)
				diff ours theirs >different || fail "$pattern: $(head -5 different)"
				;;
			*) # perf before 6.2 searches a word only behind the colon
				[ -z "$(comm -13 ours theirs)" ] || fail "$pattern: $(comm -13 ours theirs | head -5)"
				! grep -v -e "${pattern//\*/.*}" ours || fail "$pattern: more than it matches"
				;;
			esac
		done
	done
}

test_fields_are_those_of_the_format_file() {
	local fields
	[ -r $tracing/events/sched/sched_switch/format ] || skip "tracefs cannot be read"
	expect_status 0 "$PERF_BPF" list -v sched:sched_switch
	awk '/^$/ { own++ } own == 1 && /field:/' $tracing/events/sched/sched_switch/format |
		sed 's/.*field:\([^;]*\);.*/       \1/' >wanted
	sed 1d out | diff - wanted || fail "not the fields of the format file"
	expect_status 0 "$PERF_BPF" list -v sched:sched_process_exec
	grep -qE '^       char filename\[\]$' out || fail "a dynamic string is not declared"
	expect_status 0 "$PERF_BPF" list -v --json sched:sched_switch
	fields=$(jq -r '.events[0].fields[] | select(.common | not) | .declaration' out)
	assert_equal "$fields" "$(sed 's/^ *//' wanted)"
	assert_equal "$(jq -r '.events[0].fields[] | select(.name == "prev_comm") | .size' out)" 16
}

test_pmus_of_sysfs_are_listed() {
	local devices=/sys/bus/event_source/devices
	expect_status 0 "$PERF_BPF" list pmu
	names_of 'Kernel PMU event' | sort >ours
	(cd $devices && ls -d */events/* 2>/dev/null || true) | { grep -v '\.' || true; } |
		sed 's,/events/,/,; s,$,/,' | sort >theirs
	diff ours theirs || fail "not the events of sysfs"
	[ -s theirs ] || skip "no PMU has events in sysfs"
	expect_status 0 "$PERF_BPF" list -v "$(head -1 theirs)"
	assert_contains out "$(cat "$devices/$(head -1 theirs | sed 's,/,/events/,; s,/$,,')")"
	expect_status 0 "$PERF_BPF" list -v raw
	assert_contains out "=$(cat "$devices/msr/format/event" 2>/dev/null || true)"
}

test_functions_have_the_parameters_of_btf() {
	[ -r /sys/kernel/btf/vmlinux ] || skip "the kernel has no BTF"
	grep -q ' vfs_read$' /proc/kallsyms || skip "no vfs_read in kallsyms"
	expect_status 0 "$PERF_BPF" list -v probe:vfs_read
	assert_equal "$(wc -l <out)" 2
	assert_contains out "ssize_t vfs_read(struct file *file, char *buf, size_t count, loff_t *pos)"
	expect_status 0 "$PERF_BPF" list -v --json probe:vfs_read
	assert_equal "$(jq -c '[.events[0].parameters[].name]' out)" '["file","buf","count","pos"]'
	assert_equal "$(jq -r '.events[0].returns, .events[0].parameters[0].type' out)" $'ssize_t\nstruct file *'
	# A word finds functions too, behind the events; probe: finds nothing else.
	expect_status 0 "$PERF_BPF" list vfs_read
	names_of Function >ours
	grep -qx probe:vfs_read ours || fail "a word does not find the function"
	expect_status 0 "$PERF_BPF" list 'probe:*'
	names_of Function | sed 's/^probe://' | sort >ours
	"$PERF_BPF" probe -F | sort | diff -q - ours >/dev/null || fail "not the functions of probe -F"
}

test_a_terminal_has_few_functions_of_a_word() {
	[ "$(grep -c ' vfs_' /proc/kallsyms)" -gt 30 ] || skip "the kernel has no such functions"
	expect_status 0 "$SRC/tests/cmd/on_terminal.py" "$PERF_BPF" list vfs_
	assert_equal "$(names_of Function | wc -l)" 20
	local more
	more=$(sed -n "s/^  \([0-9]*\) more functions: perf-bpf list 'probe:\*vfs_\*'$/\1/p" out)
	expect_status 0 "$PERF_BPF" list 'probe:*vfs_*'
	assert_equal "$(names_of Function | wc -l)" $((20 + more))
}

test_builtins_have_their_settings() {
	expect_status 0 "$PERF_BPF" list builtin
	names_of 'Built-in program' >ours
	"$PERF_BPF" run --list | sed -n 's/^\([a-z0-9_]*\)  .*/\1/p' | grep . | diff - ours ||
		fail "not the programs of run --list"
	expect_status 0 "$PERF_BPF" list -v runqlat
	assert_contains out "How long runnable tasks wait for a CPU"
	! "$PERF_BPF" run runqlat --set min_us=x -- true 2>err || fail "a wrong value is taken"
	if grep -q 'source only' err; then
		skip "the built-in programs are built as source only"
	fi
	assert_contains out "--set __u64 min_us = 0"
	! grep -q perf_bpf_ out || fail "a variable of the headers is listed"
	expect_status 0 "$PERF_BPF" list -v --json builtin
	assert_equal "$(jq -c '.events[] | select(.name == "runqlat") | .settings' out)" \
		'[{"name":"min_us","type":"__u64","default":0}]'
}

test_functions_and_probes_of_a_binary() {
	cat >shop.c <<-'END'
		struct order { int id; };
		__attribute__((noinline)) int order_place(struct order *order, const char *who)
		{
			asm volatile("" : : "r"(order), "r"(who) : "memory");
			return order->id;
		}
		int main(int argc, char **argv)
		{
			struct order order = {argc};

			return order_place(&order, argv[0]);
		}
	END
	gcc -g -O1 -o shop shop.c
	expect_status 0 "$PERF_BPF" list ./shop
	names_of Function >ours
	grep -qx "probe:exec=$PWD/shop;order_place" ours || fail "order_place is not listed"
	! grep -q 'probe:[a-z]*$' ours || fail "a function of the kernel is listed"
	expect_status 0 "$PERF_BPF" list ./shop order_place
	assert_equal "$(wc -l <out)" 1
	expect_status 0 "$PERF_BPF" list -v ./shop order_place
	sed 1d out >parameters
	printf '       struct order *order\n       char *who\n' >wanted
	sed 's/const //' parameters | diff - wanted || fail "not the parameters of order_place"
	expect_status 0 "$PERF_BPF" list -v --json ./shop order_place
	assert_equal "$(jq -c '[.events[0].parameters[].name]' out)" '["order","who"]'
	strip shop
	expect_status 0 "$PERF_BPF" list -v ./shop
	! grep -q order_place out || fail "a stripped program has names"
	expect_status 1 "$PERF_BPF" list ./shop.c
	assert_contains err "shop.c"
}

test_usdt_probes_of_a_binary() {
	printf '#include <sys/sdt.h>\n' | gcc -E - >/dev/null 2>&1 || skip "no <sys/sdt.h>"
	cat >shop.c <<-'END'
		#include <sys/sdt.h>
		int main(int argc, char **argv)
		{
			DTRACE_PROBE2(shop, order, argc, argv);
			DTRACE_PROBE2(shop, order, argc + 1, argv);
			DTRACE_PROBE(shop, closed);
			return 0;
		}
	END
	gcc -O1 -o shop shop.c
	expect_status 0 "$PERF_BPF" list ./shop sdt
	names_of 'SDT event' >ours
	printf 'usdt/%s/shop:shop:closed\nusdt/%s/shop:shop:order\n' "$PWD" "$PWD" | diff - ours ||
		fail "not the probes of the notes"
	expect_status 0 "$PERF_BPF" list -v ./shop shop:order
	printf '       s32 arg0\n       u64 arg1\n' >wanted
	sed 1d out | diff - wanted || fail "not the types of the arguments"
	expect_status 0 "$PERF_BPF" list --json -v ./shop shop:order
	assert_equal "$(jq -r '.events[0] | .provider, .probe, .parameters[0].type' out)" $'shop\norder\ns32'
}

test_typing_errors_get_near_names() {
	expect_status 1 "$PERF_BPF" list sched:sched_swich
	assert_contains err "no event matches 'sched:sched_swich'"
	[ ! -r $tracing/available_events ] || assert_contains err "did you mean 'sched:sched_switch'?"
	expect_status 1 "$PERF_BPF" list cpu-clok
	assert_contains err "did you mean 'cpu-clock'"
	expect_status 1 "$PERF_BPF" list runqlatt
	assert_contains err "did you mean 'runqlat'"
	# What others match is printed; the error comes after it.
	expect_status 1 "$PERF_BPF" list cpu-clock runqlatt
	assert_contains out cpu-clock
	assert_contains err "no event matches 'runqlatt'"
	expect_status 1 "$PERF_BPF" record -e zzzzzzzz true
	assert_contains err "'perf-bpf list' lists the events"
	[ ! -r $tracing/available_events ] || {
		expect_status 1 "$PERF_BPF" record -e sched:zzz true
		assert_contains err "perf-bpf list 'sched:*' lists the tracepoints of that system"
	}
}

test_json_is_whole_and_escaped() {
	expect_status 0 "$PERF_BPF" list --json
	jq -e '.events | length > 20' out >/dev/null || fail "hardly any event"
	assert_equal "$(jq -r '.events[] | select(.name == "page-faults") | .alias' out)" faults
	cp "$PERF_BPF" $'a"b\e[31m'
	expect_status 0 "$PERF_BPF" list $'./a"b\e[31m' cmd_list
	! grep -q $'\e' out || fail "an escape sequence reaches the terminal"
	expect_status 0 "$PERF_BPF" list --json $'./a"b\e[31m' cmd_list
	assert_equal "$(jq -r '.events[0].name' out)" "probe:exec=$PWD/"$'a"b\e[31m;cmd_list'
}

# Ten thousand lines: by the number of system calls, which does not depend on the machine's load.
test_a_list_of_all_reads_few_files() {
	[ -z "${SANITIZED:-}" ] || skip "the leak sanitizer does not run under strace"
	[ -r $tracing/available_events ] || skip "tracefs cannot be read"
	strace -f -o trace "$PERF_BPF" list >out 2>err || skip "strace does not run here"
	[ "$(wc -l <out)" -gt 1000 ] || skip "this kernel has few tracepoints"
	[ "$(wc -l <trace)" -lt 1000 ] || fail "$(wc -l <trace) system calls for $(wc -l <out) events"
}

test_without_rights_all_else_is_listed() {
	[ "$(id -u)" = 0 ] || skip "is run without rights already"
	cp "$PERF_BPF" /tmp/perf-bpf-list-test.$$ # nobody may not enter a home
	chmod 755 /tmp/perf-bpf-list-test.$$
	local status=0
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all \
		/tmp/perf-bpf-list-test.$$ list >out 2>err || status=$?
	rm -f /tmp/perf-bpf-list-test.$$
	assert_equal $status 0
	assert_contains out cpu-clock
	assert_contains out runqlat
	assert_contains err "tracepoints are not listed"
}

run_tests
