#!/usr/bin/env bash
# What is built does not depend on the folder that it is built in.
. "$(dirname "$0")/../tap.sh"

# Two builds in folders of different names are the same, byte by byte.
test_builds_are_reproducible() {
	local target targets="libperfbpf.a libperfbpf.so.0.1.0 progs/builtin_programs.c compile/embedded_headers.c"
	command -v meson >/dev/null || skip "meson is not installed"
	for place in one another/deeper; do
		mkdir -p $place
		(cd "$SRC" && tar -c --exclude='./build*' --exclude=./.git --exclude=./tests .) | tar -x -C $place
		(
			cd $place
			CCACHE_DISABLE=1 meson setup build -Doptimization=0 -Dtests=disabled >log
			CCACHE_DISABLE=1 ninja -C build $targets >log || { tail -n 20 log; fail "build"; }
		)
	done
	for target in $targets; do
		cmp one/build/$target another/deeper/build/$target
		! grep -qF "$PWD" one/build/$target || fail "$target holds the path of its folder"
	done
}

run_tests
