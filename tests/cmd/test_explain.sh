#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Why programs are refused: each program of tests/bpf/refused by the running
# kernel, what the commands print of it, and that no kind is without a program.
. "$(dirname "$0")/../tap.sh"
REFUSED=$BUILD/tests/cmd/refused
FOLDER=$SRC/tests/bpf/refused

# compile SOURCE OUTPUT FLAG...
compile() {
	local source=$1 output=$2
	shift 2
	${CLANG:-clang} -O2 -g --target=bpf -D__TARGET_ARCH_x86 -I"$SRC/include" -I"$BUILD/include" \
		-idirafter "/usr/include/$(uname -m)-linux-gnu" "$@" -c "$source" -o "$output"
}

objects() {
	[ "$(id -u)" = 0 ] || skip "loading takes root"
	cd "$FOLDER"
	for file in *.bpf.c; do
		compile "$file" "$TMP/${file%.bpf.c}.o"
	done
	cd "$TMP"
}

# The JSON in out as variables: why_kind, why_line, ...
why() {
	unset "${!why_@}"
	eval "$(python3 -c 'import json, shlex
for key, value in json.load(open("out")).items(): print(f"why_{key}={shlex.quote(str(value))}")')"
}

test_each_program_is_explained() {
	objects
	wrong=0 seen=0
	while IFS=$'\t' read -r file program kinds who line text; do
		seen=$((seen + 1))
		# shellcheck disable=SC2086
		"$REFUSED" json "$file.o" "$program" $who >out 2>err && status=0 || status=$?
		if [ "$(cat out)" = loads ]; then
			case "|$kinds|" in *"|loads|"*) continue ;; esac
		fi
		problem=
		why || fail "$program: no JSON: $(cat out)"
		# Where it is of the second kind, on some kernels, the place is not known.
		[ "$why_kind" = "${kinds%%|*}" ] || line=0
		case "|$kinds|" in
		*"|$why_kind|"*) ;;
		*) problem="kind $why_kind, wanted $kinds" ;;
		esac
		[ $status = 1 ] || problem="$problem; status $status"
		grep -qF -- "$text" out || problem="$problem; no '$text' in it"
		[ "$line" = 0 ] || [ "${why_line:-}" = "$line" ] ||
			problem="$problem; line ${why_line:-}, wanted $line"
		[ "$line" = 0 ] || [ "${why_file##*/}" = "$file.bpf.c" ] ||
			problem="$problem; file $why_file"
		[ "${why_program:-}" = "$program" ] || problem="$problem; program ${why_program:-}"
		[ -n "${why_hint:-}" ] || problem="$problem; no hint"
		[ -n "${why_section:-}" ] || problem="$problem; no section"
		[ -z "$problem" ] || {
			echo "$file.bpf.c, $program: $problem"
			cat out err
			wrong=$((wrong + 1))
		}
	done < <(cd "$FOLDER" && awk '
		match($0, /\/\* refused( at all)?: .*\*\//) {
			rest = substr($0, RSTART, RLENGTH - 3)
			whole = rest ~ /^\/\* refused at all/
			sub(/^[^:]*: /, "", rest)
			text = rest; sub(/^[^:]*: ?/, "", text)
			sub(/:.*/, "", rest)
			n = split(rest, w, " ")
			name = FILENAME; sub(/\.bpf\.c$/, "", name)
			printf "%s\t%s\t%s\t%s\t%d\t%s\n", name, w[1], w[2], n == 4 ? w[4] : " ",
				whole ? 0 : FNR + 1, text
		}' ./*.bpf.c | sed 's/^\.\///')
	[ $seen -gt 70 ] || fail "only $seen programs"
	[ $wrong = 0 ] || fail "$wrong of $seen are not explained"
}

