#!/usr/bin/env bash
# probe, and record -e probe:…: what can be probed in a program, and whether what
# the samples say is what the program did.
. "$(dirname "$0")/../tap.sh"

FILES=$(mktemp -d "${TMPDIR:-/tmp}/shop-of-perf-bpf.XXXXXX")
tests_end() {
	rm -rf "$FILES"
}

shop() {
	[ -x "$FILES/shop" ] || gcc -O2 -g -o "$FILES/shop" "$SRC/tests/cmd/probe_shop.c"
	cp "$FILES/shop" .
}

need_uprobes() {
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	"$PERF_BPF" features attach.uprobe >/dev/null || skip "this kernel has no uprobes"
}

# fields EVENT FIELD...: of each sample of the recording, separated by blanks
fields() {
	"$PERF_BPF" script --json >json 2>script.err || fail "script: $(cat script.err)"
	python3 - "$@" <<-'END'
		import json, sys
		for line in open("json"):
		    s = json.loads(line)
		    if s["type"] == "sample" and s["event"] == sys.argv[1]:
		        print(*[s[f] if f in ("pid", "tid") else s["fields"][f] for f in sys.argv[2:]])
	END
}

# Programs are known by the event's name, which is this run's own.
OWN=o$$

# No program of ours is left in the kernel; what a link held may take a moment to go.
nothing_left() {
	soon no_program
}

no_program() {
	"$PERF_BPF" prog list name "probe_$OWN" >left 2>&1 || true
	! grep -q "name probe_$OWN" left
}

a_program() {
	"$PERF_BPF" prog list name "probe_$OWN" >left 2>&1
	grep -q "probe_$OWN" left
}

# A line that several pieces of code are of is hit as often as it is run through.
test_a_line_is_several_points() {
	local line how
	need_uprobes
	cat >loop.c <<-'END'
		#include <stdlib.h>
		volatile int sink;
		__attribute__((noinline)) int work(int n)
		{
			int sum = 0;
			for (int i = 0; i < n; i++) {
				if (i & 1)
					sum += i * sink;
				else
					sum -= sink;
				sink = sum;
			}
			return sum;
		}
		int main(int argc, char **argv)
		{
			return work(atoi(argv[1])) & 0;
		}
	END
	for how in "gcc -O0" "gcc -O2" "clang -O2"; do
		# shellcheck disable=SC2086
		$how -g -o loop loop.c
		for line in 4:10 5:5 7:5 8:10; do
			# clang -O2 has no code that begins on the lines of the two branches.
			case $how:$line in clang*:5:* | clang*:7:*) continue ;; esac
			expect_status 0 "$PERF_BPF" record -q -o data -e "probe:exec=./loop;$OWN:x=work:${line%:*}" ./loop 10
			expect_status 0 "$PERF_BPF" script -i data
			assert_equal "$how, line ${line%:*}: $(wc -l <out)" "$how, line ${line%:*}: ${line#*:}"
		done
	done
	expect_status 0 "$PERF_BPF" probe --json -x ./loop -L work
	mv out lines
	expect_status 0 "$PERF_BPF" probe --json -x ./loop work:8
	python3 - <<-'END' || fail "$(cat lines out)"
		import json
		lines, found = json.load(open("lines")), json.load(open("out"))
		points = dict(zip(lines["lines"], lines["points"]))[lines["first"] + 8]
		print(points, found)
		assert points == 3 == len(found["points"]), (points, found)
	END
	expect_status 0 "$PERF_BPF" probe -v -x ./loop -L work
	grep -q '^      8  .*sink = sum;  \[3 points\]' out || fail "$(cat out)"
}

# What C++ programs have: values are those that app.cc gives.
test_cxx_values() {
	local how
	need_uprobes
	command -v g++ >/dev/null || skip "g++ is not installed"
	cat >want <<-'END'
		add {"n": 3, "count": 4, "what": "apple"}
		point {"x": 8, "y": 9}
		retval {"retval": 12}
		retval {"retval": 79}
		retval {"retval": 17}
		twice {"v": 21, "y": 6, "tag": 77}
		twice {"v": 2, "y": 6, "tag": 77}
		price {"n": 6, "name": "corner shop", "color": 7, "total": 9}
		less {"o_count": 4, "this_count": 7}
		value {"s": "text by value", "x": 1, "y": 2}
		ref {"r": 12, "rr": 13, "count": 4, "name": "a shop whose name is long enough not to fit"}
		lambda {"k": 5}
		add {"n": 1, "count": 4, "what": "pear"}
		retval {"retval": 9}
	END
	sort want >want.sorted
	for how in "g++ -O2" "g++ -O0 -gdwarf-4" "clang++ -O2 -gdwarf-5" "clang++ -O2 -gdwarf-4 -gz"; do
		# shellcheck disable=SC2086
		$how -g -o app "$SRC/tests/probe/app.cc" 2>cc.err || skip "$how: $(head -n 1 cc.err)"
		expect_status 0 "$PERF_BPF" record -q -o data \
			-e "probe:exec=./app;$OWN:add=Shop::add n count what:string" \
			-e "probe:exec=./app;$OWN:point=app::inner::Shop::add p.x p.y" \
			-e "probe:exec=./app;$OWN:retval=Shop::add%return \$retval" \
			-e "probe:exec=./app;$OWN:twice=twice v box.value.y this->box.tag" \
			-e "probe:exec=./app;$OWN:price=Shop::price n name:string this->color total" \
			-e "probe:exec=./app;$OWN:less=operator< o.count this->count" \
			-e "probe:exec=./app;$OWN:value=by_value s:string p.x p.y" \
			-e "probe:exec=./app;$OWN:ref=by_ref r rr s.count s.name:string" \
			-e "probe:exec=./app;$OWN:lambda=main::*operator* k" ./app
		expect_status 0 "$PERF_BPF" script --json -i data
		grep '"type":"sample"' out | python3 -c 'import json, sys
for line in sys.stdin:
    s = json.loads(line)
    print(s["event"].split(":")[1], json.dumps(s["fields"]))' | sort >got
		cmp -s want.sorted got || { diff want.sorted got | sed 's/^/# /'; fail "$how"; }
	done
	expect_status 1 "$PERF_BPF" probe -x ./app 'Shop::price box:string'
	assert_contains err "the strings of C++, D, Fortran, Go and Rust are"
}

test_functions_lines_and_variables() {
	shop
	expect_status 0 "$PERF_BPF" probe -x ./shop -F 'order_*'
	assert_equal "$(cat out)" order_place
	expect_status 0 "$PERF_BPF" probe -x ./shop -F
	assert_contains out main
	expect_status 0 "$PERF_BPF" probe -x ./shop -V order_place
	assert_contains out "Available variables at order_place"
	assert_contains out "@<order_place+0>"
	assert_contains out "	struct order *	order"
	assert_contains out "	int	count"
	expect_status 0 "$PERF_BPF" probe -x ./shop -L order_place
	assert_contains out "<order_place@$SRC/tests/cmd/probe_shop.c:0>"
	grep -q '^      6  	counter += sum;' out || fail "$(cat out)"
	grep -q '^         $' out || fail "a line without code has a number"
	# no source: only the numbers
	gcc -O2 -g -ffile-prefix-map="$SRC"=/nowhere -o bare "$SRC/tests/cmd/probe_shop.c"
	expect_status 0 "$PERF_BPF" probe -x ./bare -L order_place
	grep -qx '      6' out || fail "$(cat out)"
	expect_status 0 "$PERF_BPF" probe -x ./bare -s "$SRC" -L order_place
	grep -q '^      6  	counter += sum;' out || fail "$(cat out)"
	# an inlined function is where its copies are
	expect_status 0 "$PERF_BPF" probe -x ./shop -V discount
	assert_contains out "a copy of discount>"
	assert_contains out "	int	price"
	# Each copy has a head of its own, and its variables below.
	cat >twice.c <<-'END'
		volatile int pbt_seen;
		static inline __attribute__((always_inline)) void seen(int what) { pbt_seen += what; }
		__attribute__((noinline)) void one(int a) { seen(a); }
		__attribute__((noinline)) void two(int b) { seen(b + 1); }
		int main(int argc, char **argv) { (void)argv; one(argc); two(argc); return 0; }
	END
	gcc -O2 -g -o twice twice.c
	"$PERF_BPF" probe -x ./twice -V seen | sed 's/+[0-9]*,/,/' >out
	printf 'Available variables at seen\n\t@<%s, a copy of seen>\n\t\tint\twhat\n\t@<%s, a copy of seen>\n\t\tint\twhat\n' \
		one two >want
	diff want out || fail "the copies are not told apart"
}

