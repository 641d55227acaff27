#!/usr/bin/env bash
# Inlined functions and source lines in report and script, beside linux-perf on the same recordings.
. "$(dirname "$0")/../tap.sh"
BUILDID_CACHE_OF_PERF=yes

PERF=$(command -v perf || true)
# Not /tmp/perf-…: perf takes such a path for the names of a JIT.
FILES=$(mktemp -d "${TMPDIR:-/tmp}/inlines-of-perf-bpf.XXXXXX")
tests_end() {
	rm -rf "$FILES"
}

need_perf() {
	[ -n "$PERF" ] || skip "linux-perf is not installed"
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	command -v addr2line >/dev/null || skip "perf needs addr2line (binutils) for lines"
	[ -x "$FILES/rbpf_inlines" ] || make_workload
}

# Without the C library, whose debug information may be installed or not. Of its functions leaf()
# is inlined everywhere, middle() in parent(), and each of them has lines of its own.
make_workload() {
	[ "$(uname -m)" = x86_64 ] || skip "no system calls for this processor"
	cat >"$FILES/work.c" <<-'END'
		#define NOINLINE __attribute__((noinline, noclone))
		#define INLINE static inline __attribute__((always_inline))
		static volatile unsigned long sink;
		#line 101 "/src/leaf.h"
		INLINE void leaf(unsigned long n)
		{
			for (unsigned long i = 0; i < n; i++)
				sink = sink * 31 + i;
		}
		#line 201 "/src/middle.c"
		INLINE void middle(unsigned long n)
		{
			leaf(n);
		}
		#line 301 "/src/parent.c"
		NOINLINE static void parent(unsigned long n)
		{
			middle(n);
			sink++;
		}
		#line 401 "/src/other.c"
		NOINLINE static void other(unsigned long n)
		{
			leaf(n);
			parent(n / 2);
			sink++;
		}
		#line 501 "/src/main.c"
		__attribute__((used)) NOINLINE void begin(void)
		{
			for (int i = 0; i < 100; i++) {
				other(100000);
				parent(50000);
			}
			__asm__ volatile("syscall" : : "a"(60), "D"(0) : "rcx", "r11", "memory");
		}
		__asm__(".globl _start\n.type _start,@function\n_start: .cfi_startproc\n.cfi_undefined rip\n"
			"xor %ebp,%ebp\nand $-16,%rsp\ncall begin\nhlt\n.cfi_endproc\n.size _start,.-_start\n");
	END
	gcc -g -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls -fno-stack-protector \
		-static -nostdlib -nostartfiles -Wl,--eh-frame-hdr -o "$FILES/rbpf_inlines" "$FILES/work.c" 2>"$FILES/cc.err" ||
		skip "the workload does not build here: $(head -n 1 "$FILES/cc.err")"
}

# record NAME OPTION...: made once; by a period, so that a slow machine has as many samples
record() {
	local name=$1
	shift
	[ -e "$FILES/$name" ] ||
		"$PERF" record -q -N -o "$FILES/$name" -e task-clock:u -c 500000 "$@" -- \
			"$FILES/rbpf_inlines" 2>record.err || fail "perf record $*: $(cat record.err)"
}

# same COMMAND NAME OPTION...: both print the same, but for perf's tip at the end and blank
# comments. perf has a source file, in other versions none, for _start, which has no debug
# information.
same() {
	local command=$1 name=$2 mine=0
	shift 2
	"$PERF" "$command" $([ "$command" = script ] || echo --stdio) -i "$FILES/$name" "$@" \
		2>theirs.err </dev/null >theirs.all || fail "perf $command $*: $(cat theirs.err)"
	"$PERF_BPF" "$command" -i "$FILES/$name" "$@" 2>mine.err </dev/null >mine.all || mine=$?
	[ $mine = 0 ] || fail "$command $*: ended with $mine: $(cat mine.err)"
	for who in mine theirs; do
		sed -E '/^# \(.*\)$/,$d; /^#$/d; s/_start (work\.c:0|\?\?:0|\+[0-9]+)/_start/; s/\[\.\.\.\] \(inlined\)/[...]/; /^  \?\?:0$/d' \
			$who.all >$who
	done
	[ "$(wc -l <theirs)" -gt 3 ] || fail "perf $command $*: printed nothing: $(cat theirs.err)"
	if ! cmp -s theirs mine; then
		diff theirs mine | head -20 | sed 's/^/# /'
		fail "$command $*: differs from perf in $(diff theirs mine | grep -c '^[<>]') lines"
	fi
}

test_report_is_perfs() {
	need_perf
	record dwarf --call-graph dwarf,2048
	for options in "" "--no-children" "-G" "-g callee" "-g address" "-g caller,address,0" \
		"-g srcline,0" "--no-children -g callee,srcline" "-g folded,0 -s sym" "-g flat" \
		"-g fractal,1" "-v" "--inline" "--no-inline" "--no-inline --inline" \
		"-s srcline --no-children -g none" "-s srcfile --no-children" "-s comm,srcline,sym -g none" \
		"--no-children -F overhead,srcline,sample -g none" "--max-stack 2" \
		"-s srcfile,srcline --full-source-path --no-children -g none" \
		"-g srcline --full-source-path" "--hierarchy -s srcfile,srcline,sym --no-children -g none"; do
		same report dwarf $options
	done
	same report dwarf
	grep -q ' \[\.\] middle (inlined)' mine || fail "no entry of an inlined function"
	grep -q -- '--leaf (inlined)$' mine || fail "no inlined function in the tree"
	same report dwarf -g srcline --no-children
	grep -q 'middle middle\.c:203 (inlined)$' mine || fail "no line of an inlined function"
	same report dwarf -s srcline --full-source-path --no-children
	grep -q '%  .*src/leaf\.h:10[345]' mine || fail "not the whole path"
	same report dwarf --no-inline
	! grep -q inlined mine || fail "--no-inline: inlined functions"
}

