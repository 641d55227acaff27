#!/usr/bin/env bash
# perf-bpf link: what it shows and detaches, beside what bpftool says.
. "$(dirname "$0")/../tap.sh"

M=/sys/fs/bpf/pbt_link_$$

link() {
	"$PERF_BPF" link "$@"
}

# Links of several types, pinned under $M; nothing of them outlives the test.
make_links() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	command -v bpftool >/dev/null || skip "bpftool is not installed"
	mount | grep -q ' /sys/fs/bpf type bpf' || mount -t bpf bpf /sys/fs/bpf ||
		skip "no bpf file system can be mounted"
	cat >links.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		SEC("raw_tp/task_rename") int pbt_raw(void *ctx) { return 0; }
		SEC("iter/bpf_map") int pbt_iter(void *ctx) { return 0; }
		SEC("tp_btf/task_rename") int pbt_entry(void *ctx) { return 0; }
		char LICENSE[] SEC("license") = "GPL";
	END
	clang -g -O2 --target=bpf -I"$SRC/include" -I"$BUILD/include" \
		-I"/usr/include/$(gcc -print-multiarch)" -c links.bpf.c -o links.bpf.o
	trap 'rm -rf "$M"' EXIT
	mkdir "$M" "$M/prog"
	bpftool prog loadall links.bpf.o "$M/prog"
	make_link raw_open "$M/prog/pbt_raw" task_rename "$M/pbt_raw"
	make_link create "$M/prog/pbt_iter" 28 "$M/pbt_iter" # BPF_TRACE_ITER
	make_link raw_open "$M/prog/pbt_entry" "" "$M/pbt_entry"
}

# make_link raw_open PROG TRACEPOINT PIN, or create PROG ATTACH_TYPE PIN [CGROUP]
make_link() {
	python3 - "$@" <<-'END'
		import ctypes, os, struct, sys
		how, prog, what, pin = sys.argv[1:5]
		keep = []
		def bpf(cmd, attr):
		    buf = ctypes.create_string_buffer(attr, 128)
		    r = ctypes.CDLL(None, use_errno=True).syscall(321, cmd, buf, 128)
		    assert r >= 0, os.strerror(ctypes.get_errno())
		    return r
		def text(s):
		    keep.append(ctypes.create_string_buffer(s.encode()))
		    return ctypes.addressof(keep[-1])
		fd = bpf(7, struct.pack("QII", text(prog), 0, 0)) # BPF_OBJ_GET
		if how == "raw_open":
		    link = bpf(17, struct.pack("QI", text(what) if what else 0, fd))
		else:
		    target = os.open(sys.argv[5], os.O_RDONLY) if len(sys.argv) > 5 else 0
		    link = bpf(28, struct.pack("IIII", fd, target, int(what), 0))
		bpf(6, struct.pack("QII", text(pin), link, 0)) # BPF_OBJ_PIN
	END
}

test_links_are_listed_as_bpftool_does() {
	make_links
	for name in pbt_raw pbt_iter pbt_entry; do
		link list pinned "$M/$name" >ours
		bpftool link show pinned "$M/$name" >theirs
		diff -wB ours theirs
		link list -j "$M/$name" >ours
		bpftool -j link show pinned "$M/$name" >theirs
		python3 -c '
import json
ours, theirs = json.load(open("ours")), json.load(open("theirs"))
theirs = theirs if isinstance(theirs, list) else [theirs]
assert ours == theirs and ours, (ours, theirs)'
	done
	link list pinned "$M/pbt_raw" >ours
	assert_contains ours "tp 'task_rename'"
	link --json >all
	id=$(link list -j "$M/pbt_iter" | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["id"])')
	python3 -c '
import json, sys
assert [l["type"] for l in json.load(open("all")) if l["id"] == int(sys.argv[1])] == ["iter"]' "$id"
}

test_a_link_of_a_cgroup_is_detached() {
	make_links
	cgroups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$cgroups" ] || skip "no cgroup2 is mounted"
	cat >skb.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		SEC("cgroup_skb/ingress") int pbt_skb(void *ctx) { return 1; }
	END
	clang -g -O2 --target=bpf -I"$SRC/include" -I"$BUILD/include" \
		-I"/usr/include/$(gcc -print-multiarch)" -c skb.bpf.c -o skb.bpf.o
	bpftool prog load skb.bpf.o "$M/skb"
	mkdir "$cgroups/pbt_link_$$" || skip "no cgroup can be made"
	trap 'rm -rf "$M"; rmdir "$cgroups/pbt_link_$$"' EXIT
	make_link create "$M/skb" 0 "$M/skb_link" "$cgroups/pbt_link_$$" # BPF_CGROUP_INET_INGRESS
	link list "$M/skb_link" >ours
	bpftool link show pinned "$M/skb_link" | diff -wB ours -
	assert_contains ours "cgroup_id $(stat -c %i "$cgroups/pbt_link_$$")"
	link detach "$M/skb_link"
	link list "$M/skb_link" >ours
	assert_contains ours "cgroup_id 0 "
	expect_status 1 link detach "$M/pbt_raw"
	assert_contains err "cannot be detached: its type is raw_tracepoint"
	assert_contains err "hint: it ends when its last reference is closed"
}

test_what_is_wrong_is_named() {
	make_links
	expect_status 1 link list 4294967295
	assert_contains err "no link has the id 4294967295"
	expect_status 2 link list name x
	assert_contains err "a link has no name"
	expect_status 2 link detach
	assert_contains err "which link?"
	expect_status 2 link detach "$M/pbt_raw" more
	assert_contains err "unexpected argument 'more'"
	expect_status 2 link detch 1
	assert_contains err "did you mean 'detach'?"
}

run_tests
