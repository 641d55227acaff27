# SPDX-License-Identifier: BSD-2-Clause
# Recordings that made_recording.py writes, of programs whose code begins at 0x401000. Sourced after
# tap.sh.

# made WORD...: to the file "data"
made() {
	"$SRC/tests/cmd/made_recording.py" "$@" >data
}

# link FILE SOURCE [OPTION...]
link() {
	[ "$(uname -m)" = x86_64 ] || skip "the code is for x86-64"
	gcc -O1 -g -ffreestanding -nostdlib -static -Wl,--build-id=sha1,-z,separate-code,-e,main -o "$1" "$PWD/$2" "${@:3}"
}

# code_of FILE [BUILD-ID]: the word for its mapping
code_of() {
	echo "map=0x401000,0x1000,0x1000,$PWD/$1${2:+,$2}"
}

build_id() {
	file -b "$1" | sed 's/.*BuildID\[sha1\]=\([0-9a-f]*\).*/\1/'
}
