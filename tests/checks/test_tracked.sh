#!/usr/bin/env bash
# Who clones the repository can build it: git has every file that the build reads.
. "$(dirname "$0")/../tap.sh"

# The source files that Ninja knows: what is named in meson.build, and what the compiler said that
# it included.
read_by_the_build() {
	{
		ninja -C "$BUILD" -t inputs all build.ninja
		ninja -C "$BUILD" -t deps | sed -n 's/^    //p'
	} | (cd "$BUILD" && xargs -r realpath -q --relative-base="$SRC") | grep -v '^/' |
		grep -vF "$(basename "$BUILD")/" | sort -u
}

test_all_that_the_build_reads_is_in_git() {
	git -C "$SRC" rev-parse HEAD >/dev/null 2>&1 || skip "this is not a git repository"
	[ -e "$BUILD/build.ninja" ] || skip "$BUILD is not a build folder"
	read_by_the_build >read
	[ "$(wc -l <read)" -gt 500 ] || fail "only $(wc -l <read) files were found"
	git -C "$SRC" ls-files | sort >tracked
	[ -z "$(comm -23 read tracked)" ] ||
		fail "not in git, but read by the build: $(comm -23 read tracked | tr '\n' ' ')(git add?)"
}

# tests/run starts what is executable: a script without that bit is never run, without a word.
test_all_scripts_can_be_run() {
	(cd "$SRC/tests" && find . -name 'test_*.sh' -o -name 'test_*.py') >scripts
	[ "$(wc -l <scripts)" -gt 50 ] || fail "only $(wc -l <scripts) scripts were found"
	(cd "$SRC/tests" && find . \( -name 'test_*.sh' -o -name 'test_*.py' \) ! -perm -u+x) >not
	[ ! -s not ] || fail "not executable: $(tr '\n' ' ' <not)(chmod +x?)"
}

run_tests
