#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# perf's own tests of perf trace, with perf-bpf in its place.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/perf_tests.sh"

test_btf_enum() { perf_test trace_btf_enum trace; }
test_btf_general() { perf_test trace_btf_general trace; }
test_exit_race() { perf_test trace_exit_race trace; }
test_record_replay() { perf_test trace_record_replay trace; }
test_summary() { perf_test trace_summary trace; }

run_tests