# perf-probe(1), EXAMPLES, LINE SYNTAX and FILTER PATTERN, with the shop for the kernel.
test_command_lines_of_perf_probe() {
	shop
	# words are one definition, the program may stand before it
	expect_status 0 "$PERF_BPF" probe -q "$PWD/shop" order_place:6 sum count
	assert_contains out "exec=$PWD/shop;order_place:6 sum count: "
	expect_status 0 "$PERF_BPF" probe -q -x shop --add='order_place' -a 'discount price'
	assert_contains out "exec=./shop;discount price: "
	expect_status 0 "$PERF_BPF" probe -q -x shop 'order_place;counter+=*'
	assert_contains out "order_place;counter+=*: "
	expect_status 0 "$PERF_BPF" probe -q -x shop 'order_*'
	expect_status 0 "$PERF_BPF" probe -x shop -D order_place
	assert_contains out "exit"
	expect_status 1 "$PERF_BPF" probe -q -x shop --no-inlines discount
	assert_contains err "inlined copies are skipped"
	# what it says can be recorded is what a shell takes, whatever the path
	local path
	for path in "a b;c" "it's" 'say "x"'; do
		cp shop "$path"
		expect_status 0 "$PERF_BPF" probe -x "$path" order_place order-\>id
		sed -n "s/^	perf-bpf record -e \('probe:.*'\) -a sleep 1$/\1/p" out >event
		eval "set -- $(cat event)"
		expect_status 0 "$PERF_BPF" probe -q "${1#probe:}"
		assert_contains out "  order_place+0 "
	done
	# lines
	expect_status 0 "$PERF_BPF" probe -x shop -L order_place:5-6
	assert_equal "$(wc -l <out)" 3
	grep -q '^      6  	counter += sum;' out || fail "$(cat out)"
	cp out want
	expect_status 0 "$PERF_BPF" probe -x shop -L order_place@probe_shop.c:5+2
	diff out want || fail "+NUM and -LAST differ"
	local at
	at=$(grep -n 'counter += sum' "$SRC/tests/cmd/probe_shop.c" | cut -d: -f1)
	expect_status 0 "$PERF_BPF" probe -x shop -L "probe_shop.c:$at+1"
	assert_equal "$(tail -n +2 out | sed 's/ *//')" "$at  	counter += sum; /* the function's line 6 */"
	expect_status 0 "$PERF_BPF" probe -x shop -L probe_shop.c
	grep -q 'probe_shop.c:1>$' out || fail "$(head -1 out)"
	expect_status 0 "$PERF_BPF" probe -x shop -L order_place
	grep -q '^      0  ' out || fail "the entry is not shown: $(cat out)"
	expect_status 1 "$PERF_BPF" probe -x shop -L order_place:5-4
	assert_contains err "before the first"
	expect_status 1 "$PERF_BPF" probe -x shop -L order_place:5-x
	expect_status 1 "$PERF_BPF" probe -x shop -L probe_shop.c:9999
	assert_contains err "the last line is "
	# filters
	expect_status 0 "$PERF_BPF" probe -x shop -F '!_* & *order* | main'
	assert_equal "$(xargs <out)" "main order_place"
	expect_status 0 "$PERF_BPF" probe -x shop -F --filter 'order_*|ma?n'
	assert_equal "$(xargs <out)" "main order_place"
	expect_status 0 "$PERF_BPF" probe -x shop -V order_place --externs --filter 'count*'
	assert_equal "$(grep -c '^		' out)" 2
	assert_contains out "	int	counter"
	expect_status 2 "$PERF_BPF" probe -x shop -F --filter 'a | (b'
	assert_contains err "expected ')' here"
	# what is kept in the kernel is perf probe's
	for opt in -l '--list=probe:*' '--del=order*' -d*; do
		expect_status 2 "$PERF_BPF" probe "$opt"
		assert_contains err "keeps no probes in the kernel"
	done
	# SDT probes and the kernel's names with a version
	expect_status 1 "$PERF_BPF" probe -x shop %sdt_hotspot:thread__sleep__end
	assert_contains err "SEC(\"usdt/PATH:PROVIDER:NAME\")"
	expect_status 1 "$PERF_BPF" probe -x shop 'malloc_get_state\@GLIBC_2.2.5'
	assert_contains err "'malloc_get_state@GLIBC_2.2.5'"
	mkdir 'foo+dir'
	cp "$SRC/tests/cmd/probe_shop.c" 'foo+dir/foo+bar.c'
	gcc -O2 -g -o foo 'foo+dir/foo+bar.c'
	expect_status 0 "$PERF_BPF" probe -q -x foo "foo\\+bar.c:$at"
	assert_contains out "order_place+"
}

test_the_json_is_json() {
	shop
	for opts in "-F" "-V order_place" "-L order_place"; do
		# shellcheck disable=SC2086 # words
		expect_status 0 "$PERF_BPF" probe -j -x ./shop $opts
		python3 -m json.tool <out >/dev/null || fail "$opts"
	done
	expect_status 0 "$PERF_BPF" probe -j -x ./shop -V order_place
	assert_equal "$(python3 -c 'import json
p = json.load(open("out"))["points"][0]
print(p["function"], p["offset"], p["source"], *[v["name"] for v in p["variables"] if v["parameter"]])')" \
		"order_place 0 dwarf order count"
	need_uprobes
	expect_status 0 "$PERF_BPF" probe -j -n -x ./shop -a 'order_place order->id count' -a discount
	assert_equal "$(wc -l <out)" "$(grep -c . out)"
	python3 - <<-'END'
		import json
		text = open("out").read()
		first, at = json.JSONDecoder().raw_decode(text)
		assert first["definition"] == "exec=./shop;order_place order->id count", first
		(p,) = first["points"]
		assert p["way"].startswith("uprobe"), p
		assert [a["name"] for a in p["args"]] == ["id", "count"], p
		assert len(first["instances"]) == 1 and "exit" in first["instances"][0][-1], first
		second = json.loads(text[at:])
		assert second["points"][0]["inlined"] == "discount", second
	END
}

