#!/usr/bin/env bash
# perf-bpf map: what it shows and changes, beside what bpftool says.
. "$(dirname "$0")/../tap.sh"

M=/sys/fs/bpf/pbt_map_$$

# The object's maps, pinned under $M; nothing of them outlives the test.
make_maps() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	command -v bpftool >/dev/null || skip "bpftool is not installed"
	mount | grep -q ' /sys/fs/bpf type bpf' || mount -t bpf bpf /sys/fs/bpf ||
		skip "no bpf file system can be mounted"
	clang -g -O2 --target=bpf -I"$SRC/include" -I"$BUILD/include" \
		-I"/usr/include/$(gcc -print-multiarch)" -c "$SRC/tests/cmd/map.bpf.c" -o map.bpf.o
	trap 'rm -rf "$M"' EXIT
	mkdir "$M"
	bpftool prog loadall map.bpf.o "$M" pinmaps "$M"
}

map() {
	"$PERF_BPF" map "$@"
}

id_of() {
	bpftool -j map show pinned "$M/$1" | python3 -c 'import json, sys; print(json.load(sys.stdin)["id"])'
}

# Both print the same document, up to the spelling of numbers.
same_json() {
	python3 - "$1" "$2" <<-'END'
		import json, sys
		ours, theirs = (json.load(open(f)) for f in sys.argv[1:])
		theirs = [e.get("formatted", e) for e in theirs] if isinstance(theirs, list) else theirs
		assert ours == theirs, f"ours:   {ours}\ntheirs: {theirs}"
	END
}

test_a_dump_looks_as_bpftool_prints_it() {
	make_maps
	map update "$M/pbt_pids" key 3237 value true
	map update "$M/pbt_pids" key 26435 value false
	map dump "$M/pbt_pids" >ours
	bpftool map dump pinned "$M/pbt_pids" >theirs
	diff ours theirs
	map dump "$M/pbt_pids" --json | tee json
	python3 -c 'import json; assert sorted((e["key"], e["value"]) for e in json.load(open("json"))) == [(3237, True), (26435, False)]'
	# by id, by name, by pin
	map dump id "$(id_of pbt_pids)" >by_id
	map dump "$(id_of pbt_pids)" >by_number
	map dump pinned "$M/pbt_pids" >by_pin
	for way in by_id by_number by_pin; do
		cmp $way ours
	done
}

# The largest and the smallest numbers of each type, as single values and within JSON.
test_large_and_negative_numbers() {
	make_maps
	map update "$M/pbt_numbers" key -7 value '{"large":18446744073709551615,"small":-9223372036854775808,"huge":-1,
		"asleep":"PBT_ASLEEP","on":true}'
	map update "$M/pbt_numbers" key 8 value \
		'{"large":9223372036854775808,"small":"-3","huge":170141183460469231731687303715884105727}'
	map lookup -j "$M/pbt_numbers" key -7 >out
	assert_equal "$(cat out)" '{"key":-7,"value":{"large":18446744073709551615,"small":-9223372036854775808,'\
'"huge":"0xffffffffffffffffffffffffffffffff","asleep":"PBT_ASLEEP","on":true}}'
	map lookup "$M/pbt_numbers" key 8 -j >out
	assert_equal "$(cat out)" '{"key":8,"value":{"large":9223372036854775808,"small":-3,'\
'"huge":"0x7fffffffffffffffffffffffffffffff","asleep":0,"on":false}}'
	bpftool -j map dump pinned "$M/pbt_numbers" | grep -q '"large":18446744073709551615,"small":-9223372036854775808' ||
		fail "$(bpftool map dump pinned "$M/pbt_numbers")"
	map delete "$M/pbt_numbers" key -7
	expect_status 1 map lookup "$M/pbt_numbers" key -- -7
	assert_contains err "map pbt_numbers has no such key"
	expect_status 2 map update "$M/pbt_numbers" key 1 value '{"large":18446744073709551616}'
	assert_contains err "18446744073709551616 does not fit into 64 unsigned bits"
	expect_status 2 map update "$M/pbt_numbers" key -2147483649 value '{}'
	assert_contains err "does not fit into 32 signed bits"
	expect_status 2 map -x list
	assert_contains err "has no option -x"
}

test_structs_enums_and_cpus() {
	make_maps
	map update "$M/pbt_by_key" key '{"pid":7,"comm":"dd","state":"PBT_ASLEEP"}' value 0xffffffffffffffff
	map dump -j "$M/pbt_by_key" >ours
	bpftool -j map dump pinned "$M/pbt_by_key" >theirs
	same_json ours theirs
	assert_equal "$(cat ours)" \
		'[{"key":{"pid":7,"comm":"dd","state":"PBT_ASLEEP"},"value":18446744073709551615}]'
	map lookup -j "$M/pbt_by_key" key '{"pid":7,"comm":"dd","state":2}' >one
	assert_equal "$(cat one)" \
		'{"key":{"pid":7,"comm":"dd","state":"PBT_ASLEEP"},"value":18446744073709551615}'
	map delete "$M/pbt_by_key" key '{"pid":7,"comm":"dd","state":2}'
	assert_equal "$(map dump "$M/pbt_by_key")" '[]'

	map update "$M/pbt_percpu" key 1 value 9
	map dump -j "$M/pbt_percpu" >ours
	bpftool -j map dump pinned "$M/pbt_percpu" >theirs
	same_json ours theirs
	map dump "$M/pbt_percpu" >ours
	bpftool map dump pinned "$M/pbt_percpu" >theirs
	diff ours theirs
}

