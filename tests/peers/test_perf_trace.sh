#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# perf's own tests of perf trace, of Debian sid's perf, with perf-bpf in its place: a `perf` that
# comes first in PATH gives "trace" to perf-bpf, and everything else to perf.
. "$(dirname "$0")/../tap.sh"

run() {
	local perf status=0
	[ "$(id -u)" = 0 ] || skip "tracing needs root"
	perf=$("$SRC/tests/vm/fetch-perf" sid) || skip "$perf"
	script=${perf%/*}/usr/lib/perf-core/tests/shell/$1.sh
	[ -e "$script" ] || skip "this perf has no test $1"
	mkdir bin
	cat >bin/perf <<-END
		#!/bin/sh
		[ "\$1" != trace ] || exec "$PERF_BPF" "\$@"
		exec "$perf" "\$@"
	END
	chmod +x bin/perf
	PATH=$PWD/bin:$PATH bash "$script" -v >out 2>&1 || status=$?
	[ $status != 2 ] || skip "$1 cannot run here: $(tail -n 1 out)"
	[ $status = 0 ] || { sed 's/^/# /' out; fail "$1 ended with $status"; }
}

test_btf_general() { run trace_btf_general; }
test_exit_race() { run trace_exit_race; }
test_record_replay() { run trace_record_replay; }
test_summary() { run trace_summary; }

run_tests
