#!/usr/bin/env bash
# perf-bpf run: maps of every shape, their values against those that the program put there.
. "$(dirname "$0")/../tap.sh"

# The workload is known by its name: one run of these tests at a time.
exec 9>"${TMPDIR:-/tmp}/perf-bpf-test-shapes.lock"
flock -w 600 9 || exit 1

PROG=$SRC/tests/cmd/shapes.bpf.c

# pbs_getpgid N: getpgid(i) for each i below N
make_workload() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	cat >pbs_getpgid.c <<-'END'
		#include <stdlib.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			for (int i = 0; i < atoi(argv[1]); i++)
				syscall(SYS_getpgid, i);
		}
	END
	gcc -O1 -o pbs_getpgid pbs_getpgid.c
}

run() {
	"$PERF_BPF" run "$PROG" --comm pbs_getpgid "$@"
}

# check FILE MAP EXPRESSION: the map's last line of JSON is r.
check() {
	python3 - "$1" "$2" "$3" <<-'END'
		import json, sys
		r, = [l for l in map(json.loads, open(sys.argv[1])) if l["map"] == sys.argv[2] and l.get("last")]
		assert eval(sys.argv[3]), r
	END
}

test_bit_fields_unions_and_wide_integers() {
	make_workload
	expect_status 0 run --json --map bits -- ./pbs_getpgid 5
	[ ! -s err ] || fail "the headers make the compiler speak: $(cat err)"
	check out bits '[tuple(w.values()) for w in r["rows"]] == [
		(-i, i, 0xabcdef0 + i, -i, bool(i & 1), "abcde"[i], hex((1 << 100) + i)) for i in (4, 3, 2, 1, 0)]'
	run --csv --map bits -- ./pbs_getpgid 3 >out
	assert_equal "$(sed -n '2s/\r//p' out)" bits,-2,2,180150002,-2,false,c,0x10000000000000000000000002
	run --map bits -- ./pbs_getpgid 2 >out
	grep -qE '^ +-1 +1 +180150001 +-1 +true +b +0x10000000000000000000000001$' out ||
		fail "$(cat out)"
}

test_bytes_of_no_type() {
	make_workload
	run --json --map '*bytes' -- taskset -c 0 ./pbs_getpgid 7 >out
	check out bytes '[(w["key"], w["value"]) for w in r["rows"]] == [
		(0, "040203"), (1, "050203"), (2, "060203"), (3, "030203")]'
	# what cannot be summed stands apart for each CPU
	check out cpu_bytes '[(w["cpu"], w["value"]) for w in r["rows"]] == [
		(0, "07".ljust(16, "0") + "15".ljust(16, "0"))]'
	run --json --map bytes -- ./pbs_getpgid 0 >out
	check out bytes 'r["rows"] == []'
}

test_ranges_below_zero() {
	make_workload
	run --json --map around --map by_odd -- ./pbs_getpgid 8 >out
	check out around '[(b["low"], b["high"], b["count"]) for b in r["hists"][0]["buckets"]] == [
		(-2**63, -21, 3), (-20, -11, 1), (-10, -1, 1), (0, 9, 1), (10, 19, 1), (20, 2**63 - 1, 1)]'
	check out by_odd '[h["label"] for h in r["hists"]] == ["false", "true"]'
	run --csv --map around -- ./pbs_getpgid 3 >out
	assert_equal "$(sed -n '2s/\r//p' out)" around,,-9223372036854775808,-21,3
	run --map around -- ./pbs_getpgid 4 >out
	assert_contains out '(..., -20)  3 |@'
	assert_contains out '[-20, -10)  1 |@'
}

run_tests
