#!/usr/bin/env bash
# What a user without privileges can plant where root's commands come by: links, FIFOs, sparse and
# hostile files, and names with escapes. Nothing of root's is written, nothing hangs, and nothing
# needs more than 512 MB.
. "$(dirname "$0")/../tap.sh"

NOBODY=65534
# The command of a measurement that a process has a hundred samples in.
UNTIL_USED="$SRC/tests/cmd/until_used 100"

needs() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ "$(uname -m)" = x86_64 ] || skip "its code is for x86_64"
	command -v setpriv >/dev/null || skip "setpriv is not installed"
	command -v python3 >/dev/null || skip "no python3"
}

AS_NOBODY="setpriv --reuid $NOBODY --regid $NOBODY --clear-groups"

as_nobody() {
	$AS_NOBODY "$@"
}

# kept/ is root's, theirs/ is nobody's.
make_folders() {
	chmod 711 "$top" .
	mkdir kept theirs
	echo hidden words >kept/secret
	chmod 600 kept/secret
	seq 1000 >kept/target
	chown $NOBODY theirs
	state_of_kept >kept.before
}

state_of_kept() {
	find kept -type f -exec sha256sum {} + -exec stat -c '%n %s %u %g %a %Y' {} + | sort
}

# root COMMAND...: as root would run it; its status is in $status. It ends, with less than 512 MB,
# writes nothing of root's, and nothing that acts on a terminal.
root() {
	"$SRC/tests/cmd/limited.py" status "$@" >out 2>err || fail "'$*': $(tail -3 err)"
	status=$(cat status)
	case $status in
	0 | 1) ;;
	*) fail "'$*' ended with $status: $(tail -3 err)" ;;
	esac
	state_of_kept | diff kept.before - >changes || fail "'$*' changed root's files: $(cat changes)"
	! find theirs -user 0 | grep . || fail "'$*' wrote in the folder of nobody"
	! cat out err | LC_ALL=C grep -n $'[\001-\010\013-\037\177]\|\302[\200-\237]\|\342\200[\252-\256]' >bad ||
		fail "'$*': escapes: $(cat -v bad | head -3)"
	! grep -q 'hidden words' out err || fail "'$*' shows root's file"
}

# write_sparse_elf PATH SIZE: an ELF file whose table of symbols claims that many bytes, a hole.
write_sparse_elf() {
	# names at 1024; three sections at 64: none, .symtab with SIZE bytes at 4096, .strtab
	python3 -c '
import struct, sys
size = int(sys.argv[2])
names = b"\0.symtab\0.strtab\0"
head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 64, 0, 64, 56, 0, 64, 3, 2)
symtab = struct.pack("<IIQQQQIIQQ", 1, 2, 0, 0, 4096, size, 2, 0, 8, 24)
strtab = struct.pack("<IIQQQQIIQQ", 9, 3, 0, 0, 1024, len(names), 0, 0, 1, 0)
with open(sys.argv[1], "wb") as f:
    f.write(head + bytes(64) + symtab + strtab)
    f.seek(1024)
    f.write(names)
    f.truncate(4096 + size)
' "$1" "$2"
	chown $NOBODY "$1"
}

# plant KIND PATH: nobody puts it there.
plant() {
	as_nobody rm -rf "$2"
	case $1 in
	fifo) as_nobody mkfifo "$2" ;;
	folder) as_nobody mkdir "$2" ;;
	device) as_nobody ln -s /dev/zero "$2" ;;
	link) as_nobody ln -s "$PWD/kept/secret" "$2" ;;
	loop) as_nobody ln -s "$2" "$2" ;;
	sparse) as_nobody truncate -s 64G "$2" ;;
	elf) write_sparse_elf "$2" $((48 << 30)) ;;
	large) write_sparse_elf "$2" $((700 << 20)) ;; # which there could be memory for
	noise) as_nobody sh -c 'printf "\177ELF\2\1\1" >"$1"; head -c 100000 /dev/zero | tr "\0" "\377" >>"$1"' sh "$2" ;;
	esac
}
KINDS="fifo folder device link loop sparse elf large noise"

