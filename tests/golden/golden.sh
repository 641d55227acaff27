# SPDX-License-Identifier: BSD-2-Clause
# For scripts that read the golden recordings; sourced behind tap.sh. Each script has a copy of the
# recordings in $FILES (of the archive $RECORDINGS, if it is set), with the binaries as a build-id cache and the kernel's symbols, so that
# nothing depends on this machine. tests/golden/make makes them. When it does, GOLDEN_KEEP is
# the folder for perf's text, and GOLDEN_PERF and GOLDEN_PERF_7_2 are the programs.
GOLDEN=${GOLDEN:-$SRC/tests/golden}
FILES=$(mktemp -d "${TMPDIR:-/tmp}/golden-of-perf-bpf.XXXXXX")
TEXTS=${GOLDEN_KEEP:-$FILES/texts}
# tap.sh sets no other cache.
BUILDID_CACHE_OF_PERF=yes
export PERF_BUILDID_DIR=$FILES/.debug
export TZ=UTC

tests_end() {
	rm -rf "$FILES"
}

unpack() { # ARCHIVE FOLDER
	mkdir -p "$2"
	tar -C "$2" --no-same-owner -xJf "$1" || { echo "Bail out! cannot unpack $1"; exit 1; }
}

unpack "$GOLDEN/${RECORDINGS:-recordings}.tar.xz" "$FILES"
script=$(basename "$0" .sh)
archive=$GOLDEN/texts/${script#test_}.tar.xz
if [ -z "${GOLDEN_KEEP:-}" ] && [ -e "$archive" ]; then
	unpack "$archive" "$TEXTS"
fi

# golden_program NAME: the path of the workload's program, to record it anew
golden_program() {
	ls "$FILES/.debug/srv/$1"/*/elf
}

# perf_text COMMAND OPTION...: what perf printed in the folder of the recordings; perf 7.2 of its own
# recordings, which perf 6.1 refuses to read, and for PERF=7.2
perf_text() {
	local command=$1 perf=${GOLDEN_PERF:-} symbols=(--kallsyms kallsyms) key=${PERF:+$PERF }${TZ/#UTC/}${*}
	key=${key//\//%}
	shift
	[ "$command" != annotate ] || symbols=()
	[ ${#key} -lt 200 ] || key=$(sha256sum <<<"$key" | cut -c 1-64)
	if [ -n "${GOLDEN_KEEP:-}" ]; then
		[[ " $* ${PERF:-}" != *7.2 && " $* " != *.7.2\ * ]] || perf=$GOLDEN_PERF_7_2
		(cd "$FILES" && "$perf" --buildid-dir "$FILES/.debug" "$command" "${symbols[@]}" "$@") \
			>"$FILES/perf.out" 2>"$FILES/perf.err" </dev/null || fail "perf $key: $(cat "$FILES/perf.err")"
		# a tip of perf is another one each time
		sed -E 's/^# \((Tip: |Cannot load tips).*\)$/# (tip)/' "$FILES/perf.out" >"$TEXTS/$key"
	fi
	cat "$TEXTS/$key" || fail "there is no text of 'perf $key': make it by tests/golden/make --texts"
}

# golden COMMAND OPTION...: perf-bpf with the kernel's symbols of the recordings, in their folder
golden() {
	local command=$1
	shift
	(cd "$FILES" && "$PERF_BPF" "$command" --kallsyms kallsyms "$@")
}