test_script_is_perfs() {
	need_perf
	record dwarf --call-graph dwarf,2048
	record flat
	for options in "" "-F +srcline" "-F comm,ip,sym,srcline --full-source-path" "-F +srcline --no-inline" \
		"-F ip,sym,srcline,symoff" "-F +srcline -G" "-F comm,ip,sym --stop-bt middle"; do
		same script dwarf $options
	done
	same script flat -F +srcline
	"$PERF_BPF" script -i "$FILES/dwarf" -F ip,sym,dso,srcline >mine
	tr '\n' ' ' <mine | grep -qE "	 +[0-9a-f]+ leaf   leaf\.h:10[345] \(inlined\) 	 +[0-9a-f]+ middle   middle\.c:203 \(inlined\) 	 +[0-9a-f]+ parent \([^)]*rbpf_inlines\)   parent\.c:303" ||
		fail "not one in the other: $(head -20 mine)"
	expect_status 1 "$PERF_BPF" script -i "$FILES/dwarf" -F comm,srcline
	assert_contains err "field 'srcline' needs field 'ip'"
}

# perf 6.1 does not show inlined functions in chains of frame pointers, newer perf does.
test_frame_pointers() {
	need_perf
	record fp --call-graph fp
	same report fp --no-inline
	same script fp --no-inline
	"$PERF_BPF" report -i "$FILES/fp" --no-children -g caller,folded,0 -s sym >out
	assert_contains out 'begin;parent;middle (inlined);leaf (inlined)'
	assert_contains out 'begin;other;leaf (inlined)'
	"$PERF_BPF" report -i "$FILES/fp" --no-children -g callee,folded,0,srcline -s sym >out
	grep -qE ' leaf leaf\.h:10[345] \(inlined\);middle middle\.c:203 \(inlined\);parent parent\.c:303;begin ' out ||
		fail "no lines: $(cat out)"
}

test_data() {
	need_perf
	record dwarf --call-graph dwarf,2048
	"$PERF_BPF" script --json -i "$FILES/dwarf" -F +srcline >script.json
	"$PERF_BPF" report --json -i "$FILES/dwarf" >report.json
	python3 - <<-'END' || fail "see above"
		import json
		whole = 0
		for line in open("script.json"):
		    chain = json.loads(line)["chain"]
		    names = [(f["sym"], f.get("inlined", False)) for f in chain]
		    if names[:3] == [("leaf", True), ("middle", True), ("parent", False)]:
		        whole += 1
		        assert chain[0]["ip"] == chain[2]["ip"], chain
		        assert chain[1]["file"].endswith("src/middle.c") and chain[1]["line"] == 203, chain
		assert whole, "no chain is whole"
		results = [json.loads(line) for line in open("report.json")]
		rows = [row for r in results for row in r.get("rows", [])]
		frames = [f for r in results for s in r.get("stacks", []) for f in s["frames"]]
		assert {"leaf", "middle"} == {row["symbol"] for row in rows if row.get("inlined")}, rows
		assert {"leaf", "middle"} == {f["name"] for f in frames if f.get("inlined")}, frames
	END
	"$PERF_BPF" report --csv -i "$FILES/dwarf" >out.csv
	grep -q 'middle (inlined)' out.csv || fail "not in the CSV"
	expect_status 2 "$PERF_BPF" report -i "$FILES/dwarf" -s sourceline
	assert_contains err "srcline"
}

# Names of C++ are those of the linker, demangled, with their scopes.
test_names_of_cxx() {
	need_perf
	command -v g++ >/dev/null || skip "no C++ compiler"
	cat >shop.cc <<-'END'
		#include <vector>
		namespace shop {
		static volatile unsigned long sink;
		struct Cart {
			std::vector<int> v;
			__attribute__((always_inline)) inline void add(int n) { for (int i = 0; i < n; i++) sink += i; }
			template <typename T> __attribute__((always_inline)) inline void all(T n) { add(n); sink++; }
		};
		__attribute__((noinline)) void fill(Cart &c, int n) { c.all<int>(n); sink++; }
		}
		int main() { shop::Cart c; for (int i = 0; i < 200; i++) shop::fill(c, 100000); return 0; }
	END
	g++ -g -O1 -fno-omit-frame-pointer -o shop shop.cc
	"$PERF" record -q -o cxx.data -e task-clock:u -c 500000 --call-graph dwarf,4096 -- ./shop 2>record.err ||
		fail "perf record: $(cat record.err)"
	"$PERF_BPF" script -i cxx.data -F ip,sym >mine
	grep -q ' shop::Cart::add (inlined)$' mine || fail "no add: $(head mine)"
	grep -qE ' (void )?shop::Cart::all<int> \(inlined\)$' mine || fail "no all: $(head mine)"
	grep -q ' shop::fill$' mine || fail "no fill: $(head mine)"
	"$PERF_BPF" script -v -i cxx.data -F ip,sym >mine 2>err
	grep -q ' shop::Cart::add(int) (inlined)$' mine || fail "no parameters: $(head mine)"
	"$PERF_BPF" script --no-demangle -i cxx.data -F ip,sym >mine
	grep -q ' _ZN4shop4Cart3addEi (inlined)$' mine || fail "demangled: $(head mine)"
}

run_tests