test_a_dry_run_shows_places_ways_and_code() {
	need_uprobes
	shop
	expect_status 0 "$PERF_BPF" probe -x ./shop -n 'order_place order->id order->who:string'
	assert_contains out "1 point"
	grep -q '^  order_place+0 (.*probe_shop.c:[0-9]*): by uprobe' out || fail "$(cat out)"
	grep -q '^      who .*string' out || fail "$(cat out)"
	assert_contains out "call bpf_probe_read_user_str#"
	expect_status 0 "$PERF_BPF" probe -x ./shop 'order_place order->id'
	assert_contains out "perf-bpf record -e 'probe:exec=./shop;order_place order->id'"
	! grep -q 'r10' out || fail "code without -n"
	expect_status 0 "$PERF_BPF" probe -x ./shop -n --way=uprobe order_place
	assert_contains out "by uprobe,"
	# Where a kernel can attach nothing, what would be read is shown all the same.
	[ -r /sys/kernel/btf/vmlinux ] || return 0
	expect_status 0 "$PERF_BPF" probe -n 'vfs_write file->f_pos count'
	grep -qE '^  vfs_write\+0: (by (fentry|kprobe)|cannot be attached: )' out || fail "$(cat out)"
	grep -q '^      count .*arg3' out || fail "$(cat out)"
}

test_arguments_are_what_the_program_did() {
	need_uprobes
	shop
	"$PERF_BPF" record -q -e "probe:exec=./shop;$OWN=order_place order->id order->who:string price=order->items[2].price order->total order->left order->items[1].tag:string" \
		-e 'probe:exec=./shop;order_place%return $retval' ./shop 20 >told ||
		fail "record ended with $?"
	fields probe_shop:$OWN pid id who price total left tag >seen
	cut -d' ' -f1-7 told >want
	cmp -s want seen || { diff want seen | head; fail "arguments differ"; }
	fields probe_shop:order_place__return retval >seen
	cut -d' ' -f8 told >want
	cmp -s want seen || fail "what is returned differs"
	"$PERF_BPF" script >text
	assert_contains text "probe_shop:$OWN: id=1000 who=\"ann\" price=-20 total=0 left=-3 tag=\"t0\""
	nothing_left
}

# What users of perf probe write when nothing tells the types: as kprobe_events and
# uprobe_events take it.
test_arguments_without_types() {
	need_uprobes
	shop
	local reg0
	case $(uname -m) in
	x86_64) reg0=%DI ;;
	*) reg0=%X0 ;;
	esac
	# where the members are, from the debug information
	cat >where.c <<-'END'
		#include <stddef.h>
		#include <stdio.h>
		struct item { int price; char tag[8]; };
		struct order { unsigned long id; struct item items[4]; const char *who; };
		int main(void)
		{
			printf("%zu %zu\n", offsetof(struct order, items[1].tag), offsetof(struct order, who));
			return 0;
		}
	END
	gcc -o where where.c
	./where >at
	local tag who
	read -r tag who <at
	"$PERF_BPF" record -q -e "probe:exec=./shop;$OWN=order_place tag=+$tag($reg0):string who=+0(+$who($reg0)):string t2=+$tag(order):string id=+0($reg0):u64 w2=+u$who(order):x64 w3=order->who:x64" \
		-e "probe:exec=./shop;order_place:0 id=\$arg1:x64 o=order:x64" ./shop 4 >told ||
		fail "record ended with $?"
	fields "probe_shop:$OWN" tag who t2 id w2 w3 >seen
	awk '{ print $7, $3, $7, $2 }' told >want
	cut -d' ' -f1-4 seen | diff want - || fail "arguments differ"
	awk '$5 != $6 || $5 == 0 { exit 1 }' seen || fail "two ways to one word: $(cat seen)"
	# a function's own line is its entry
	fields probe_shop:order_place id o >seen
	assert_equal "$(wc -l <seen)" 4
	awk '$1 != $2 || $1 == 0 { exit 1 }' seen || fail "two ways to one parameter: $(cat seen)"
	expect_status 1 "$PERF_BPF" probe -x ./shop 'order_place %foo'
	assert_contains err "unknown register 'foo'"
	assert_contains err "sp, "
	expect_status 1 "$PERF_BPF" probe -x ./shop 'order_place count:x8[4]'
	assert_contains err "list the elements"
}

# A breakpoint in the middle of an instruction would change what the program does.
test_an_offset_is_where_an_instruction_begins() {
	case $(uname -m) in
	x86_64) ;;
	*) skip "on this machine all instructions have one length" ;;
	esac
	shop
	strip -o bare -g shop
	objdump -d --no-show-raw-insn --disassemble=order_place shop >code
	local from at status inside n=0
	from=$(sed -n 's/^0*\([0-9a-f]*\) <order_place>:$/\1/p' code)
	for offset in $(seq 1 24); do
		at=$(printf '%x' $((0x$from + offset)))
		for file in ./shop ./bare; do
			status=0
			"$PERF_BPF" probe -q -x $file "order_place+$offset" >out 2>err || status=$?
			if grep -q "^ *$at:" code; then
				assert_equal "$status" 0 "+$offset of $file"
			else
				n=$((n + 1)) inside=$offset
				assert_equal "$status" 1 "+$offset of $file"
				assert_contains err "order_place+$offset is in the middle of an instruction"
			fi
		done
	done
	[ $n -gt 4 ] || fail "$n offsets were within instructions"
	expect_status 1 "$PERF_BPF" probe -q -x ./bare "order_plac*+$inside"
	assert_contains err "in the middle of an instruction"
}

# What a recording has no number for: bytes, or a reason.
test_wide_values_and_those_of_each_thread() {
	cat >wide.c <<-'END'
		struct both { __int128 wide; int n; };
		__thread int own = 3;
		__attribute__((noinline)) int take(struct both *b, unsigned char *text)
		{
			__asm__ volatile("" ::"r"(text) : "memory");
			return b->n + own;
		}
		int main(void)
		{
			struct both b = {((__int128)5 << 64) | 6, 7};
			return take(&b, (unsigned char *)"text") != 10;
		}
	END
	gcc -O2 -g -o wide wide.c
	expect_status 1 "$PERF_BPF" probe -x wide 'take own'
	assert_equal "$(head -n 1 err)" "perf-bpf: error: cannot read 'own' in take: it is a thread-local variable"
	need_uprobes
	"$PERF_BPF" record -q -e "probe:exec=./wide;$OWN=take b->wide b->n text:string" ./wide
	"$PERF_BPF" script >text
	assert_contains text 'wide={06 00 00 00 00 00 00 00 05 00 00 00 00 00 00 00} n=7 text="text"'
}

# A program that gcc splits: "body" and "ext" have parts that are functions of their own, "again"
# calls itself and is inlined into itself. It prints how often each is called.
split() {
	cat >split.c <<-'END'
		#include <stdio.h>
		#define NI __attribute__((noinline))
		struct st { int n; int *v; };
		volatile int sink;
		static int bodies, exts, agains, ones;
		static int body(struct st *s, int n)
		{
			bodies++;
			if (!s)
				return 0;
			for (int i = 0; i < n; i++) {
				sink += i * s->n;
				s->v[i & 3] += sink;
				if (s->v[i & 3] > 100000)
					printf("much: %d\n", i);
			}
			for (int i = 0; i < n; i++)
				s->v[i & 1] -= sink;
			return s->v[0];
		}
		NI int first(struct st *s, int n) { return body(s, n) + 1; }
		NI int second(struct st *s, int n) { return body(s, n + 1) + 2; }
		int (*volatile pointer)(struct st *, int) = body;
		int ext(struct st *s, int n)
		{
			exts++;
			if (!s)
				return 5;
			for (int i = 0; i < n; i++) {
				sink += i * s->n;
				s->v[i & 3] += sink;
				if (s->v[i & 3] > 100000)
					printf("more: %d\n", i);
			}
			return s->v[1];
		}
		/* Its part has one caller, so it is inlined into what is left of it. */
		static int one(struct st *s, int n)
		{
			ones++;
			if (n & 1)
				return n;
			printf("# one %d\n", n);
			for (int i = 0; i < n; i++)
				s->v[i & 3] ^= sink;
			printf("# two %d\n", s->v[2] & 0);
			return s->v[3];
		}
		int (*volatile other)(struct st *, int) = one;
		static int again(int n)
		{
			agains++;
			if (n < 2)
				return 1;
			sink++;
			return n * again(n - 1) + again(n - 2);
		}
		int main(void)
		{
			int v[4] = {0};
			struct st s = {1, v};
			for (int i = 0; i < 6; i++) {
				first(&s, i);
				second(i & 1 ? &s : 0, i);
				pointer(&s, i);
				ext(i & 1 ? &s : 0, i);
				other(&s, i);
			}
			again(6);
			printf("body %d\next %d\none %d\nagain %d\n", bodies, exts, ones, agains);
			return 0;
		}
	END
	gcc -g -o split split.c "$@"
}

