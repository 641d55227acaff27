#!/usr/bin/env bash
# Small files of others that claim, or become, something huge when they are read: each command ends with
# less than 512 MB and 20 seconds of CPU time, and says which limit was met.
. "$(dirname "$0")/../tap.sh"

NOBODY=65534

needs() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	command -v objcopy >/dev/null || skip "objcopy is not installed"
	command -v python3 >/dev/null || skip "no python3"
}

# bounded COMMAND...: it ends within the limits, in $status, ./out and ./err
bounded() {
	MOST_CPU_SECONDS=20 "$SRC/tests/cmd/limited.py" status "$@" >out 2>err ||
		fail "'$*': $(tail -n 3 err)"
	status=$(cat status)
	[ "$status" -le 1 ] || fail "'$*' ended with $status: $(tail -n 3 err)"
}

# build FILE [OPTION...]: a program that spends its time in order_place()
build() {
	local file=$1
	shift
	cat >work.c <<-'END'
		volatile unsigned long n;
		__attribute__((noinline)) void order_place(int a) { for (;;) n += a; }
		int main(void) { order_place(3); }
	END
	gcc -O1 "$@" -o "$file" work.c
}

# record_work FILE: samples of the program, in the recording "data"
record_work() {
	"$1" &
	work=$!
	"$PERF_BPF" record -q -N -e task-clock -F 499 -p $work -o data -- "$SRC/tests/cmd/until_used" 200 $work
	kill $work
	wait $work 2>/dev/null || :
}

# expand_lines ROWS FILE
expand_lines() {
	objcopy -O binary --only-section=.debug_line --set-section-flags .debug_line=alloc "$2" lines
	"$SRC/tests/cmd/line_bomb.py" "$1" <lines >more-lines
	objcopy --update-section .debug_line=more-lines "$2"
}

# reads_lines TEXT: all that reads line tables; each says TEXT once
reads_lines() {
	local command
	for command in "report -i data -s srcline" "script -i data -F ip,sym,srcline" "annotate -i data -l order_place"; do
		# shellcheck disable=SC2086
		bounded "$PERF_BPF" $command
		assert_equal "$command: $status" "$command: 0"
		assert_equal "$command: $(grep -c "$1" err)" "$command: 1"
	done
	bounded "$PERF_BPF" probe -x ./work -L order_place
	assert_contains err "$1"
}

test_rows_of_line_tables() {
	needs
	build work -gdwarf-4
	record_work ./work
	expand_lines 12000000 work
	cp work expanded
	objcopy --compress-debug-sections=zlib work
	reads_lines 'its line tables have more than'
	# not compressed, and of another user
	mv expanded work
	chown $NOBODY work
	reads_lines 'its line tables have more than 3145728 rows'
}

test_compressed_debug_information() {
	needs
	build work -gdwarf-4
	record_work ./work
	expand_lines 40000000 work
	objcopy --compress-debug-sections=zlib work
	reads_lines 'its compressed debug information would take more than'

	build work -gdwarf-4
	objcopy --only-keep-debug work work.debug
	objcopy -O binary --only-section=.debug_str --set-section-flags .debug_str=alloc work.debug more
	truncate -s +40M more
	objcopy --update-section .debug_str=more --compress-debug-sections=zlib work.debug
	objcopy --strip-debug --add-gnu-debuglink=work.debug work
	reads_lines 'its compressed debug information would take more than'
}

# The checksum of .gnu_debuglink is that of all bytes of the file.
test_a_debuglink_to_a_hole() {
	needs
	build work -g -Wl,--build-id=none
	record_work ./work
	cp work work.debug
	objcopy --strip-debug --add-gnu-debuglink=work.debug work
	rm work.debug
	truncate -s 200G work.debug
	chown $NOBODY work work.debug
	reads_lines 'work.debug: not used: it is mostly a hole'
}

run_tests
