#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Places and arguments by DWARF: what tests/probe/dwarf-ask prints about small
# programs, and random programs whose values dwarf-oracle compares.
. "$(dirname "$0")/../tap.sh"
ASK=$BUILD/tests/probe/dwarf-ask
HERE=$SRC/tests/probe

# ask ARGUMENT...: what it prints is in ./out, messages in ./err
ask() {
	"$ASK" "$@" >out 2>err || { sed 's/^/# | /' err; fail "dwarf-ask $*"; }
}

# refused CODE TEXT ARGUMENT...: it fails so, and says the text
refused() {
	local code=$1 text=$2
	shift 2
	! "$ASK" "$@" >out 2>err || { sed 's/^/# | /' out; fail "dwarf-ask $* went well"; }
	assert_contains err "error $code: "
	assert_contains err "$text"
}

# shop WAY...: shop.o and a library of it
shop() {
	"$@" -w -c "$HERE/shop.c" -o shop.o
	"$@" -w -fPIC -shared -nostdlib "$HERE/shop.c" -o shop.so
}

has_values() {
	ask "$1" 'order_total total=order->items[2].price order->items[1].name:string id=order->items[0].id f=order->items[0].flags m=order->matrix[1][2] low=order->low n sold'
	for text in 'order_total+0 shop.c:38' 'total: long' 'name: char [12]' 'bits 0-11' \
		'bits 12-16' 'm: int: ' 'low: short' 'n: int: '; do
		assert_contains out "$text"
	done
}

test_forms_of_debug_information() {
	local way
	for way in "gcc -g -O2" "gcc -gdwarf-2 -O2" "gcc -gdwarf-3 -O2" "gcc -gdwarf-4 -O2" \
		"gcc -g -O2 -fdebug-types-section" "gcc -g -O2 -gz" "clang -gdwarf-4 -O2" \
		"clang -gdwarf-5 -O2"; do
		# shellcheck disable=SC2086
		shop $way
		has_values shop.so || fail "$way"
	done
}

test_split_dwarf() {
	gcc -g -O2 -w -gsplit-dwarf -fPIC -c "$HERE/shop.c" -o shop.o
	gcc -shared -nostdlib shop.o -o shop.so
	has_values shop.so
	rm shop.dwo
	refused 2 'no function "order_total"' shop.so order_total
	assert_contains err "shop.dwo, which has a part of its debug information, does not exist"
	# what would wait, or cannot be read to its end
	mkfifo shop.dwo
	refused 2 'no function "order_total"' shop.so order_total
	assert_contains err "shop.dwo, which has a part of its debug information, is not a regular file"
	ln -sf /dev/zero shop.dwo
	refused 2 'no function "order_total"' shop.so order_total
	mkfifo fifo.so
	refused 22 "fifo.so: not a regular file" fifo.so order_total
	refused 22 "/dev/zero: not a regular file" /dev/zero order_total
}