test_binaries_to_probe() {
	local kind
	needs
	make_folders
	for kind in $KINDS; do
		plant $kind "$PWD/theirs/prog"
		for command in -F "-V main" "-L main" "main"; do
			root "$PERF_BPF" probe -x "$PWD/theirs/prog" $command
			assert_equal "$kind: $command: $status" "$kind: $command: 1"
		done
		root "$PERF_BPF" btf dump file "$PWD/theirs/prog"
		assert_equal "$kind: btf: $status" "$kind: btf: 1"
	done
}

# A good binary, whose debug information and source are elsewhere.
test_files_that_a_binary_names() {
	local kind
	needs
	command -v objcopy >/dev/null || skip "objcopy is not installed"
	make_folders
	mkdir build
	printf '%b\n' 'int work(int number) { return number + 1; } // \033]0;x\007' \
		'int main(int argc, char **argv) { return work(argc) - 2; }' >build/prog.c
	(cd theirs && gcc -g -gsplit-dwarf -O0 -o split ../build/prog.c)
	gcc -g -O0 -o build/linked "$PWD/build/prog.c"
	objcopy --only-keep-debug build/linked theirs/linked.debug
	objcopy --strip-debug --add-gnu-debuglink=theirs/linked.debug build/linked theirs/linked
	gcc -g -O0 -o theirs/sourced "$PWD/build/prog.c"
	objcopy --redefine-sym "work=wo"$'\033[31m'"rk" theirs/sourced theirs/named
	chown -R $NOBODY theirs build
	root "$PERF_BPF" probe -x theirs/split -V work
	assert_contains out number
	root "$PERF_BPF" probe -x theirs/linked -V work
	assert_contains out number
	root "$PERF_BPF" probe -x theirs/sourced -L work
	assert_contains out 'number + 1'
	root "$PERF_BPF" probe -x theirs/named -F
	assert_contains out '\x1b[31mrk'
	local dwo
	dwo=$(ls theirs/*.dwo)
	for kind in $KINDS; do
		plant $kind "$PWD/$dwo"
		root "$PERF_BPF" probe -x theirs/split -V work
		plant $kind "$PWD/theirs/linked.debug"
		root "$PERF_BPF" probe -x theirs/linked -V work
		plant $kind "$PWD/build/prog.c"
		root "$PERF_BPF" probe -x theirs/sourced -L work
		! grep -q 'number + 1' out || fail "$kind: it shows lines"
	done
}

# What dwz moved to a file that two programs share: libdw would open whatever is there.
test_shared_debug_information() {
	local kind name
	needs
	command -v dwz >/dev/null || skip "dwz is not installed"
	make_folders
	for name in one two; do
		echo "struct shared { int one; long two; char text[20]; }; struct other { struct shared s; unsigned long long number; };
			int work_$name(struct shared *s, struct other *o) { return s->one + (int)o->number; }
			int main(int argc, char **argv) { struct shared s = {argc}; struct other o = {s}; return work_$name(&s, &o) - 2; }" >$name.c
		gcc -g -O0 -o theirs/$name $name.c
	done
	(cd theirs && dwz -m common.debug one two) || skip "dwz shares nothing"
	chown $NOBODY theirs/*
	root "$PERF_BPF" probe -x theirs/one -V work_one
	assert_contains out 'struct shared *'
	for kind in fifo device link elf; do
		plant $kind "$PWD/theirs/common.debug"
		root "$PERF_BPF" probe -x theirs/one -V work_one
		assert_contains err 'common.debug, which has a part of its debug information, does not exist'
	done
}

# The source files that debug information names are anybody's choice: lines are shown only if who chose
# the path could read them.
test_lines_of_source() {
	local prog
	needs
	make_folders
	mkdir kept/closed build
	chmod 700 kept/closed
	printf 'hidden words\n%.0s' {1..40} >kept/closed/open.c
	chmod 644 kept/closed/open.c
	state_of_kept >kept.before
	as_nobody mkdir theirs/build
	as_nobody ln -s "$PWD/kept/secret" theirs/build/link.c
	as_nobody ln -s "$PWD/kept/closed" theirs/build/way
	ln -s "$PWD/kept/closed" build/way
	chown -h $NOBODY build/way
	printf 'public words\n%.0s' {1..40} >build/public.c
	chmod 755 build
	chmod 644 build/public.c
	# NAME OWNER PATH: a program of OWNER, whose debug information has PATH
	while read -r name owner path; do
		printf '#line 1 "%s"\n%s\n' "$PWD/$path" \
			'__attribute__((noinline)) long work(long n) { volatile long i = 0; while (i < n) i++; return i; } int main(void) { return work(100000000) == 1; }' >work.c
		gcc -g -O1 -o "$name" work.c
		chown "$owner" "$name"
		chmod 755 "$name"
		"$PERF_BPF" record -q -N -o "$name.data" -e task-clock -F 99 -- "./$name"
		root "$PERF_BPF" probe -x "./$name" -L work
		assert_equal "$name: $status" "$name: 0"
		[ "$name" != open ] || assert_contains out 'public words'
		root "$PERF_BPF" probe -x "./$name" 'work;*words*'
		assert_equal "$name: $status" "$name: $([ "$name" = open ]; echo $?)"
		root "$PERF_BPF" annotate -i "$name.data" -l work
		assert_equal "$name: $status" "$name: 0"
		[ "$name" != open ] || assert_contains out 'public words'
	done <<-END
		open $NOBODY build/public.c
		by_path $NOBODY kept/secret
		by_link $NOBODY theirs/build/link.c
		by_way $NOBODY theirs/build/way/open.c
		by_closed $NOBODY kept/closed/open.c
		by_their_way root build/way/open.c
	END
}

# start_work: a program of nobody's, $work, that runs in turn in its own file, in a file that it has
# mapped, theirs/mapped, and in code that only a perf map, $map, describes.
start_work() {
	cat >work.c <<-'END'
		#include <fcntl.h>
		#include <stdio.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <unistd.h>
		/* mov ecx, 1000000; 1: dec ecx; jnz 1b; ret */
		static const char code[4096] = "\xb9\x40\x42\x0f\x00\xff\xc9\x75\xfc\xc3";
		__attribute__((noinline)) long work(long n) { volatile long i = 0; while (i < n) i++; return i; }
		int main(void)
		{
			int fd = open("theirs/mapped", O_RDWR | O_CREAT, 0755);
			void *jit = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			memcpy(jit, code, sizeof(code));
			if (write(fd, code, sizeof(code)) != sizeof(code)) return 1;
			void *mapped = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
			printf("%lx\n", (unsigned long)jit);
			fclose(stdout);
			for (;;) { work(1000000); ((void (*)(void))jit)(); ((void (*)(void))mapped)(); getppid(); }
		}
	END
	(cd theirs && gcc -g -gsplit-dwarf -O1 -o prog ../work.c)
	chown -R $NOBODY theirs
	setpriv --reuid $NOBODY --regid $NOBODY --clear-groups theirs/prog >jit &
	work=$!
	map=/tmp/perf-$work.map
	trap end_work EXIT
	soon [ -s jit ]
	kill -STOP $work
}

# live COMMAND...: root, while the program runs
live() {
	kill -CONT $work
	root "$@"
	kill -STOP $work
}

end_work() {
	kill -KILL $work
	as_nobody rm -rf "$map"
}

# others KIND: what else is run while files of that kind are planted; in make check-all, all of it is.
others() {
	case ${PLANT_ALL:+all}$1 in
	all*) echo top diff off-cpu threads run-dwarf script--perfetto script--firefox report--html report--pprof ;;
	fifo) echo top off-cpu ;;
	device) echo script--firefox threads ;;
	sparse) echo report--html run-dwarf ;;
	large) echo diff report--pprof ;;
	*) echo script--perfetto ;;
	esac
}

