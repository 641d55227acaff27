#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Rings on the running kernel: a program sends a record for each getppid(2) that
# the client itself calls, so that every count is known beforehand. All rings
# are 4096 bytes; a record takes 56, and 73 of them fit.
. "$(dirname "$0")/../tap.sh"
CLIENT=$BUILD/tests/cmd/rings_client

# object [FLAG...]: ./rings.o
object() {
	[ "$(id -u)" = 0 ] || skip "loading takes root"
	${CLANG:-clang} -O2 -g -target bpf -I"$SRC/include" -I"$BUILD/include" "$@" \
		-idirafter "/usr/include/$(uname -m)-linux-gnu" \
		-c "$SRC/tests/bpf/rings.bpf.c" -o rings.o
}

# said LINE: the client's whole line
said() {
	grep -qxF -- "$1" out || { sed 's/^/# | /' out; fail "not said: $1"; }
}

test_every_record_comes_through_a_ring_that_goes_around_many_times() {
	object
	expect_status 0 "$CLIENT" rings.o ring 5000
	said "returned 5000"
	said "sent 5000 kernel-lost 0 records 5000 wrong 0 lost 0 size 48"
}

test_two_rings_in_one_buffer() {
	object
	expect_status 0 "$CLIENT" rings.o two 1000
	said "returned 1000"
	said "second 500 wrong 0"
	said "sent 1000 kernel-lost 0 records 500 wrong 0 lost 0 size 48"
}

test_what_a_full_ring_loses_is_counted() {
	object
	expect_status 0 "$CLIENT" rings.o full 200
	said "consumed 73"
	said "again 0"
	said "sent 200 kernel-lost 127 records 73 wrong 0 lost 0 size 48"
}

test_discarded_records_do_not_come() {
	object
	expect_status 0 "$CLIENT" rings.o discard 900
	said "returned 600"
	said "sent 900 kernel-lost 0 records 600 wrong 0 lost 0 size 48"
}

test_a_callback_stops_reading_and_nothing_is_lost() {
	object
	expect_status 0 "$CLIENT" rings.o stop 5
	said "consumed -77"
	said "again 2"
	said "sent 5 kernel-lost 0 records 5 wrong 0 lost 0 size 48"
}

test_accessors_and_records_by_number() {
	object
	expect_status 0 "$CLIENT" rings.o accessors 10
	said "beyond: refused errno 34" # ERANGE
	said "map 1 size 4096 avail 560"
	said "two 2"
	said "positions 112 560"
	said "three 3"
	said "rest 5"
}

test_perf_buffer() {
	object
	expect_status 0 "$CLIENT" rings.o perf 5000
	said "buffers $(getconf _NPROCESSORS_ONLN) size $(getconf PAGESIZE) fd 1"
	said "beyond -22"
	said "sent 5000 kernel-lost 0 records 5000 wrong 0 lost 0 size 44"
}

test_perf_buffer_tells_what_was_lost() {
	object
	[ "$(getconf PAGESIZE)" = 4096 ] || skip "the counts are those of pages of 4096 bytes"
	expect_status 0 "$CLIENT" rings.o perf-full 200
	said "sent 201 kernel-lost 127 records 74 wrong 0 lost 127 size 44"
}

test_raw_perf_buffer_on_one_cpu() {
	object
	expect_status 0 "$CLIENT" rings.o raw 1000
	said "buffers 1 size $(getconf PAGESIZE) fd 1"
	said "sent 1000 kernel-lost 0 records 1000 wrong 0 lost 0 size 16"
}

test_user_ring_buffer() {
	object -DUSER
	status=0
	"$CLIENT" rings.o user 500 >out 2>err || status=$?
	if [ $status != 0 ] && grep -q "unknown map type" err; then
		skip "this kernel has no user ring buffer"
	fi
	assert_equal "$status" 0
	said "too big: refused errno 7"  # E2BIG
	said "blocked: refused errno 28" # ENOSPC, after 20 ms
	said "full 5 count 400 sum same" # every fifth of 500 is discarded
}

test_what_is_no_ring_is_refused() {
	object
	expect_status 0 "$CLIENT" rings.o refused 0
	for what in "ring of perf" "perf of ring" "user of ring" "three pages"; do
		said "$what: refused errno 22"
	done
	grep -q "^no descriptor: refused errno" out || fail "a wrong descriptor is taken"
	assert_contains err "map 'perf' is of type perf_event_array"
	assert_contains err "hint: pass a map of type ringbuf"
}

test_libbpf_sees_the_same() {
	object
	echo 'int main(void){return 0;}' | cc -x c - -o has -lbpf 2>/dev/null &&
		[ -e /usr/include/bpf/libbpf.h ] || skip "libbpf-dev is not installed"
	cc -D_GNU_SOURCE "$SRC/tests/cmd/rings_client.c" -o with-libbpf -lbpf
	for what in "ring 500" "two 500" "full 200" "discard 300" "stop 5" "perf 500" \
		"perf-full 200" "raw 100"; do
		# shellcheck disable=SC2086
		"$CLIENT" rings.o $what >ours
		# shellcheck disable=SC2086
		./with-libbpf rings.o $what >theirs
		diff theirs ours || fail "$what: libbpf sees something else"
	done
}

run_tests