# A package (.dwp) has what the .dwo files had, of any unit, and leaves nothing behind.
test_split_packages() {
	local cc tool version size n=0 status
	command -v llvm-dwp >/dev/null || skip "llvm-dwp is not installed"
	mkdir obj away tmp
	export TMPDIR=$PWD/tmp
	echo 'extern int stock; int other(int n) { stock += n; return n * 3; }' >other.c
	for cc in gcc clang; do
		for version in 4:dwp 4:llvm-dwp 5:llvm-dwp; do
			tool=${version#*:} version=${version%:*}
			command -v "$tool" >/dev/null || skip "$tool is not installed"
			$cc -g -gdwarf-$version -O2 -w -gsplit-dwarf -fPIC -c "$HERE/shop.c" -o obj/shop.o
			$cc -g -gdwarf-$version -O2 -w -gsplit-dwarf -fPIC -c other.c -o obj/other.o
			$cc -shared -nostdlib obj/shop.o obj/other.o -o shop.so
			ask ./shop.so 'order_total order->items[2].price n sold'
			mv out want
			ask ./shop.so -G other
			mv out want.other
			"$tool" -e shop.so -o shop.so.dwp 2>dwp.err || fail "$tool: $(cat dwp.err)"
			mv obj/*.dwo away
			has_values shop.so || fail "$cc $version $tool"
			ask ./shop.so 'order_total order->items[2].price n sold'
			assert_equal "$(cat out)" "$(cat want)"
			ask ./shop.so -G other
			assert_equal "$(cat out)" "$(cat want.other)"
			ask ./shop.so 'item_price n'
			assert_contains out "copy of item_price"
		done
	done
	size=$(stat -c %s shop.so.dwp)
	cp shop.so.dwp whole
	for ((at = 0; at < size; at += size / 30)); do
		head -c "$at" whole >shop.so.dwp
		status=0
		"$ASK" ./shop.so 'order_total n order->id' >out 2>err || status=$?
		[ $status -le 1 ] || fail "cut at $at of $size: ended with $status"
		[ $status = 0 ] || grep -q '^error [0-9]*: .' err || fail "cut at $at: no message"
		n=$((n + 1))
	done
	[ $n -ge 30 ] || fail "only $n lengths tried"
	# Of another build: its units are not taken.
	clang -g -gdwarf-5 -O2 -w -gsplit-dwarf -fPIC -c other.c -o away/other.o
	clang -shared -nostdlib away/other.o -o other.so
	llvm-dwp -e other.so -o shop.so.dwp
	refused 2 'no function "order_total"' ./shop.so order_total
	assert_contains err "shop.dwo, which has a part of its debug information, does not exist, nor in ./shop.so.dwp"
	rm shop.so.dwp
	refused 2 'no function "order_total"' ./shop.so order_total
	assert_contains err "or in a package ./shop.so.dwp"
	# Stripped into a file of its own: told, not guessed.
	cp whole shop.so.dwp
	objcopy --only-keep-debug shop.so shop.debug
	strip shop.so
	objcopy --add-gnu-debuglink=shop.debug shop.so
	refused 2 'no function "order_total"' ./shop.so order_total
	assert_contains err "./shop.so.dwp has it, but it is not used"
	assert_equal "$(ls -A tmp)" ""
}

strip_into() {
	gcc -g -O2 -w -fPIC -shared -nostdlib -Wl,--build-id "$HERE/shop.c" -o shop.so
	objcopy --only-keep-debug shop.so "$1"
	strip shop.so
}

test_separate_files() {
	strip_into shop.debug
	objcopy --add-gnu-debuglink=shop.debug shop.so
	has_values ./shop.so
	mkdir .debug
	mv shop.debug .debug
	has_values ./shop.so
	mkdir -p "dir/$PWD"
	mv .debug/shop.debug "dir/$PWD"
	ask -d "$PWD/dir" ./shop.so 'order_total n'
	assert_contains out "n: int"
}

test_build_id() {
	strip_into shop.debug
	local id
	id=$(readelf -n shop.so | sed -n 's/.*Build ID: //p')
	mkdir -p "dir/.build-id/${id:0:2}"
	mv shop.debug "dir/.build-id/${id:0:2}/${id:2}.debug"
	ask -d "$PWD/dir" shop.so 'order_total n'
	assert_contains out "n: int"
	# Of another build: never used.
	gcc -g -O1 -w -fPIC -shared -nostdlib -Wl,--build-id "$HERE/shop.c" -o other.so
	cp other.so "dir/.build-id/${id:0:2}/${id:2}.debug"
	refused 61 "of another build" -d "$PWD/dir" shop.so order_total
}

# What debuginfod(8) answers for one build's debug information; its port goes to a file.
serve_debug() {
	python3 - "$1" "$2" <<-'END' &
		import http.server, os, sys
		class Handler(http.server.BaseHTTPRequestHandler):
		    def do_GET(self):
		        known = self.path == "/buildid/" + sys.argv[1] + "/debuginfo"
		        self.send_response(200 if known else 404)
		        body = open(sys.argv[2], "rb").read() if known else b""
		        self.send_header("Content-Length", str(len(body)))
		        self.end_headers()
		        self.wfile.write(body)
		    def log_message(self, *args):
		        pass
		server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
		with open("port.new", "w") as f:
		    f.write(str(server.server_port))
		os.rename("port.new", "port")
		server.serve_forever()
	END
	server=$!
	trap 'kill "$server" 2>/dev/null || true' EXIT
	soon test -e port
}

test_debuginfod() {
	ldconfig -p | grep -q 'libdebuginfod\.so\.1 ' || skip "libdebuginfod1 is not installed"
	local id
	strip_into shop.debug
	id=$(readelf -n shop.so | sed -n 's/.*Build ID: //p')
	serve_debug "$id" shop.debug
	export DEBUGINFOD_CACHE_PATH=$PWD/cache no_proxy='*' DEBUGINFOD_URLS
	DEBUGINFOD_URLS=http://127.0.0.1:$(cat port)
	ask ./shop.so 'order_total n'
	assert_contains out "n: int"
	# What the server does not have: that it was asked is told.
	gcc -O1 -w -fPIC -shared -nostdlib -Wl,--build-id "$HERE/shop.c" -o other.so
	refused 61 "debuginfod at $DEBUGINFOD_URLS" ./other.so order_total
	kill "$server"
	wait "$server" 2>/dev/null || true
}

test_shared_debug_information() {
	command -v dwz >/dev/null || skip "dwz is not installed"
	gcc -gdwarf-4 -O2 -w -fPIC -shared -nostdlib "$HERE/shop.c" -o a.so
	gcc -gdwarf-4 -O1 -w -fPIC -shared -nostdlib "$HERE/shop.c" -o b.so
	dwz -m common.debug a.so b.so || skip "dwz found nothing to share"
	readelf -S a.so | grep -q gnu_debugaltlink || skip "dwz found nothing to share"
	ask ./a.so 'order_total n order->items[1].price'
	assert_contains out "n: int"
	assert_contains out "price: long int"
}

test_nothing_there() {
	gcc -O2 -w -fPIC -shared -nostdlib "$HERE/shop.c" -o shop.so
	refused 61 "has no debug information" shop.so order_total
	assert_contains err "hint: compile with -g"
	refused 2 "cannot open" missing.so order_total
	echo "no ELF" >text
	refused 74 "not a valid ELF file" text order_total
	refused 61 "tried /nowhere/boot/vmlinux-1.2.3" -d /nowhere -k 1.2.3 "" vfs_read
}

test_mistakes() {
	shop gcc -g -O2
	refused 2 "no function \"order_tota\"" shop.so order_tota
	assert_contains err "did you mean 'order_total'"
	refused 2 "has no variable \"oder\"" shop.so 'order_total oder'
	assert_contains err "did you mean 'order'"
	refused 2 "has no member \"prize\"" shop.so 'order_total order->items[0].prize'
	assert_contains err "did you mean 'price'"
	refused 22 "is not a pointer" shop.so 'order_total order->items[0]->price'
	assert_contains err 'use "." instead of "->"'
	refused 22 'use "->" instead of "."' shop.so 'order_total order.id'
	refused 22 "index [3] is out of bounds" shop.so 'order_total order->items[3].price'
	refused 22 "needs as many indexes" shop.so 'order_total order->matrix[1]'
	refused 2 "line 3 of order_total has no code" shop.so 'order_total:3'
	refused 22 "is past the end" shop.so 'order_total+100000'
	refused 2 "inlined copies" shop.so 'item_price%return'
	refused 2 "unknown source file" shop.so 'shoppe.c:12'
	refused 2 'has no member "x"' shop.so 'order_total order->who->x'
}

test_places() {
	shop gcc -g -O2
	ask shop.so 'item_price n'
	assert_contains out "copy of item_price"
	! "$ASK" shop.so 'inlines=no;item_price' >out 2>err || fail "inlines=no"
	ask shop.so 'order_p*'
	assert_contains out "order_pair+0"
	assert_contains out "order_place+0"
	ask shop.so 'order_pair%return $retval b=$retval.b'
	assert_contains out "retval: struct pair: retval"
	ask shop.so "shop.c:45"
	assert_contains out "shop.c:45"
	ask shop.so 'order_total;return*'
	assert_contains out "order_total+"
	ask shop.so 'order_total@shop.c'
	ask shop.so -F 'order_*'
	assert_equal "$(sort out | tr '\n' ' ')" "order_pair order_place order_total "
	ask shop.so -L order_total
	assert_contains out "shop.c:45 7"
	ask shop.so -G order_total
	assert_contains out "int stock (global)"
	assert_contains out "const struct order * order (parameter)"
}

# A header's line is in the units that include it; their line tables alone are read.
test_lines_of_headers() {
	local way
	mkdir -p inc/deep
	cat >inc/deep/twice.h <<-'EOF'
		static __attribute__((noinline)) int twice(int n)
		{
			return n * 2;
		}
	EOF
	printf '#include "deep/twice.h"\nint one(int n) { return twice(n) + 1; }\n' >one.c
	printf 'int two(int n) { return n + 2; }\n' >two.c
	for way in "gcc -gdwarf-4" "gcc -gdwarf-5" "clang -gdwarf-4" "clang -gdwarf-5" "gcc -gdwarf-5 -gz"; do
		# shellcheck disable=SC2086
		$way -O2 -Iinc -fPIC -shared -nostdlib one.c two.c -o both.so
		ask both.so 'twice.h:3 n'
		assert_contains out "twice+0 twice.h:3"
		ask both.so 'deep/twice.h:3'
		ask both.so -L twice.h:1
		assert_contains out "twice.h:3 2"
		refused 2 'unknown source file "twicer.h"' both.so twicer.h:3
		refused 2 "line 9 of twice.h has no code" both.so twice.h:9
	done
}

test_unoptimised_code() {
	local way
	for way in "gcc -O0 -g" "clang -O0 -g"; do
		# shellcheck disable=SC2086
		shop $way
		# Parameters alone: at the first instruction, by the calling convention.
		ask shop.so 'order_total n order'
		assert_contains out "order_total+0 "
		assert_contains out "n: int: arg2"
		# A local is there only behind the prologue.
		ask shop.so 'order_total n total'
		assert_contains out "behind the prologue"
		! grep -q "order_total+0 " out || fail "not moved: $way"
	done
}

test_obstacles() {
	shop gcc -g -O2
	ask shop.so 'order_pair rate'
	assert_contains out "it is in register xmm0, which probes cannot read"
	ask shop.o 'order_pair stock'
	assert_contains out "cannot be read: static data of an unlinked file"
}

# After the call key lives on only as its value at the entry.
test_values_at_the_entry() {
	cat >entry.c <<-'END'
		__attribute__((noipa)) void use(long v) { __asm__ volatile("" : : "r"(v) : "memory"); }
		__attribute__((noipa)) long price(long key, long count)
		{
			use(key);
			use(count);
			return count + 1;
		}
	END
	for build in "gcc -gdwarf-5" "gcc -gdwarf-4"; do
		$build -O2 -fPIC -shared -nostdlib -o entry.so entry.c
		ask entry.so 'price key count'
		! grep -q 'cannot be read' out || fail "$build: not read at the entry: $(cat out)"
		ask entry.so 'price:3 key'
		assert_contains out "at function entry) needs the caller's frame"
	done
}

test_cxx() {
	command -v g++ >/dev/null || skip "g++ is not installed"
	g++ -g -O2 -w "$HERE/shop.cc" -o shop
	ask shop 'shop::Order::total this extra total_ base_id far live'
	assert_contains out "shop::Order::total+0"
	assert_contains out "total_: long int: arg1 +0x10"
	assert_contains out "base_id: int: arg1 +8"
	assert_contains out "live: int: image+"
	ask shop 'scaled by'
	assert_contains out "shop::Order::scaled<int>+0"
	ask shop '_ZNK4shop5Order5totalERKi'
	assert_contains out "shop::Order::total+0"
	refused 2 "no function" shop 'Order::nothing'
}

test_rust() {
	command -v rustc >/dev/null || skip "rustc is not installed"
	rustc -g -O "$HERE/shop.rs" -o shop 2>rustc.err || skip "rustc does not work here: $(head -n 1 rustc.err)"
	ask shop 'shop::Order::add self.total self.id'
	assert_contains out "shop::shop::Order::add+0"
	assert_contains out "total: i64: arg1"
	# a string by its length, which the optimizer may have removed; a struct is none
	ask shop 'shop::show text:string'
	assert_contains out "text: &str: "
	refused 22 "is not a string" shop 'shop::Order::add self:string'
	assert_contains err "the strings of C++, D, Fortran, Go and Rust are"
	# Newer names, which say "<shop::shop::Order>::add".
	rustc -g -O -C symbol-mangling-version=v0 "$HERE/shop.rs" -o shop 2>rustc.err || return 0
	ask shop 'shop::Order::add self.total self.id'
	assert_contains out "total: i64: arg1"
	ask shop 'Order::add by'
	assert_contains out "by: i64: "
}

# Each truncation is a clear error, or what is left is right.
test_truncated() {
	shop gcc -g -O2
	local size n=0 status
	size=$(stat -c %s shop.so)
	for ((at = 64; at < size; at += size / 40)); do
		head -c "$at" shop.so >cut.so
		status=0
		"$ASK" cut.so 'order_total n order->id' >out 2>err || status=$?
		[ $status -le 1 ] || fail "cut at $at of $size: ended with $status"
		[ $status = 0 ] || grep -q '^error [0-9]*: .' err || fail "cut at $at: no message"
		n=$((n + 1))
	done
	[ $n -ge 30 ] || fail "only $n lengths tried"
}

test_values_of_random_programs() {
	local last=2
	[ -z "${SANITIZED:-}" ] || last=1
	"$HERE/oracle.sh" "$BUILD/tests/probe/dwarf-oracle" 1 $last "gcc -O0" "gcc -O2 -gdwarf-4" \
		"gcc -Os -gsplit-dwarf" "clang -O2 -gdwarf-5" "clang -O0 -gdwarf-4"
	# Constants that fit into fewer bytes than they have; a struct spilled in parts.
	"$HERE/oracle.sh" "$BUILD/tests/probe/dwarf-oracle" 37 37 "gcc -O2"
	"$HERE/oracle.sh" "$BUILD/tests/probe/dwarf-oracle" 101 101 "clang -Os"
}

run_tests