# A call is one sample, whatever the compiler made of the function.
test_a_call_is_one_event() {
	local level name count
	need_uprobes
	for level in -O2 -O1 "-O2 -fno-inline" -O3; do
		split $level -fno-optimize-sibling-calls # a recursion that became a loop is no call
		"$PERF_BPF" record -q -e "probe:exec=./split;$OWN=body" -e "probe:exec=./split;$OWN=ext" \
			-e "probe:exec=./split;$OWN=one" -e "probe:exec=./split;$OWN=again" ./split >told
		"$PERF_BPF" script --json | sed -n 's/.*"event":"probe_split:\([^"]*\)".*/\1/p' | sort | uniq -c >seen
		local i=0
		for name in body ext one again; do
			# Of a recursion that -O3 computed in advance no code is left.
			[ "$level $name" != "-O3 again" ] || continue
			count=$(sed -n "s/^$name //p" told)
			local event=$OWN
			[ $i = 0 ] || event=${OWN}_$i
			i=$((i + 1))
			assert_equal "$level $name $(sed -n "s/^ *\([0-9]*\) $event\$/\1/p" seen)" "$level $name $count"
		done
	done
}

# Code that was inlined and then duplicated (loops unrolled, branches threaded) is entered at several
# addresses, of which DWARF names one. The program counts its own calls.
test_copies_that_were_duplicated() {
	local level name
	need_uprobes
	cat >dup.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		volatile int sink;
		int unrolled, unswitched, threaded, deep, peeled;
		static inline int unroll(int n)
		{
			unrolled++;
			if (n & 1)
				sink += n;
			return sink;
		}
		static inline void unswitch(int n, int how)
		{
			unswitched++;
			if (how)
				sink -= n;
			else
				sink ^= n;
		}
		static inline int inner(int n)
		{
			deep++;
			return n ^ sink;
		}
		static inline int thread(int n)
		{
			threaded++;
			return n > 2 ? inner(n) : inner(n + 1) + 1;
		}
		static inline void peel(int *v, int i)
		{
			peeled++;
			sink = v[i];
		}
		__attribute__((noinline, noclone)) int loops(int n, int how)
		{
			int sum = 0, v[8] = {1, 2, 3};
			for (int i = 0; i < 4; i++)
				sum += unroll(i + n);
			for (int i = 0; i < n; i++)
				unswitch(i, how);
			for (int i = 0; i < n; i++) {
				int k = i & 1 ? 7 : i;
				sum += thread(k);
				if (k == 7)
					sum += sink;
			}
			for (int i = 0; i < 5; i++)
				peel(v, i);
			return sum;
		}
		int main(int argc, char **argv)
		{
			int sum = 0;
			for (int i = 0; i < 5; i++)
				sum += loops(i + argc, i & 1);
			sink = sum;
			printf("unroll %d\nunswitch %d\nthread %d\ninner %d\npeel %d\n", unrolled, unswitched, threaded, deep, peeled);
			return 0;
		}
	END
	for level in -O1 -O3 "-O3 -funroll-loops" "-O2 -flto -gdwarf-4"; do
		# shellcheck disable=SC2086
		gcc -g $level -o dup dup.c
		"$PERF_BPF" record -q -e "probe:force=yes;exec=./dup;${OWN}u=unroll n" -e "probe:exec=./dup;${OWN}s=unswitch" \
			-e "probe:exec=./dup;${OWN}t=thread" -e "probe:exec=./dup;${OWN}i=inner" \
			-e "probe:force=yes;exec=./dup;${OWN}p=peel i" ./dup >told
		"$PERF_BPF" script --json >json
		for name in unroll unswitch thread inner peel; do
			echo "$name $(grep -c "\"event\":\"probe_dup:${OWN}$([ $name = unswitch ] && echo s || echo "${name:0:1}")\"" json)"
		done >seen
		assert_equal "$level $(tr '\n' ' ' <seen)" "$level $(tr '\n' ' ' <told)"
		python3 - "$OWN" <<-'END' || fail "arguments with $level"
			import json, sys
			values = {}
			for line in open("json"):
			    s = json.loads(line)
			    if s["type"] == "sample":
			        values.setdefault(s["event"][-1], []).append(s["fields"])
			n, i = ([v[k] for v in values[e] if isinstance(v.get(k), int)] for e, k in ("un", "pi"))
			print("#", len(n), "n,", len(i), "i")
			want = [k + m for m in range(1, 6) for k in range(4)], [k for m in range(5) for k in range(5)]
			left = sorted(want[0]), sorted(want[1])
			for seen, all in zip((n, i), left):
			    for v in seen:
			        all.remove(v)
		END
	done
}

# A global variable's declaration in a header may lack the size that its definition has.
test_globals_that_are_declared_first() {
	need_uprobes
	cat >globals.c <<-'END'
		extern const char motto[];
		extern int numbers[];
		const char motto[] = "counted";
		int numbers[3] = {1, 20, 300};
		__attribute__((noinline, noclone)) int at(int n) { return numbers[n] + motto[n]; }
		volatile int sink;
		int main(int argc, char **argv)
		{
			sink = at(argc);
			return 0;
		}
	END
	gcc -g -O1 -o globals globals.c
	"$PERF_BPF" record -q -e "probe:exec=./globals;$OWN=at motto numbers all=numbers[2]" ./globals
	assert_equal "$(fields "probe_globals:$OWN" motto all numbers)" \
		"counted 300 [1, 0, 0, 0, 20, 0, 0, 0, 44, 1, 0, 0]"
}

# A clone that gcc made has its symbol, and in DWARF the name of the function: it is found by both.
test_clones_by_their_symbols() {
	need_uprobes
	split -O2 -fno-inline -fno-optimize-sibling-calls
	nm split | grep -q ' again.isra.0$' || skip "this gcc makes no such clone"
	"$PERF_BPF" record -q -e "probe:exec=./split;$OWN=again.isra.0 n" ./split >told
	assert_equal "$(fields "probe_split:$OWN" n | wc -l)" "$(sed -n 's/^again //p' told)"
	assert_equal "$(fields "probe_split:$OWN" n | head -3 | tr '\n' ' ')" "6 5 4 "
}