test_without_btf_it_is_bytes() {
	make_maps
	bpftool map create "$M/bare" type hash key 4 value 8 entries 4 name pbt_bare
	map update "$M/bare" key 3237 value 5
	assert_equal "$(map dump "$M/bare")" \
		"$(printf 'key: a5 0c 00 00  value: 05 00 00 00 00 00 00 00\nFound 1 element')"
	bpftool map dump pinned "$M/bare" >theirs
	map dump "$M/bare" | diff - theirs
	map dump -j "$M/bare" >ours
	bpftool -j map dump pinned "$M/bare" >theirs
	same_json ours theirs
	map lookup "$M/bare" key hex a5 0c 00 00 >one
	assert_contains one "value: 05 00"
	map update "$M/bare" key 0xa5 12 0 0 value 6 0 0 0 0 0 0 0 exist
	map lookup "$M/bare" key 3237 >one
	assert_contains one "value: 06 00"
}

test_all_of_a_large_map_is_given_once() {
	make_maps
	python3 - "$M/pbt_many" <<-'END'
		import ctypes, sys
		bpf = ctypes.CDLL(None).syscall
		class Get(ctypes.Structure):
		    _fields_ = [("path", ctypes.c_uint64), ("fd", ctypes.c_uint32), ("flags", ctypes.c_uint32)]
		class Batch(ctypes.Structure):
		    _fields_ = [("a", ctypes.c_uint64), ("b", ctypes.c_uint64), ("keys", ctypes.c_uint64),
		                ("values", ctypes.c_uint64), ("count", ctypes.c_uint32), ("fd", ctypes.c_uint32),
		                ("elem_flags", ctypes.c_uint64), ("flags", ctypes.c_uint64)]
		path = ctypes.create_string_buffer(sys.argv[1].encode())
		get = Get(ctypes.addressof(path), 0, 0)
		fd = bpf(321, 7, ctypes.byref(get), ctypes.sizeof(get))
		n = 150000
		keys = (ctypes.c_uint32 * n)(*range(n))
		values = (ctypes.c_uint64 * n)(*(i * 7919 for i in range(n)))
		batch = Batch(0, 0, ctypes.addressof(keys), ctypes.addressof(values), n, fd, 0, 0)
		assert fd >= 0 and bpf(321, 26, ctypes.byref(batch), ctypes.sizeof(batch)) == 0
	END
	map dump -j "$M/pbt_many" >json
	python3 -c '
import json
got = {}
for e in json.load(open("json")):
    assert e["key"] not in got, "given twice"
    got[e["key"]] = e["value"]
assert got == {i: i * 7919 for i in range(150000)}'
	# a reader that goes away is no trouble
	map dump "$M/pbt_many" | head -1 >first
	assert_equal "$(cat first)" '[{'
}

test_a_map_without_batches() {
	make_maps
	map update "$M/pbt_trie" key hex 08 00 00 00 0a 00 00 00 value 1
	map update "$M/pbt_trie" key hex 10 00 00 00 0a 01 00 00 value 2
	map dump -j "$M/pbt_trie" >ours
	bpftool -j map dump pinned "$M/pbt_trie" >theirs
	same_json ours theirs
	assert_equal "$(python3 -c 'import json; print(len(json.load(open("ours"))))')" 2
}

test_the_list_is_bpftools() {
	make_maps
	for name in pbt_pids pbt_percpu pbt_trie pbt_queue; do
		map list pinned "$M/$name" >ours
		bpftool map show pinned "$M/$name" >theirs
		diff -w ours theirs
	done
	map list --json >list
	python3 - "$(id_of pbt_many)" <<-'END'
		import json, sys
		mine = [m for m in json.load(open("list")) if m["id"] == int(sys.argv[1])]
		assert len(mine) == 1, mine
		m = mine[0]
		assert (m["type"], m["name"], m["bytes_key"], m["bytes_value"], m["max_entries"]) == \
		    ("hash", "pbt_many", 4, 8, 200000), m
	END
}

# Opens a pinned map, says so, and holds it until its stdin ends.
hold() {
	python3 -u -c '
import ctypes, sys
bpf = ctypes.CDLL(None).syscall
class Get(ctypes.Structure):
    _fields_ = [("path", ctypes.c_uint64), ("fd", ctypes.c_uint32), ("flags", ctypes.c_uint32)]
path = ctypes.create_string_buffer(sys.argv[1].encode())
get = Get(ctypes.addressof(path), 0, 0)
assert bpf(321, 7, ctypes.byref(get), ctypes.sizeof(get)) >= 0
print("open")
sys.stdin.read()' "$1"
}