# The kinds of the manual page, of the sources, and those that a test asks for.
test_no_kind_is_without_a_program() {
	sed -n '/^\.Ss Kinds/,/^\.S[hs] [^K]/s/^\.It Cm //p' "$SRC/man/libperfbpf-errors.3" | sort -u >man
	{
		python3 - "$SRC" <<-'END'
			import glob, re, sys
			src = sys.argv[1]
			kinds = set()
			for path in glob.glob(src + "/lib/verifier/*.c"):
			    text = open(path).read()
			    kinds |= set(re.findall(r'ex->kind = "([a-z-]+)"', text))
			    tables = text[text.find("const struct rule rules_"):]
			    kinds |= set(re.findall(r'\{"(?:[^"\\]|\\.)*",\s*"([a-z-]+)",', tables))
			for path in glob.glob(src + "/lib/object/*.c"):
			    text = open(path).read()
			    if "error_kind(" in text:
			        kinds |= set(re.findall(r'"([a-z]+(?:-[a-z]+)+)"\)', text))
			print("\n".join(sorted(kinds | {"other"})))
		END
	} | grep . | sort -u >sources
	diff man sources || fail "< stands in the manual page only, > in the sources only"
	{
		"$FOLDER/list" | cut -d' ' -f3 | tr '|' '\n'
		grep -oE 'kind_is [a-z-]+' "$SRC/tests/cmd/test_explain.sh" | cut -d' ' -f2
	} | sort -u >tested
	comm -23 sources tested >untested
	[ ! -s untested ] || fail "no program for: $(tr '\n' ' ' <untested)"
}

# kind_is KIND: what out is about
kind_is() {
	why
	assert_equal "$why_kind" "$1"
}

test_maps_that_the_kernel_refuses() {
	[ "$(id -u)" = 0 ] || skip "loading takes root"
	cat >map.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		struct {
			__uint(type, TYPE);
			__uint(key_size, KEY);
			__uint(value_size, VALUE);
			__uint(max_entries, ENTRIES);
		} odd SEC(".maps");
		SEC("raw_tp/sys_enter") int on_enter(void *ctx) { return 0; }
	END
	while read -r type key value entries hint; do
		compile map.bpf.c map.o -DTYPE="$type" -DKEY="$key" -DVALUE="$value" -DENTRIES="$entries"
		expect_status 1 "$REFUSED" json map.o on_enter
		kind_is map-refused
		assert_contains out "map 'odd' (type "
		assert_contains out "$hint"
	done <<-'END'
		BPF_MAP_TYPE_HASH 0 4 1 it needs a key
		BPF_MAP_TYPE_HASH 4 4 0 max_entries is 0
		BPF_MAP_TYPE_ARRAY 8 4 1 an array's key is its index
		BPF_MAP_TYPE_RINGBUF 4 4 4096 a ring buffer has no key
		BPF_MAP_TYPE_STACK_TRACE 4 7 8 8 bytes per frame
		BPF_MAP_TYPE_HASH 4 2147483647 8 fewer or smaller entries
		250 4 4 1 unknown map type 250
	END
}

test_programs_that_are_too_large_or_not_whole() {
	[ "$(id -u)" = 0 ] || skip "loading takes root"
	compile "$FOLDER/flow.bpf.c" large.o -DLARGE
	"$REFUSED" open-json large.o >out || true
	kind_is too-large
	assert_contains out "more than 1000000 instructions"
	cat >bare.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		static int each(__u32 i, void *at) { return 0; }
		extern int no_such_function(int n);
		SEC("?raw_tp/sys_enter") int on_enter(void *ctx)
		{
			return bpf_loop(3, each, 0, 0);
		}
		#ifdef UNDEFINED
		SEC("?raw_tp/sys_enter") int calls(void *ctx) { return no_such_function(1); }
		#endif
		char LICENSE[] SEC("license") = "GPL";
	END
	compile bare.bpf.c bare.o -g0
	expect_status 1 "$REFUSED" json bare.o on_enter
	kind_is debug-info
	compile bare.bpf.c undefined.o -DUNDEFINED
	expect_status 2 "$REFUSED" json undefined.o on_enter
	"$REFUSED" open-json undefined.o on_enter >out || true
	kind_is undefined-name
	assert_contains out "'no_such_function' is declared but not defined"
}