# Lines of code that was inlined into the same function are hit once each, too.
test_a_line_is_one_event() {
	local line first name
	need_uprobes
	split -O2 -fno-optimize-sibling-calls
	for name in body one ext again; do
		for line in 2 3 4 5 6 7 8 9 10 11 12 13; do
			"$PERF_BPF" probe -q --json -x ./split "$name:$line" >points 2>/dev/null || continue
			assert_equal "$name:$line $(grep -o '"address":"[^"]*"' points | sort | uniq -d)" "$name:$line "
		done
	done
	line=$(grep -n 'sink++;' split.c | cut -d: -f1)
	first=$(grep -n 'static int again' split.c | cut -d: -f1)
	"$PERF_BPF" record -q -e "probe:exec=./split;$OWN=again:$((line - first))" ./split >told
	# again(6): calls with n >= 2
	assert_equal "$("$PERF_BPF" script | grep -c "probe_split:")" 12
}

# typed PROGRAM, whose functions have arguments of one name and different types
typed() {
	cat >typed.c <<-'END'
		#define NI __attribute__((noinline, noclone))
		struct single { float v; };
		struct wide { double v; };
		struct number { int v; };
		NI void a_x_b(int v) { __asm__ volatile("" ::"r"(v) : "memory"); }
		NI void a_y_b(unsigned v) { __asm__ volatile("" ::"r"(v) : "memory"); }
		NI void f_x_g(struct single *p) { __asm__ volatile("" ::"r"(p) : "memory"); }
		NI void f_y_g(struct wide *p) { __asm__ volatile("" ::"r"(p) : "memory"); }
		NI void f_z_g(struct number *p) { __asm__ volatile("" ::"r"(p) : "memory"); }
		NI void s_x_t(const char *v) { __asm__ volatile("" ::"r"(v) : "memory"); }
		NI void s_y_t(long v) { __asm__ volatile("" ::"r"(v) : "memory"); }
		NI void w_x(long v) { __asm__ volatile("" ::"r"(v) : "memory"); }
		NI void w_y(unsigned long v) { __asm__ volatile("" ::"r"(v) : "memory"); }
		int main(void)
		{
			for (int i = 0; i < 2; i++) {
				a_x_b(-7 - i);
				a_y_b(4000000000u + i);
				f_x_g(&(struct single){1.5f + i});
				f_y_g(&(struct wide){2.25 + i});
				f_z_g(&(struct number){-3 - i});
				s_x_t(i ? "two" : "one");
				s_y_t(-9 - i);
				w_x(-11 - i);
				w_y(-1ul - i);
			}
			return 0;
		}
	END
	gcc -O1 -g -fno-ipa-icf -fno-ipa-ra -o typed typed.c
}

# One name with different types is right at each probe point: an event for each combination.
test_a_glob_over_different_types() {
	need_uprobes
	typed
	"$PERF_BPF" record -q -e "probe:exec=./typed;${OWN}a=a_*_b v" -e "probe:exec=./typed;${OWN}f=f_*_g p->v" \
		-e "probe:exec=./typed;${OWN}s=s_*_t v" -e "probe:exec=./typed;${OWN}st=s_*_t v:string" \
		-e "probe:exec=./typed;${OWN}w=w_* v" ./typed
	"$PERF_BPF" script --json >json
	python3 - "$OWN" <<-'END'
		import json, sys
		own = sys.argv[1]
		seen, of = {}, {}
		for line in open("json"):
		    s = json.loads(line)
		    if s["type"] != "sample" or own + "st" in s["event"]:
		        continue
		    seen.setdefault(s["sym"], []).append(s["fields"]["v"])
		    of.setdefault(s["sym"], set()).add(s["event"])
		want = {"a_x_b": [-7, -8], "a_y_b": [4000000000, 4000000001], "f_x_g": [1.5, 2.5],
		        "f_y_g": [2.25, 3.25], "f_z_g": [-3, -4], "s_y_t": [-9, -10],
		        "w_x": [-11, -12], "w_y": [2**64 - 1, 2**64 - 2]}
		pointers = seen.pop("s_x_t")
		assert seen == want, (seen, of)
		assert of["a_x_b"] == of["a_y_b"], of  # one field has all values of both
		assert len(of["f_x_g"] | of["f_y_g"] | of["f_z_g"]) == 3, of
		assert of["s_x_t"] != of["s_y_t"] and of["w_x"] != of["w_y"], of
	END
	"$PERF_BPF" script >text
	for value in '(a_x_b) v=-8' '(a_y_b) v=4000000001' '(f_x_g) v=2.5' '(f_y_g) v=3.25' '(f_z_g) v=-4' \
		'(s_y_t) v=-10' '(w_x) v=-12' '(w_y) v=18446744073709551614'; do
		assert_contains text "$value"
	done
	"$PERF_BPF" report --sort sym,v -t, >text
	for value in a_x_b,-7 a_y_b,4000000000 f_x_g,1.5 f_y_g,2.25; do
		tr -d ' ' <text | grep -qF "$value" || { cat text; fail "report lacks $value"; }
	done
	"$PERF_BPF" probe -x ./typed 'f_*_g p->v' >text
	assert_contains text ": 3 points"
	assert_equal "$(grep -o 'instance [0-9]*' text | sort -u | wc -l)" 3
}

# A template's instances, and arguments that only some of the probe points have.
test_templates_of_different_types() {
	need_uprobes
	command -v g++ >/dev/null || skip "g++ is not installed"
	cat >templates.cc <<-'END'
		template <typename T> __attribute__((noinline)) void take(T *v, T w)
		{
			__asm__ volatile("" ::"r"(v), "r"((long)w) : "memory");
		}
		int main()
		{
			int i = -5;
			unsigned u = 4000000000u;
			unsigned char c = 200;
			double d = 1.5;
			take(&i, i);
			take(&u, u);
			take(&c, c);
			take(&d, d);
			return 0;
		}
	END
	g++ -O1 -g -fno-ipa-icf -fno-ipa-ra -o templates templates.cc
	"$PERF_BPF" record -q -e "probe:exec=./templates;$OWN=take value=v[0]" ./templates
	"$PERF_BPF" script --json >json
	python3 - <<-'END'
		import json
		seen = [json.loads(l) for l in open("json")]
		values = [s["fields"]["value"] for s in seen if s["type"] == "sample"]
		assert values == [-5, 4000000000, 200, 1.5], values
	END
}

# Instances of a generic Rust function: the values of each have its own type, and signed, unsigned
# and floating ones are different events.
test_rust_generics_of_different_types() {
	need_uprobes
	command -v rustc >/dev/null || skip "rustc is not installed"
	cat >generics.rs <<-'END'
		use std::hint::black_box;
		struct Box1<T> { v: T }
		#[inline(never)]
		fn take<T>(b: &Box1<T>) { black_box(&b.v); }
		fn main() {
		    for _ in 0..2 {
		        take(black_box(&Box1 { v: -5i32 }));
		        take(black_box(&Box1 { v: 4000000000u32 }));
		        take(black_box(&Box1 { v: 200u8 }));
		        take(black_box(&Box1 { v: u64::MAX }));
		        take(black_box(&Box1 { v: 1.5f32 }));
		        take(black_box(&Box1 { v: -2.25f64 }));
		    }
		}
	END
	# At higher levels rustc may make one function of instances with equal code.
	rustc -g -C opt-level=1 -o generics generics.rs 2>rustc.err ||
		skip "rustc does not work here: $(head -n 1 rustc.err)"
	"$PERF_BPF" record -q -e "probe:exec=./generics;$OWN=generics::take value=b.v" ./generics
	"$PERF_BPF" script --json >json
	python3 - <<-'END'
		import json
		seen = [json.loads(l) for l in open("json")]
		seen = [(s["event"], s["fields"]["value"]) for s in seen if s["type"] == "sample"]
		assert [v for _, v in seen] == 2 * [-5, 4000000000, 200, 2**64 - 1, 1.5, -2.25], seen
		event = {v: e for e, v in seen}
		assert len({event[-5], event[2**64 - 1], event[1.5], event[-2.25]}) == 4, event
	END
}

no_fault_program() {
	! "$PERF_BPF" prog list name probe_fault_in | grep -q probe_fault_in
}

# Strings that the process has not touched yet are read as well: it would read them, too.
test_strings_that_are_not_paged_in() {
	need_uprobes
	has attach.uprobe_multi || skip "this kernel has no uprobe.multi, by which sleepable programs are attached"
	cat >far.c <<-'END'
		struct far { char text[1 << 18]; } __attribute__((aligned(1 << 18)));
		static const struct far far[6] = {{"zero"}, {"one"}, {"two"}, {"three"}, {"four"}, {"five"}};
		struct name { const char *text; };
		__attribute__((noinline)) void take(const char *text, struct name *name)
		{
			__asm__ volatile("" ::"r"(text), "r"(name) : "memory");
		}
		int main(void)
		{
			for (int i = 0; i < 5; i++)
				take(far[i].text, &(struct name){far[i + 1].text});
			return 0;
		}
	END
	gcc -O1 -g -o far far.c
	"$PERF_BPF" record -q -e "probe:exec=./far;$OWN=take text:string name->text:string" ./far
	fields "probe_far:$OWN" text text_2 >seen 2>/dev/null || fields "probe_far:$OWN" text name_text >seen
	printf '%s\n' 'zero one' 'one two' 'two three' 'three four' 'four five' >want
	cmp -s want seen || { cat seen; fail "not all strings"; }
	# An address that nothing is at is still an error.
	cat >bad.c <<-'END'
		__attribute__((noinline)) void take(const char *text) { __asm__ volatile("" ::"r"(text) : "memory"); }
		int main(void)
		{
			take((const char *)16);
			take("good");
			return 0;
		}
	END
	gcc -O1 -g -o bad bad.c
	"$PERF_BPF" record -q -e "probe:exec=./bad;$OWN=take text:string" ./bad
	"$PERF_BPF" script >text
	assert_contains text 'text=""(fault)'
	assert_contains text 'text="good"'
	nothing_left
	soon no_fault_program
}

# Strings of 100 to 200 characters: what was cut ends in "...", and nothing else does.
test_cut_strings_are_marked() {
	need_uprobes
	cat >long.c <<-'END'
		#include <string.h>
		struct fixed { char name[24]; };
		__attribute__((noinline)) void take(const char *text, struct fixed *f)
		{
			__asm__ volatile("" ::"r"(text), "r"(f) : "memory");
		}
		int main(void)
		{
			char text[256];
			struct fixed f;
			for (int i = 100; i <= 200; i++) {
				memset(text, 'a' + i % 26, sizeof(text));
				text[i] = 0;
				memset(&f, 'x', sizeof(f));
				f.name[i % 24] = 0;
				take(text, &f);
			}
			return 0;
		}
	END
	gcc -O1 -g -o long long.c
	for arguments in "text:string f->name:string" "text:string f->name:string a=text:string b=text:string"; do
		"$PERF_BPF" record -q -e "probe:exec=./long;$OWN=take $arguments" ./long
		"$PERF_BPF" script --json >json
		"$PERF_BPF" script -F trace >text
		python3 - <<-'END' || fail "$arguments: cut strings"
			import json
			seen = [json.loads(l)["fields"] for l in open("json")]
			seen = [f for f in seen if "text" in f]
			assert len(seen) == 101, len(seen)
			cut = 0
			for i, f in zip(range(100, 201), seen):
			    c, fixed = chr(ord("a") + i % 26), [v for k, v in f.items() if "name" in k][0]
			    assert fixed == "x" * (i % 24), (i, fixed)
			    for name in f.keys() & {"text", "a", "b"}:
			        whole, got = c * i, f[name]
			        if got != whole:
			            cut += 1
			            assert got.endswith("...") and len(got) - 3 < i, (i, got)
			            assert got[:-3] == whole[:len(got) - 3], (i, got)
			assert cut, "none is cut"
			# Those that are cut are the longest.
			shown = [f["text"].endswith("...") for f in seen]
			assert shown == sorted(shown), shown
		END
		grep -q 'a\.\.\."' text || fail "script has no mark"
	done
}

# Each name that -F has for a function can be given as it stands.
test_names_of_cxx() {
	command -v g++ >/dev/null || skip "g++ is not installed"
	cat >names.cc <<-'END'
		#define NI __attribute__((noinline))
		template <typename T> struct Box { T v; };
		namespace shop {
		struct Order {
			static int made;
			int id;
			NI int operator+(int o) const { asm volatile("" ::: "memory"); return id + o; }
			NI int operator*(int o) const { asm volatile("" ::: "memory"); return id * o; }
			NI int operator()(int o) { asm volatile("" ::: "memory"); return id - o; }
			NI bool operator==(const Order &o) const { asm volatile("" ::: "memory"); return id == o.id; }
			NI int &operator[](int i) { asm volatile("" ::: "memory"); return id += i; }
			NI int total(int tax) const { asm volatile("" ::: "memory"); return tax; }
		};
		int Order::made = 70;
		struct Cart { static int made; };
		int Cart::made = 80;
		template <typename T> NI int sum(T v) { asm volatile("" ::: "memory"); return !v.v; }
		NI int over(int n) { asm volatile("" ::: "memory"); return n; }
		NI int over(const char *s) { asm volatile("" ::: "memory"); return s[0]; }
		namespace { NI int hidden(int h) { asm volatile("" ::: "memory"); return h * 3; } }
		}
		int main(int argc, char **argv)
		{
			shop::Order o = {argc};
			auto lam = [&](int l) NI { asm volatile("" ::: "memory"); return l + o.id; };
			return o + 1 + o * 2 + o(3) + (o == o) + o[4] + o.total(5) + shop::sum(Box<unsigned char *>{0}) +
			       shop::sum(Box<long>{6}) + shop::over(7) + shop::over(argv[0]) + shop::hidden(8) + lam(9) +
			       shop::Order::made + shop::Cart::made;
		}
	END
	g++ -O2 -g -o names names.cc
	"$PERF_BPF" probe -x ./names -F '*shop*' >all
	"$PERF_BPF" probe -x ./names -F 'main*' >>all
	for name in 'shop::Order::operator*' 'shop::Order::operator()' 'shop::Order::operator[]' \
		'shop::Order::operator==' 'shop::(anonymous namespace)::hidden' \
		'main::{lambda(int)#1}::operator()' 'shop::sum<Box<unsigned char*> >'; do
		grep -qxF "$name" all || fail "-F does not list $name: $(cat all)"
	done
	while IFS= read -r name; do
		"$PERF_BPF" probe -q -x names "$name" >out 2>err || fail "$name: $(cat err)"
		assert_equal "$(grep -c '^  [^ ]' out)" "$([ "$name" = shop::over ] && echo 2 || echo 1)" "$name"
	done <all
	# a list of parameters tells which of several
	for which in 'shop::over(int)' '"shop::over(char const*)"' 'over(int)'; do
		expect_status 0 "$PERF_BPF" probe -q -j -x ./names "$which \$params"
		python3 -c 'import json
(p,) = json.load(open("out"))["points"]
print(p["symbol"], *[a["name"] for a in p["args"]])' >>one
	done
	printf '_ZN4shop4overEi n\n_ZN4shop4overEPKc s\n_ZN4shop4overEi n\n' | diff - one ||
		fail "the wrong one of two"
	expect_status 0 "$PERF_BPF" probe -x ./names -V 'shop::over(int)'
	assert_contains out "	int	n"
	expect_status 1 "$PERF_BPF" probe -x ./names 'shop::over(long)'
	assert_contains err "'shop::over(int)'"
	need_uprobes
	"$PERF_BPF" record -q -e "probe:exec=./names;$OWN=shop::(anonymous namespace)::hidden h a=shop::Order::made b=Cart::made" \
		-e "probe:exec=./names;lam=main::{lambda(int)#1}::operator() l" ./names >told || true
	assert_equal "$(fields "probe_names:$OWN" h a b)" "8 70 80"
	assert_equal "$(fields probe_names:lam l)" 9
	expect_status 1 "$PERF_BPF" record -e "probe:exec=./names;$OWN=shop::Order::total Shop::made" ./names
	assert_contains err 'no variable "Shop::made"'
}

test_perf_reads_them_too() {
	need_uprobes
	command -v perf >/dev/null || skip "linux-perf is not installed"
	shop
	"$PERF_BPF" record -q -e 'probe:exec=./shop;order_place order->id order->who:string left=order->left' \
		./shop 5 >told
	perf script -i perf.data >text 2>err || fail "perf script: $(cat err)"
	assert_equal "$(grep -c 'probe_shop:order_place: id=100[0-4] who="ann" left=-3$' text)" 5
	perf report --stdio -i perf.data --sort id >text 2>err || fail "perf report: $(cat err)"
	assert_equal "$(grep -c '^ *20.00% *100[0-4]$' text)" 5
}

test_report_sums_up_by_an_argument() {
	need_uprobes
	shop
	"$PERF_BPF" record -q -e 'probe:exec=./shop;order_place order->id odd=order->id:b1@0/64 order->who:string' \
		./shop 8 >told
	"$PERF_BPF" report --sort odd,who -t, >text
	grep -q '50.00% *, *1,ann' text || fail "$(cat text)"
	grep -q '50.00% *, *0,ann' text || fail "$(cat text)"
	expect_status 2 "$PERF_BPF" report --sort whom
	assert_contains err "did you mean 'who'"
}

# Of a glob, a sample says which function it was.
test_each_sample_says_which_function() {
	need_uprobes
	gcc -O2 -g -fno-ipa-icf -o probed "$SRC/tests/cmd/probed.c"
	"$PERF_BPF" record -q -e "probe:exec=./probed;$OWN=step_* n" ./probed 40 >told
	"$PERF_BPF" script --json >json
	for name in first second third other; do
		assert_equal "$name $(grep -c "\"sym\":\"step_$name\",.*\"fields\":{\"n\":" json)" "$name 40"
	done
	! grep -q __probe json || fail "inner fields are shown"
	"$PERF_BPF" script >text
	assert_equal "$(grep -c ": (step_second) n=[0-9]*\$" text)" 40
	"$PERF_BPF" report --sort sym,n -t, >text
	assert_equal "$(grep -c ',\[\.\] step_third *, *39 *$' text)" 1
	"$PERF_BPF" report --sort trace -t, >text
	assert_equal "$(grep -c ',(step_other) n=7 *$' text)" 1
	# one function: there is nothing to be told apart
	"$PERF_BPF" record -q -e "probe:exec=./probed;$OWN=step_fir* n" ./probed 3 >told
	"$PERF_BPF" script >text
	assert_equal "$(grep -c ": n=[0-9]*\$" text)" 3
	# At a return it is the one that returns, not the one that is returned to; kernels tell
	# that since 6.6, as they have uprobe.multi.
	"$PERF_BPF" features attach.uprobe_multi >/dev/null || return 0
	"$PERF_BPF" record -q -e "probe:exec=./probed;$OWN=step_*%return" ./probed 5 >told
	"$PERF_BPF" script --json >json
	for name in first second third other; do
		assert_equal "$name $(grep -c "\"sym\":\"step_$name\"" json)" "$name 5"
	done
}