# The ids of the inner maps are the values, as bpftool prints them.
test_a_map_of_maps() {
	make_maps
	for type in hash_of_maps array_of_maps; do
		bpftool map create "$M/$type" type $type key 4 value 4 entries 4 name pbt_outer \
			inner_map pinned "$M/pbt_pids"
		bpftool map update pinned "$M/$type" key 1 0 0 0 value pinned "$M/pbt_pids"
		map dump "$M/$type" >ours
		bpftool map dump pinned "$M/$type" | diff ours - || fail "$type differs"
		map dump -j "$M/$type" >ours
		grep -q '"value":\[' ours || fail "$(cat ours)"
		bpftool -j map dump pinned "$M/$type" >theirs
		# bpftool has the key of an array as bytes
		[ $type = array_of_maps ] || same_json ours theirs
	done
}

test_who_holds_a_map() {
	make_maps
	mkfifo hold release
	hold "$M/pbt_pids" <release >hold &
	exec 8>release 9<hold
	read -r line <&9
	assert_equal "$line" open
	map list pinned "$M/pbt_pids" >text
	map list pinned "$M/pbt_pids" --json >json
	exec 8>&- 9<&-
	wait
	python3 - <<-'END'
		import json, re
		owner, = json.load(open("json"))[0]["pids"]
		assert owner["comm"].startswith("python3"), owner
		assert re.search(rf"\tpids {owner['comm']}\({owner['pid']}\)\n", open("text").read())
	END
	map list pinned "$M/pbt_pids" >text
	! grep pids text | grep -v name || fail "held by nobody"
}

test_what_is_wrong_is_named() {
	make_maps
	expect_status 1 map dump "$M/pbt_queue"
	assert_contains err "map pbt_queue cannot be dumped: queue and stack maps cannot be read without removing entries"
	bpftool map create "$M/bloom" type bloom_filter key 0 value 4 entries 4 name pbt_bloom
	expect_status 1 map dump "$M/bloom"
	assert_contains err "map pbt_bloom cannot be dumped: a bloom filter has no entries to read"
	for storage in task inode sk; do
		expect_status 1 map dump "$M/pbt_$storage"
		assert_contains err "map pbt_$storage cannot be dumped: its values are stored with kernel objects and cannot be listed"
	done
	expect_status 1 map dump 4294967295
	assert_contains err "no map has the id 4294967295"
	expect_status 1 map dump name pbt_pidz
	assert_contains err "no map is called 'pbt_pidz'"
	assert_contains err "did you mean 'pbt_pids'" # or what others have loaded
	expect_status 1 map dump "$M/nothing"
	assert_contains err "$M/nothing: cannot open a pinned map at this path: No such file"
	expect_status 2 map dmp 1
	assert_contains err "did you mean 'dump'?"
	expect_status 2 map dump
	assert_contains err "use 'id ID', 'name NAME' or 'pinned PATH'"
	expect_status 2 map lookup "$M/pbt_pids"
	assert_contains err "'key DATA' is missing"
	expect_status 1 map lookup "$M/pbt_pids" key 5
	assert_contains err "map pbt_pids has no such key"
	expect_status 2 map update "$M/pbt_pids" key 1 2 value true
	assert_contains err "the key has 4 bytes, but 2 are given"
	expect_status 2 map update "$M/pbt_pids" key 1 value maybe
	assert_contains err "value: 'maybe' is neither true nor false"
	expect_status 2 map update "$M/pbt_by_key" key '{"state":"PBT_RUNING"}' value 1
	assert_contains err "member state: enum pbt_state has no value 'PBT_RUNING'"
	assert_contains err "did you mean 'PBT_RUNNING'?"
	for i in 1 2 3 4; do
		map update "$M/pbt_by_key" key "{\"pid\":$i}" value 1
	done
	expect_status 1 map update "$M/pbt_by_key" key '{"pid":5}' value 1
	assert_contains err "the map is full"
	expect_status 1 map update "$M/pbt_by_key" key '{"pid":4}' value 1 noexist
	assert_contains err "already has this key"
	expect_status 2 map delete "$M/pbt_percpu" key 0
	assert_contains err "entries of arrays cannot be deleted"
}

test_without_rights() {
	[ "$(id -u)" = 0 ] || skip "is run without rights already"
	cp "$PERF_BPF" "/tmp/pbt_map_test.$$" # nobody may not enter a home
	chmod 755 "/tmp/pbt_map_test.$$"
	status=0
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all \
		"/tmp/pbt_map_test.$$" map list >out 2>err || status=$?
	rm -f "/tmp/pbt_map_test.$$"
	assert_equal $status 1
	assert_contains err "cannot list maps: Operation not permitted"
	assert_contains err "hint: run as root"
}

run_tests