# top, until it has shown a table with that.
TOP='what=$1; shift; "$@" >table & pid=$!; until grep -q "$what" table; do kill -0 $pid || exit; done; kill -INT $pid; wait $pid; cat table'

# What a process of another user has mapped, and its perf map, while root's commands read it and when
# they read a recording of it.
test_mapped_files_and_perf_maps() {
	local kind other
	needs
	make_folders
	start_work
	as_nobody sh -c 'printf "%s 1000 their_jit \033[31m\n" "$1" >"$2"' sh "$(cat jit)" "$map"
	live "$PERF_BPF" run profile -F 999 -p $work --folded -- $UNTIL_USED $work
	assert_contains out 'their_jit \x1b[31m'
	live "$PERF_BPF" record -N -o mine.data -e task-clock -F 999 -p $work -- $UNTIL_USED $work
	root "$PERF_BPF" script -i mine.data -F ip,sym,dso
	assert_contains out 'their_jit \x1b[31m'
	assert_contains out "$PWD/theirs/mapped"
	# a perf map of root's that nobody may read, by a link in the place of theirs
	printf '%s 1000 hidden words\n' "$(cat jit)" >kept/secret
	state_of_kept >kept.before
	plant link "$map"
	root "$PERF_BPF" script -i mine.data -F ip,sym,dso
	live "$PERF_BPF" run profile -F 999 -p $work --folded --duration 50ms
	! grep -q their_jit out || fail "link: it has symbols"
	mv theirs/prog prog
	for kind in fifo device sparse large noise; do
		plant $kind "$map"
		plant $kind "$PWD/theirs/mapped"
		plant $kind "$PWD/theirs/prog"
		live "$PERF_BPF" run profile -F 999 -p $work --folded --duration 50ms
		assert_equal "$kind: run: $status" "$kind: run: 0"
		live "$PERF_BPF" trace -p $work -e getppid --call-graph dwarf --max-events 1
		assert_equal "$kind: trace: $status" "$kind: trace: 0"
		live "$PERF_BPF" record -q -o other.data -e task-clock -p $work -- true
		assert_equal "$kind: record: $status" "$kind: record: 0"
		root "$PERF_BPF" script -i mine.data -F ip,sym,dso
		assert_equal "$kind: script: $status" "$kind: script: 0"
		! grep -q their_jit out || fail "$kind: it has symbols"
		root "$PERF_BPF" report -i mine.data -s dso,symbol
		assert_equal "$kind: report: $status" "$kind: report: 0"
		root "$PERF_BPF" annotate -i mine.data
		for other in $(others $kind); do
			case $other in
			top) live sh -c "$TOP" sh '[0-9]%' "$PERF_BPF" top --stdio -d 0.1 -e task-clock -p $work ;;
			diff) root "$PERF_BPF" diff mine.data mine.data ;;
			off-cpu) live "$PERF_BPF" record -q -N --off-cpu -o other.data -e task-clock -p $work -- true ;;
			threads) live "$PERF_BPF" record -q --threads -o other.dir -e task-clock -p $work -- true ;;
			run-dwarf) live "$PERF_BPF" run profile -F 999 -p $work --call-graph dwarf --folded --duration 50ms ;;
			*) root "$PERF_BPF" ${other%--*} -i mine.data --${other#*--} exported ;;
			esac
			assert_equal "$kind: $other: $status" "$kind: $other: 0"
		done
	done
}