test_an_inlined_function_and_a_line_with_a_local() {
	need_uprobes
	shop
	"$PERF_BPF" record -q -e 'probe:exec=./shop;discount price' \
		-e 'probe:exec=./shop;order_place:6 sum' ./shop 12 >told
	fields probe_shop:discount price >seen
	cut -d' ' -f8 told >want
	cmp -s want seen || fail "the inlined copy's parameter: $(diff want seen | head -3)"
	fields probe_shop:order_place_L6 sum >seen
	cmp -s want seen || fail "the local: $(diff want seen | head -3)"
}

test_children_follow_and_others_do_not() {
	need_uprobes
	shop
	./shop 3 >/dev/null # never recorded
	"$PERF_BPF" record -q -e 'probe:exec=./shop;order_place order->id' ./shop 3 child >told
	fields probe_shop:order_place pid id | sort >seen
	cut -d' ' -f1,2 told | sort >want
	assert_equal "$(wc -l <want)" 6
	cmp -s want seen || { diff want seen; fail "not the child's as well"; }
	"$PERF_BPF" record -q -i -e 'probe:exec=./shop;order_place order->id' ./shop 3 child >told
	fields probe_shop:order_place id >seen
	assert_equal "$(wc -l <seen)" 3
	# another program that runs meanwhile is left out, but with -a
	"$PERF_BPF" record -q -e 'probe:exec=./shop;order_place order->id' \
		-- sh -c "exec sleep 0.01" >told &
	local recorder=$!
	while kill -0 $recorder 2>/dev/null; do ./shop 1 >/dev/null; done
	wait $recorder
	assert_equal "$(fields probe_shop:order_place id | wc -l)" 0
	"$PERF_BPF" record -q -a -e 'probe:exec=./shop;order_place order->id' -- ./shop 2 >told
	local pid
	pid=$(cut -d' ' -f1 told | head -1)
	assert_equal "$(fields probe_shop:order_place pid | grep -c "^$pid\$")" 2
}

