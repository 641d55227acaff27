#!/usr/bin/env bash
. "$(dirname "$0")/../tap.sh"

test_no_include_runs_upward() {
	"$SRC/tools/check-layers"
}

test_sources_are_formatted() {
	cd "$SRC"
	git ls-files -co --exclude-standard '*.c' '*.h' | xargs -r clang-format --dry-run -Werror
}

run_tests
