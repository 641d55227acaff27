#!/usr/bin/env bash
# Names in recordings: of the file that ran, whatever is at its path by now or for others.
. "$(dirname "$0")/../tap.sh"

PERF=$(command -v perf || true)

need_perf() {
	[ -n "$PERF" ] || skip "linux-perf is not installed"
	[ "$(id -u)" = 0 ] || skip "recording needs root"
}

# build NAME FILE: a program that spends its time in the function NAME
build() {
	cat >"$1.c" <<-END
		static volatile unsigned sink;
		__attribute__((noinline)) static void $1(unsigned n)
		{
			for (unsigned i = 0; i < n; i++)
				sink = sink * 31 + i;
		}
		int main(void)
		{
			for (int i = 0; i < 40; i++)
				$1(1000000);
			return 0;
		}
	END
	gcc -O1 -g -Wl,--build-id=sha1 -o "$2" "$1.c"
}

# Two mount namespaces have different programs at one path. perf 6.1 gives both the names of one.
test_two_builds_at_one_path() {
	need_perf
	mkdir first second at home
	build names_of_first first/work
	build names_of_second second/work
	unshare -m true 2>/dev/null || skip "no mount namespaces"
	cat >both <<-END
		for d in first second; do
			unshare -m sh -c "mount --bind \$PWD/\$d \$PWD/at && exec \$PWD/at/work"
		done
	END
	"$PERF" record -q -N -B --buildid-mmap -e cpu-clock:u -F 2000 -o data sh ./both 2>err ||
		skip "perf record --buildid-mmap: $(head -n 1 err)"
	for f in first/work second/work; do
		HOME=$PWD/home "$PERF" buildid-cache --add "$PWD/$f" || fail "perf buildid-cache"
	done
	for sort in dso,sym sym; do
		HOME=$PWD/home "$PERF_BPF" report -i data -s $sort >out
		assert_contains out names_of_first
		assert_contains out names_of_second
	done
	HOME=$PWD/home "$PERF_BPF" script -i data -F ip,sym >out
	assert_contains out names_of_first
	assert_contains out names_of_second
}

run_tests