# is_last PID: it is that program by now
is_last() {
	[ "$(cat "/proc/$1/comm")" = last ]
}

# With probes alone, whose events are not the process's, too.
test_it_ends_with_the_process() {
	need_uprobes
	shop
	cat >last.c <<-'END'
		#include <stdio.h>
		__attribute__((noinline)) void last_step(int n)
		{
			__asm__ volatile("" : : "r"(n) : "memory");
		}
		int main(int argc, char **argv)
		{
			fgetc(fopen("go", "r")); /* until somebody writes */
			for (int i = 0; i < 30; i++)
				last_step(i);
			return 0;
		}
	END
	gcc -O2 -g last.c -o last
	for which in -p -t; do
		mkfifo go
		./last &
		local pid=$! recorder
		: >log # what it holds of the other option is not about this one
		soon is_last $pid
		timeout 60 "$PERF_BPF" record $which $pid -v -e "probe:exec=./last;$OWN=last_step n" 2>log &
		recorder=$!
		until grep -q 'attached in' log && # and its rings are there: its events are open
			grep -q perf_event "/proc/$(pgrep -P $recorder)/maps"; do
			kill -0 $recorder || { cat log; fail "it does not record"; }
			sleep 0.05
		done
		echo >go # this shell waits for the recorder alone: the process is not reaped
		local status=0
		wait $recorder || { status=$?; cat log; }
		assert_equal "$which $status" "$which 0"
		wait $pid
		rm go
		# counted where it is attached; samples are taken from a moment later on
		grep -qE "last_step: uprobe(.multi)?, instance 0, 30 hits\$" log || { cat log; fail "no hits"; }
	done
	nothing_left
}

test_names_of_fields() {
	need_uprobes
	shop
	"$PERF_BPF" record -q -e "probe:exec=./shop;$OWN=order_place err=order->id" ./shop 3 >told
	fields probe_shop:$OWN err >seen
	cut -d' ' -f2 told >want
	cmp -s want seen || fail "it is not the argument"
	for name in __probe_ip __probe_err err_mask common_pid; do
		expect_status 1 "$PERF_BPF" record -e "probe:exec=./shop;$OWN=order_place $name=count" ./shop 1
		assert_contains err "argument '$name' has the name of a standard field of samples"
	done
}