test_types_that_the_kernel_refuses() {
	[ "$(id -u)" = 0 ] || skip "loading takes root"
	"$REFUSED" btf >out && fail "an int of 3 bytes is taken"
	kind_is btf-refused
	assert_contains out "the kernel rejects the BTF"
}

test_maps_that_are_not_created() {
	objects
	expect_status 1 "$REFUSED" json values.o null_map_value without-table
	kind_is no-map
	assert_contains out "it uses map 'table', which is not created"
	assert_equal "$why_source" "struct numbers *v = bpf_map_lookup_elem(&table, &key);"
}

test_what_record_prints() {
	[ "$(id -u)" = 0 ] || skip "loading takes root"
	cat >filter.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		struct {
			__uint(type, BPF_MAP_TYPE_HASH);
			__uint(max_entries, 4);
			__type(key, int);
			__type(value, int);
		} seen SEC(".maps");
		SEC("tracepoint/syscalls/sys_enter_getcpu")
		int filter(void *ctx)
		{
			int key = 1;
			int *v = bpf_map_lookup_elem(&seen, &key);

			return (*v)++;
		}
		char LICENSE[] SEC("license") = "GPL";
	END
	expect_status 1 "$PERF_BPF" record -o x.data -e filter.bpf.c -- true
	cat >want <<-'END'
		perf-bpf: error: filter.bpf.c:15: program filter (section tracepoint/syscalls/sys_enter_getcpu): the value from bpf_map_lookup_elem() may be NULL here
		   15 | return (*v)++;
		      R0 is a pointer to a value of map 'seen', or NULL, since line 13: int *v = bpf_map_lookup_elem(&seen, &key);
		      the kernel says: R0 invalid mem access 'map_value_or_null'
		hint: check it first: if (!v) return 0;
	END
	# Before 6.2 the verifier does not write the map's name.
	sed -i "s/a value of map 'seen'/a map's value/" want err
	diff want err || fail "< is wanted"
	expect_status 1 "$PERF_BPF" --errors=json record -o x.data -e filter.bpf.c -- true
	assert_equal "$(wc -l <err)" 1
	mv err out
	kind_is null-pointer
	assert_equal "$why_line" 15
	assert_equal "$why_register" R0
	assert_equal "$why_since_line" 13
	assert_equal "$why_errno" 13
	assert_equal "$why_source" "return (*v)++;"
	assert_equal "$why_program" filter
	# The whole log with -v.
	expect_status 1 "$PERF_BPF" record -v -o x.data -e filter.bpf.c -- true
	assert_contains err "call bpf_map_lookup_elem#1"
	assert_contains err "processed "
}

test_other_errors_as_json() {
	expect_status 1 "$PERF_BPF" --errors=json script -i no-such-file
	mv err out
	kind_is other
	assert_contains out "no-such-file"
	expect_status 1 "$PERF_BPF" --errors=text script -i no-such-file
	assert_contains err "perf-bpf: error: "
	expect_status 2 "$PERF_BPF" --errors=xml script
	assert_contains err "hint: use --errors=text or --errors=json"
	PERF_BPF_ERRORS=json expect_status 1 "$PERF_BPF" script -i no-such-file
	grep -q '^{"kind":"other",' err || fail "$(cat err)"
}

test_the_struct_for_callers() {
	[ "$(id -u)" = 0 ] || skip "loading takes root"
	objects
	expect_status 0 "$REFUSED" struct values.o null_map_value
	assert_contains out "before: -2" # ENOENT: nothing failed yet
	assert_contains out "kind null-pointer line 51 reg R0 insn 7 since 48"
	assert_contains out "smaller: -22"
	assert_contains out "larger: 0 null-pointer, the rest zero"
}

run_tests
