#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# perf's own tests of record, report and script, with perf-bpf in its place.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/perf_tests.sh"

run() { perf_test "$1" record report script; }

test_header() { run header; }
test_evlist() { run evlist; }
test_data_validation() { run data_validation; }
test_data_file_offset_diagnostics() { run data_file_offset_diagnostics; }
test_dwarf_unwind_multithreaded() { run test_dwarf_unwind_multithreaded; }

run_tests
