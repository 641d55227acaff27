#!/usr/bin/env bash
# perf-bpf trace -e 'CALLS { return CONDITION; }'
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"
. "$(dirname "$0")/oneline.sh"

CALLS="call openat 3 -100 /nonexistent/x 0102 0 , call openat 5 -100 /nonexistent/y 0 0 ,
	call write 4 -1 0123456789 10 , call write 2 -1 0123456789 3 , call umask 6 077"
CALLS=$(tr '\n\t' '  ' <<<"$CALLS" | tr -s ' ')

# trace OPTION...: the lines of the workload are in ./lines
trace() {
	"$PERF_BPF" trace --log lines "$@" -- ./pbt_line $CALLS >out 2>err || { cat err; fail "trace $* fails"; }
}

# selects N CALL OPTION...: so many lines, and all are of that call
selects() {
	local want=$1 call=$2
	shift 2
	trace --tool_stats "$@"
	[ "$(grep -c "$call(" lines)" = "$want" ] && [ "$(wc -l <lines)" = "$want" ] ||
		{ head -5 lines; fail "$*: $(wc -l <lines) lines, wanted $want"; }
	# what is not selected is not in the ring
	grep -qE "records: $want \(" err || { cat err; fail "$*: not $want records"; }
}

test_bodies_select_by_arguments() {
	make_workload
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	selects 3 openat -e 'openat { return args->flags & O_CREAT; }'
	selects 3 openat -e 'openat,creat { return (args->flags & O_CREAT) && str(args->filename) == "/nonexistent/x"; }'
	selects 5 openat -e 'openat { return str(args -> filename) == "/nonexistent/y" && retval < 0; }'
	selects 4 write -e 'write{return args->count > 3 && comm == "pbt_line";}'
	selects 6 write -e 'write { return !(args->count == 4) && error == EBADF; }'
	selects 2 write -e '%desc { return args->count == 3; }'
}

test_several_bodies_and_lists() {
	make_workload
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	trace -e 'openat { return str(args->filename) == "/nonexistent/x"; }' \
		-e 'write { return args->count == 3 || comm == "nobody"; }' -e umask
	assert_equal "$(grep -c 'openat(' lines) $(grep -c 'write(' lines) $(grep -c 'umask(' lines) $(wc -l <lines)" \
		"3 2 6 11"
	# also of a call that a list has
	trace -e openat,umask -e 'openat { return str(args->filename) == "/nonexistent/y"; }'
	assert_equal "$(grep -c 'openat(' lines) $(grep -c 'umask(' lines) $(wc -l <lines)" "5 6 11"
	trace -s --summary-mode total -e 'openat { return str(args->filename) == "/nonexistent/x"; }' -e umask
	grep -qE '^ *openat +3 +3 ' lines || { cat lines; fail "not 3 calls"; }
}

test_bodies_of_a_recording() {
	make_workload
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	"$PERF_BPF" trace record -o perf.data -e openat,write -- ./pbt_line $CALLS >out 2>err || { cat err; fail "no recording"; }
	"$PERF_BPF" trace -i perf.data --log lines -e 'write { return args->count == 10; }' >out 2>err ||
		{ cat err; fail "it is not read"; }
	assert_equal "$(grep -c 'write(' lines) $(wc -l <lines)" "4 4"
}

# refused COLUMN MESSAGE OPTION...
refused() {
	local column=$1 message=$2
	shift 2
	expect_status 2 "$PERF_BPF" trace "$@" -- true
	assert_contains err "$message"
	[ "$column" = 0 ] || assert_contains err "column $column:"
}

test_mistakes_name_the_column() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	refused 18 "none of the traced system calls has an argument 'mosk'" -e 'openat { return args->mosk; }'
	assert_contains err "did you mean 'mode'"
	refused 33 "in C, a comparison comes before '&'" -e 'openat { return args->flags & 3 == 2; }'
	refused 30 "in C, '!' comes first" -e 'openat { return !args->flags == 2; }'
	refused 10 "'return' is missing" -e 'openat { if (args->flags) return 1; }'
	refused 29 "not possible in a body of trace" -e 'openat { return args->flags + 1; }'
	refused 19 "';' is missing" -e 'openat { return 1 }'
	refused 33 "nothing can follow the value" -e 'openat { return args->dfd == 1; return 2; }'
	refused 27 "')' is missing" -e 'openat { return (args->dfd; }'
	refused 26 "no '(' is open here" -e 'openat { return args->dfd); }'
	refused 40 "this string is not closed" -e 'openat { return str(args->filename) == "x; }'
	refused 37 "has one body" -e 'openat { return args->dfd; } /* { } */ x'
	refused 0 "unknown system call 'opennat'" -e 'opennat { return args->dfd; }'
	refused 0 "openat has two bodies" -e 'openat { return args->dfd; }' -e '%file { return args->dfd; }'
	refused 0 "--where cannot be used with a body" -e 'openat { return args->dfd; }' --where 'ret < 0'
	refused 0 "--no-syscalls" -e 'openat { return args->dfd; }' --no-syscalls
	# groups of events have braces, too
	expect_status 0 "$PERF_BPF" trace -e '{cpu-clock,page-faults}' -- true
}

run_tests