# A program whose section is a definition decides about the samples of its probe.
test_a_program_with_a_definition_filters() {
	need_uprobes
	command -v clang >/dev/null || skip "clang is not installed"
	shop
	cat >dear.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		SEC("exec=./shop;order_place order->id price=order->items[2].price")
		int dear(void *ctx, int err, unsigned long id, long price)
		{
			return !err && price > 0 ? 2 : 0;
		}
		char LICENSE[] SEC("license") = "GPL";
	END
	"$PERF_BPF" record -q -e dear.bpf.c ./shop 10 >told 2>err || fail "$(cat err)"
	"$PERF_BPF" script >text
	assert_equal "$(grep -c 'probe_shop:order_place: ' text)" "$(awk '$4 > 0' told | wc -l)"
	# one that counts through a ring and keeps nothing records nothing
	sed -i 's/? 2 : 0/? 0 : 0/' dear.bpf.c
	"$PERF_BPF" record -q -e dear.bpf.c ./shop 10 >told 2>err || fail "$(cat err)"
	assert_equal "$("$PERF_BPF" script 2>/dev/null | grep -c order_place)" 0
	sed -i 's/order->id/order->idd/' dear.bpf.c
	expect_status 1 "$PERF_BPF" record -e dear.bpf.c ./shop 1
	assert_contains err "program dear"
	assert_contains err "'id'"
}

test_call_chains() {
	need_uprobes
	shop
	gcc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -fno-inline -g -o framed \
		"$SRC/tests/cmd/probe_shop.c"
	"$PERF_BPF" record -q -g -e 'probe:exec=./framed;order_place order->id' ./framed 2 >told
	"$PERF_BPF" script >text
	grep -q ' order_place+0x' text && grep -q ' main+0x' text || fail "$(cat text)"
	assert_contains text "id=1001"
}

test_what_cannot_be_found_says_so() {
	shop
	expect_status 1 "$PERF_BPF" record -e "probe:exec=./shop;$OWN=order_plase" ./shop 1
	assert_contains err "order_plase"
	assert_contains err "'order_place'"
	expect_status 1 "$PERF_BPF" probe -x ./shop -V order_plase
	assert_contains err "'order_place'"
	expect_status 1 "$PERF_BPF" record -e "probe:exec=./shop;$OWN=order_place%return count" ./shop 1
	assert_contains err "only \$retval and global variables are available (also probe its entry)"
	expect_status 1 "$PERF_BPF" record -e "probe:exec=./shop;$OWN=order_place ordre->id" ./shop 1
	assert_contains err "ordre"
	assert_contains err "'order'"
	expect_status 1 "$PERF_BPF" record -e "probe:exec=./shop;$OWN=order_place order->idd" ./shop 1
	assert_contains err "idd"
	assert_contains err "'id'"
	expect_status 1 "$PERF_BPF" record -e 'probe:exec=./shop;zzz*' ./shop 1
	assert_contains err "zzz*"
	expect_status 1 "$PERF_BPF" probe -m no_such_module some_function
	assert_contains err "module no_such_module is not loaded"
	expect_status 1 "$PERF_BPF" record -e 'probe:exec=./none;f' ./shop 1
	assert_contains err "none"
	expect_status 1 "$PERF_BPF" record -e 'probe:exce=./shop;f' ./shop 1
	assert_contains err "exec"
	expect_status 1 "$PERF_BPF" record -e "probe:exec=./shop;$OWN=order_place order->id:u7" ./shop 1
	assert_contains err "u7"
	expect_status 1 "$PERF_BPF" record -e "probe:exec=./shop;$OWN=order_place:999" ./shop 1
	expect_status 2 "$PERF_BPF" probe -x ./shop
	expect_status 2 "$PERF_BPF" probe -x ./shop -F -V order_place
	expect_status 2 "$PERF_BPF" probe --way=uprob -x ./shop order_place
	assert_contains err "'uprobe'"
	[ ! -e perf.data ] || fail "a recording was begun"
	# A parameter whose register the function has used again.
	cat >again.c <<-'END'
		volatile int sink;
		__attribute__((noinline, noclone)) void other(int n) { sink = n; }
		__attribute__((noinline, noclone)) int again(int n)
		{
			other(n + 1);
			sink++;
			return 0;
		}
		int main(void) { return again(sink + 3); }
	END
	gcc -g -O2 -fno-ipa-ra -o again again.c
	"$PERF_BPF" probe -x ./again 'again:3 n' >out
	assert_contains out "arg1@entry s32"
	nothing_left
}

test_without_debug_information() {
	shop
	strip -o bare -g shop
	expect_status 1 "$PERF_BPF" probe -x ./bare -V order_place
	assert_contains err "debug"
	assert_contains err "hint:"
	expect_status 1 "$PERF_BPF" record -e 'probe:exec=./bare;order_place order->id' ./bare 1
	assert_contains err "debug"
	need_uprobes
	# registers and the function itself need none
	"$PERF_BPF" record -q -e 'probe:exec=./bare;order_place n=%si:s32' ./bare 3 >told
	assert_equal "$(fields probe_bare:order_place n | sort -u)" 4
	assert_equal "$(fields probe_bare:order_place n | wc -l)" 3
}

# Damage never crashes: an error, or values where the damage does not matter.
test_damaged_debug_information() {
	shop
	python3 - <<-'END'
		import random
		random.seed(7)
		data = open("shop", "rb").read()
		import subprocess
		sections = []
		for line in subprocess.run(["readelf", "-SW", "shop"], capture_output=True,
		                           text=True).stdout.splitlines():
		    part = line.replace("[ ", "[").split()
		    if len(part) > 5 and part[1].startswith(".debug_"):
		        sections.append((int(part[4], 16), int(part[5], 16)))
		assert len(sections) >= 4
		for i in range(40):
		    bad = bytearray(data)
		    for _ in range(random.choice([1, 4, 40, 400])):
		        start, size = random.choice(sections)
		        bad[start + random.randrange(size)] = random.randrange(256)
		    open(f"bad{i}", "wb").write(bad)
	END
	local i status
	for i in $(seq 0 39); do
		for opts in '-V order_place' '-L order_place' 'order_place%return' 'discount'; do
			status=0
			# shellcheck disable=SC2086 # words
			timeout 120 "$PERF_BPF" probe -q -x "./bad$i" $opts >out 2>err || status=$?
			[ $status -le 1 ] || fail "bad$i $opts ended with $status: $(tail -3 err)"
			[ $status = 0 ] || grep -q '^perf-bpf: error: ' err || fail "no error is told"
		done
	done
}

test_a_killed_recorder_leaves_nothing() {
	need_uprobes
	shop
	"$PERF_BPF" record -q -a -e "probe:exec=./shop;$OWN=order_place order->id" &
	local recorder=$!
	soon a_program
	kill -9 $recorder
	wait $recorder 2>/dev/null || true
	nothing_left
}

# Random programs print the true values; see tests/probe/generate.py.
test_random_programs() {
	need_uprobes
	[ -z "${SANITIZED:-}" ] || skip "the same as without sanitizers, ten times slower"
	command -v clang >/dev/null || skip "clang is not installed"
	"$SRC/tests/probe/recorded.py" "$PERF_BPF" 1 3 "gcc -O2 -gdwarf-5" "clang -O2 -gdwarf-4" ||
		fail "values differ"
}

run_tests