# Where the lines of a program of nobody's are: split units, source files.
test_lines_of_recorded_programs() {
	local kind dwo
	needs
	make_folders
	start_work
	live "$PERF_BPF" record -N -o mine.data -e task-clock -F 999 -p $work -- $UNTIL_USED $work
	dwo=$(ls "$PWD"/theirs/*.dwo)
	rm work.c
	for kind in fifo device link sparse elf; do
		plant $kind "$dwo"
		mkdir -p source
		ln -sfn "$PWD/source/work.c" work.c
		chown $NOBODY source
		plant $kind "$PWD/source/work.c"
		root "$PERF_BPF" annotate -i mine.data -l work
		assert_equal "$kind: annotate: $status" "$kind: annotate: 0"
		root "$PERF_BPF" report -i mine.data --pprof profile
		assert_equal "$kind: report: $status" "$kind: report: 0"
		live "$PERF_BPF" run profile -F 999 -p $work --pprof profile --duration 50ms
		assert_equal "$kind: run: $status" "$kind: run: 0"
	done
}

# In make check, each recording is read by one of the others.
# spin NAME FILE SECRET: a program of nobody's that spends its time in NAME; its lines are SECRET's
spin() {
	cat >"$1.c" <<-END
		volatile unsigned long n;
		# 2 "$3"
		__attribute__((noinline)) void $1(unsigned long count) {
			while (n < count)
				n++;
		}
		int main(void) { $1(-1ul); }
	END
	# shellcheck disable=SC2086
	gcc -g -O1 ${CFLAGS:-} -Wl,--build-id=0x$FORGED_ID -o "$2" "$1.c"
}
FORGED_ID=00112233445566778899aabbccddeeff00112233

# record_spinning FILE NAME COMMAND...: samples of the command, which becomes NAME, with a copy of its binary in the cache
record_spinning() {
	local file=$1 name=$2
	shift 2
	"$@" &
	spinning=$!
	soon grep -qx "$name" "/proc/$spinning/comm"
	root "$PERF_BPF" record -q -o "$file" -e cpu-clock -F 499 -p $spinning -- $UNTIL_USED $spinning
}

end_spinning() {
	kill $spinning
	wait $spinning 2>/dev/null || :
}

# annotate_and_print FILE FUNCTION: root() fails if a line of root's secret is shown
annotate_and_print() {
	root "$PERF_BPF" annotate --stdio -i "$1" "$2"
	assert_contains out "$2"
	root "$PERF_BPF" script -i "$1" -F ip,sym,srcline,srccode
	assert_contains out "$2"
	assert_contains out secret:
}

# The copy in root's cache belongs to root, and names root's file as the original did.
test_lines_of_a_copy_in_the_cache() {
	needs
	make_folders
	chmod 755 kept
	seq -f 'hidden words %.0f' 9 >kept/secret
	state_of_kept >kept.before
	export PERF_BUILDID_DIR=$PWD/cache
	spin leaking theirs/leaking "$PWD/kept/secret"
	chown $NOBODY theirs/leaking
	record_spinning l.data leaking $AS_NOBODY ./theirs/leaking
	end_spinning
	annotate_and_print l.data leaking
	rm theirs/leaking
	annotate_and_print l.data leaking

	# Root in a container is not our root.
	unshare -m true 2>/dev/null || skip "no mount namespaces"
	mkdir inside
	CFLAGS=-static spin contained contained "$PWD/kept/secret"
	# shellcheck disable=SC2016
	record_spinning c.data contained unshare -m sh -c 'mount -t tmpfs none inside && cp contained inside &&
		cd inside && mkdir old && pivot_root . old && exec ./contained'
	rm contained
	annotate_and_print c.data contained
	end_spinning
	annotate_and_print c.data contained

	# What is root's own is shown, also if the same recording has both.
	spin honest honest "$PWD/kept/secret"
	record_spinning h.data honest ./honest
	end_spinning
	"$PERF_BPF" script -i h.data -F ip,sym,srcline,srccode >out
	assert_contains out 'hidden words'
	rm honest
	"$PERF_BPF" script -i h.data -F ip,sym,srcline,srccode >out
	assert_contains out 'hidden words'
}

# Another user's binary has the build-id of one of root's.
test_a_forged_build_id() {
	needs
	make_folders
	export PERF_BUILDID_DIR=$PWD/cache
	spin forged theirs/forged "$PWD/kept/secret"
	chown $NOBODY theirs/forged
	record_spinning f.data forged $AS_NOBODY ./theirs/forged
	end_spinning
	spin honest honest "$PWD/honest.c"
	record_spinning h.data honest ./honest
	end_spinning
	for file in here gone; do
		[ $file = here ] || rm honest theirs/forged
		root "$PERF_BPF" report --stdio -i h.data -s dso,sym
		assert_contains out '[.] honest'
		! grep -q forged out || fail "$file: the names of another user's file"
		root "$PERF_BPF" annotate --stdio -i h.data honest
		assert_contains out honest
		root "$PERF_BPF" report --stdio -i f.data -s dso,sym
		assert_contains out 'forged'
	done
	# perf has put it into the cache.
	cp "cache$PWD/theirs/forged/$FORGED_ID/elf" forged.elf
	rm -r cache
	spin honest honest "$PWD/x.c"
	mkdir -p cache/theirs/forged/$FORGED_ID cache/.build-id/${FORGED_ID:0:2}
	mv forged.elf cache/theirs/forged/$FORGED_ID/elf
	ln -s ../../theirs/forged/$FORGED_ID cache/.build-id/${FORGED_ID:0:2}/${FORGED_ID:2}
	root "$PERF_BPF" report --stdio -i h.data -s dso,sym
	assert_contains out '[.] honest'
}

# A FIFO of another user, whose open would wait for a writer: only with -f.
test_recordings_that_are_fifos() {
	local command
	needs
	make_folders
	plant fifo "$PWD/theirs/perf.data"
	for command in "script -i" "report -i" "report --header-only -i" "annotate -i" "trace -i" \
		"script --firefox exported -i" "script -g new.py -i" "diff theirs/perf.data"; do
		# shellcheck disable=SC2086
		root "$PERF_BPF" $command theirs/perf.data
		assert_equal "$command: $status" "$command: 1"
		assert_contains err 'FIFO that belongs to neither you nor root'
	done
	cd theirs # by its name alone
	status=0
	timeout 60 "$PERF_BPF" report >../out 2>../err || status=$?
	cd ..
	assert_equal "report: $status" "report: 1"
	assert_contains err 'FIFO that belongs to neither you nor root'
}

test_recordings() {
	local kind file other at many n=0 others=(
		"annotate -f -i theirs/perf.data"
		"diff -f theirs/perf.data theirs/perf.data"
		"trace -f -i theirs/perf.data"
		"script -f -i theirs/perf.data --perfetto exported"
		"script -f -i theirs/perf.data --firefox exported"
		"report -f -i theirs/perf.data --html exported"
	)
	needs
	make_folders
	for kind in folder device link loop sparse noise; do
		plant $kind "$PWD/theirs/perf.data"
		for command in script report "trace"; do
			root "$PERF_BPF" $command -f -i theirs/perf.data
			assert_equal "$kind: $command: $status" "$kind: $command: 1"
		done
	done
	as_nobody rm -rf theirs/perf.data
	for file in "$SRC"/fuzz/corpus/perfdata/*; do
		install -o $NOBODY -m 644 "$file" theirs/perf.data
		for command in script report; do
			root "$PERF_BPF" $command -f -i theirs/perf.data
			[ $n = 0 ] || continue # the owner is looked at before anything is read
			root "$PERF_BPF" $command -i theirs/perf.data
			assert_equal "$(basename "$file"): $status" "$(basename "$file"): 1"
			assert_contains err 'belongs to neither you nor root'
		done
		at=$((n++ % ${#others[@]}))
		many=1
		[ -z "${PLANT_ALL:-}" ] || at=0 many=${#others[@]}
		for other in "${others[@]:at:many}"; do
			root "$PERF_BPF" $other
		done
	done
}

# Each command that writes a file, with FILE where its path is. mine.data and a loaded program, $id, are
# there.
writers() {
	cat <<-END
		report -i mine.data --html FILE
		report -i mine.data --pprof FILE
		diff mine.data mine.data --html FILE
		script -i mine.data --perfetto FILE
		script -i mine.data --firefox FILE
		script -i mine.data -g FILE
		run syscount --html FILE -- true
		run profile -F 999 --pprof FILE -- $UNTIL_USED
		record -o FILE -e task-clock -- true
		record --switch-output -o FILE -e task-clock -- true
		record --threads -o FILE -e task-clock -- true
		trace --record FILE -- true
		trace --log FILE -- true
		gen skeleton $BUILD/progs/syscount.bpf.o -o FILE
		prog dump xlated $id file FILE
	END
}

# write COMMAND FILE
write() {
	# shellcheck disable=SC2086
	root "$PERF_BPF" ${1/FILE/$2}
}

# load_program: $id is one that is loaded until the test ends
load_program() {
	mkfifo go
	"$BUILD/tests/cmd/program_loader" pbplanted 1 1000 - <go >ids &
	exec 9>go
	soon [ -s ids ]
	id=$(cat ids)
}

test_files_that_are_written() {
	local command id
	needs
	make_folders
	"$PERF_BPF" record -q -o kept/mine.data -e task-clock -- sh -c :
	cp kept/mine.data .
	state_of_kept >kept.before
	load_program
	as_nobody ln -s "$PWD/kept/target" theirs/link.py
	as_nobody ln -s "$PWD/kept/none" theirs/dangling.py
	as_nobody ln -s "$PWD/kept" theirs/folder
	while read -r command; do
		for file in link.py dangling.py folder/target folder/new.py; do
			case $command in
			*" -g "*) [ $file != folder/target ] || continue ;;       # names end in .py
			report*) ;;                                                # one with all
			*) [ $file != dangling.py ] && [ $file != folder/target ] || continue ;;
			esac
			write "$command" theirs/$file
			assert_equal "${command/FILE/$file}: $status" "${command/FILE/$file}: 1"
			assert_contains err 'belongs to user'
		done
	done < <(writers)
	root "$PERF_BPF" script --per-event-dump -i theirs/folder/mine.data
	assert_equal "--per-event-dump: $status" "--per-event-dump: 1"
	assert_contains err 'belongs to user'
	[ "$(ls kept)" = $'mine.data\nsecret\ntarget' ] || fail "a file was made"
}

# Where everybody may create files, as in /tmp: what is written replaces a file that nobody has put
# there, so that nobody can read or change it, or another name of it.
test_files_of_others_are_replaced() {
	local command made id
	needs
	make_folders
	"$PERF_BPF" record -q -o mine.data -e task-clock -- sh -c :
	load_program
	mkdir -m 1777 open
	while read -r command; do
		as_nobody sh -c 'echo their words >open/file.py; chmod 666 open/file.py; ln open/file.py open/other'
		write "$command" open/file.py
		case $command in
		*--switch-output*) made=$(echo open/file.py.2*) ;; # with the time
		*) made=open/file.py ;;
		esac
		assert_equal "$command: $status: $(stat -c %U "$made")" "$command: 0: root"
		case $command in
		gen* | *" -g "*) [ -z "$(find "$made" -perm /022)" ] ;; # programs, for who may read them
		*) [ -z "$(find "$made" -perm /077)" ] ;;
		esac || fail "$command: mode $(stat -c %a "$made")"
		assert_equal "$command: $(cat open/other)" "$command: their words"
		rm -rf open/*
	done < <(writers)
	cp mine.data open/
	as_nobody ln -s "$PWD/kept/target" open/mine.data.task-clock.dump
	root "$PERF_BPF" script --per-event-dump -i open/mine.data
	assert_equal "--per-event-dump: $status" "--per-event-dump: 0"
	assert_equal "$(stat -c '%F %U %a' open/mine.data.*.dump)" 'regular file root 600'
}

# What a user without privileges writes is for whom the user's umask says; a file that is there keeps its
# mode.
test_own_files_have_the_mode_of_the_umask() {
	local option binary
	needs
	make_folders
	"$PERF_BPF" record -q -o theirs/mine.data -e task-clock -- sh -c :
	chown $NOBODY theirs/mine.data
	exec {binary}<"$PERF_BPF" # its folder may be closed to others
	as_nobody "/proc/self/fd/$binary" --version >/dev/null 2>&1 || skip "other users cannot run $PERF_BPF"
	cd theirs
	for option in "report --html" "report --pprof" "script --perfetto" "script --firefox" "script -g"; do
		as_nobody sh -c "umask 027; exec \"\$@\"" sh "/proc/self/fd/$binary" ${option% *} -i mine.data ${option#* } new.py >out 2>err ||
			fail "$option: $(cat err)"
		assert_equal "$option: $(stat -c '%U %a' new.py)" "$option: nobody 640"
		[ "$option" = "script -g" ] || {
			chmod 604 new.py
			as_nobody "/proc/self/fd/$binary" ${option% *} -i mine.data ${option#* } new.py >out 2>err || fail "$option: $(cat err)"
			assert_equal "$option: $(stat -c '%a' new.py)" "$option: 604"
		}
		rm new.py
	done
}

# A process of nobody's whose file, threads, cgroup and perf map, and the file that it opens, have names
# with escapes: with ESC, and with CSI in one character (U+009B).
start_named() {
	holder=
	NAME=$'pbn\033[31m\302\2332J'
	cat >work.c <<-'END'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <pthread.h>
		#include <string.h>
		#include <sys/prctl.h>
		#include <sys/stat.h>
		#include <unistd.h>
		__attribute__((noinline)) int work(const char *path)
		{
			char none[8];
			for (volatile int i = 0; i < 1000000; i++) ;
			close(open(path, O_RDONLY));
			return readlink(path, none, 0) + getppid();
		}
		static void *thread(void *path)
		{
			prctl(PR_SET_NAME, "t\033]2;X\a\t\n1");
			for (;;) work(path);
		}
		int main(int argc, char **argv)
		{
			pthread_t t;
			pthread_create(&t, NULL, thread, argv[1]);
			for (;;) work(argv[1]);
		}
	END
	gcc -g -O1 -pthread -o plain work.c
	objcopy --redefine-sym "work=wo"$'\033[31m\t\342\200\256'"rk" plain "theirs/$NAME"
	chown $NOBODY "theirs/$NAME"
	cgroup=
	if [ -w /sys/fs/cgroup/cgroup.procs ] && mkdir "/sys/fs/cgroup/$NAME" 2>/dev/null; then
		cgroup=/sys/fs/cgroup/$NAME
		(echo $BASHPID >"$cgroup/cgroup.procs" && exec setpriv --reuid $NOBODY --regid $NOBODY \
			--clear-groups "theirs/$NAME" $'/none\033]0;x\007') &
	else
		setpriv --reuid $NOBODY --regid $NOBODY --clear-groups "theirs/$NAME" $'/none\033]0;x\007' &
	fi
	work=$!
	trap end_named EXIT
	soon grep -q pbn "/proc/$work/comm"
	soon has_two_threads
}

has_two_threads() {
	[ "$(ls "/proc/$work/task" | wc -l)" = 2 ]
}

end_named() {
	kill -KILL $work $holder
	wait $work $holder 2>/dev/null || :
	[ -z "$cgroup" ] || soon rmdir "$cgroup"
}

# Every command that prints names.
test_names_with_escapes() {
	local options= command
	needs
	command -v objcopy >/dev/null || skip "objcopy is not installed"
	make_folders
	start_named
	# root's: in the lists of objects by whom they are used
	cp "$PERF_BPF" "holder"$'\033]2;h\a'
	"./holder"$'\033]2;h\a' run -q syscount -p $work >/dev/null 2>&1 &
	holder=$!
	[ -z "$cgroup" ] || options="--all-cgroups"
	root "$PERF_BPF" record -N -g $options -o mine.data -e task-clock -F 999 -e syscalls:sys_enter_openat \
		-p $work -- $UNTIL_USED $work
	root "$PERF_BPF" trace --record calls.data -e openat -p $work --max-events 20
	kill -STOP $work # until it is needed
	while read -r command; do
		case $command in
		*" -p $work "*) kill -CONT $work ;;
		esac
		# shellcheck disable=SC2086
		root "$PERF_BPF" $command
		assert_equal "$command: $status: $(tail -1 err)" "$command: 0: $(tail -1 err)"
		[ -s out ] || [ -s err ] || fail "$command: it prints nothing"
		case $command in
		report* | diff*) ! grep -n $'\t' out || fail "$command: a tab" ;;
		esac
		grep -q '\\x1b\|\\33\|\\u001b' out err || fail "$command: it shows no names: $(head -20 out err)" # strace has octal digits
	done <<-END
		script -i mine.data
		script -i mine.data -F comm,tid,ip,sym,dso,trace,event${cgroup:+,cgroup}
		script -i mine.data --show-task-events --show-mmap-events
		script -i mine.data -F comm,ip,sym,srcline
		report -i mine.data -s comm,dso,symbol,trace${cgroup:+,cgroup}
		report -i mine.data --tasks
		report -i mine.data --mmaps
		report -i mine.data -g caller --hierarchy -s comm,dso,sym
		annotate -i mine.data
		diff -s comm,dso,symbol mine.data mine.data
		trace -i calls.data
		trace -s -i calls.data
		trace --strace -i calls.data
		prog list
		map list
		link list
		btf list
		trace -p $work -e openat --max-events 5
		trace -p $work -e openat --strace -y --max-events 5
		trace --json -i calls.data
		map list --json
		trace -p $work -e openat --json --max-events 5
		run profile -F 999 -p $work --json -- $UNTIL_USED $work
		run profile -F 999 -p $work --folded -- $UNTIL_USED $work
		run opensnoop -p $work -- $UNTIL_USED $work
		run syscount -p $work -- $UNTIL_USED $work
	END
	root sh -c "$TOP" sh '\\x1b' "$PERF_BPF" top --stdio -d 0.1 -e task-clock -p $work
}

# The name of a process is anybody's choice; watch prints who loaded a program.
test_who_loads_programs() {
	needs
	make_folders
	local name=$'pbw\033[2J\001\nx'
	cp "$BUILD/tests/cmd/program_loader" "$name"
	root "$PERF_BPF" watch -- sh -c '"./$0" pbtp 20 1000 0 >ids' "$name"
	assert_equal "$(wc -l <ids)" 20
	grep -q 'pbw.*pbtp\|pbtp.*pbw' out || fail "it does not show who loads: $(head -3 out)"
	root "$PERF_BPF" watch --json -- sh -c '"./$0" pbtp 20 1000 0 >ids' "$name"
	python3 -c 'import json, sys
comms = {e.get("comm") for e in map(json.loads, open("out")) if e.get("name", "").startswith("pbtp")}
sys.exit("pbw\033[2J\001\nx" not in comms)' || fail "JSON has another name: $(head -3 out)"
}

run_tests
