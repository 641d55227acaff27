#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Inlined functions and source lines in report and script, beside perf's text of the same recordings.
. "$(dirname "$0")/../tap.sh"
RECORDINGS=inlined
. "$(dirname "$0")/../golden/golden.sh"

# same COMMAND NAME OPTION...: both print the same, but for perf's tip at the end and blank
# comments. perf has a source file, in other versions none, for _start, which has no debug
# information.
same() {
	local command=$1 name=$2 mine=0
	shift 2
	[ "$command" = script ] || set -- --stdio "$@"
	perf_text "$command" -i "$name" "$@" >theirs.all
	golden "$command" -i "$name" "$@" 2>mine.err </dev/null >mine.all || mine=$?
	[ $mine = 0 ] || fail "$command $*: ended with $mine: $(cat mine.err)"
	for who in mine theirs; do
		sed -E '/^# \(.*\)$/,$d; /^#$/d; s/_start (inlines\.c:0|\?\?:0|\+[0-9]+)/_start/; s/\[\.\.\.\] \(inlined\)/[...]/; /^  \?\?:0$/d' \
			$who.all >$who
	done
	[ "$(wc -l <theirs)" -gt 3 ] || fail "perf $command $*: printed nothing"
	if ! cmp -s theirs mine; then
		diff theirs mine | head -20 | sed 's/^/# /'
		fail "$command $*: differs from perf in $(diff theirs mine | grep -c '^[<>]') lines"
	fi
}

test_report_is_perfs() {
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
	for options in "" "-F +srcline" "-F comm,ip,sym,srcline --full-source-path" "-F +srcline --no-inline" \
		"-F ip,sym,srcline,symoff" "-F +srcline -G" "-F comm,ip,sym --stop-bt middle"; do
		same script dwarf $options
	done
	same script flat -F +srcline
	golden script -i dwarf -F ip,sym,dso,srcline >mine
	tr '\n' ' ' <mine | grep -qE "	 +[0-9a-f]+ leaf   leaf\.h:10[345] \(inlined\) 	 +[0-9a-f]+ middle   middle\.c:203 \(inlined\) 	 +[0-9a-f]+ parent \([^)]*rbpf_inlines\)   parent\.c:303" ||
		fail "not one in the other: $(head -20 mine)"
	expect_status 1 golden script -i dwarf -F comm,srcline
	assert_contains err "field 'srcline' needs field 'ip'"
}

# perf 6.1 does not show inlined functions in chains of frame pointers, newer perf does.
test_frame_pointers() {
	same report fp --no-inline
	same script fp --no-inline
	golden report -i fp --no-children -g caller,folded,0 -s sym >out
	assert_contains out 'begin;parent;middle (inlined);leaf (inlined)'
	assert_contains out 'begin;other;leaf (inlined)'
	golden report -i fp --no-children -g callee,folded,0,srcline -s sym >out
	grep -qE ' leaf leaf\.h:10[345] \(inlined\);middle middle\.c:203 \(inlined\);parent parent\.c:303;begin ' out ||
		fail "no lines: $(cat out)"
}

test_data() {
	golden script --json -i dwarf -F +srcline >script.json
	golden report --json -i dwarf >report.json
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
	golden report --csv -i dwarf >out.csv
	grep -q 'middle (inlined)' out.csv || fail "not in the CSV"
	expect_status 2 golden report -i dwarf -s sourceline
	assert_contains err "srcline"
}

# Names of C++ are those of the linker, demangled, with their scopes.
test_names_of_cxx() {
	golden script -i cxx -F ip,sym >mine
	grep -q ' shop::Cart::add (inlined)$' mine || fail "no add: $(head mine)"
	grep -qE ' (void )?shop::Cart::all<int> \(inlined\)$' mine || fail "no all: $(head mine)"
	grep -q ' shop::fill$' mine || fail "no fill: $(head mine)"
	golden script -v -i cxx -F ip,sym >mine 2>err
	grep -q ' shop::Cart::add(int) (inlined)$' mine || fail "no parameters: $(head mine)"
	golden script --no-demangle -i cxx -F ip,sym >mine
	grep -q ' _ZN4shop4Cart3addEi (inlined)$' mine || fail "demangled: $(head mine)"
}

run_tests
