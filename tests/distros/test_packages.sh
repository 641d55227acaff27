#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The Debian packages, in bare roots of Debian 12 and 13: built from a clone and
# from a tarball, checked by lintian, installed, upgraded, used and purged, and
# tested by autopkgtest. The tests of a suite go in the order of their numbers:
# the first makes the packages, the others use them, each in a new root.
#
#	DEBS=FOLDER ONLY=bookworm_3 …	with the packages of an earlier run, kept there
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/root.sh"

debs=${DEBS:-$(mktemp -d "${TMPDIR:-/tmp}/perf-bpf-debs.XXXXXX")}

tests_end() {
	root_end
	[ -n "${DEBS:-}" ] || rm -rf "$debs"
}

# quietly COMMAND...: its output is shown if it fails
quietly() {
	"$@" >log 2>&1 || { root_why log | sed 's/^/# | /'; fail "'$*' failed"; }
}

# bare SUITE: a new root, with the packages of the suite in /debs
bare() {
	[ -e "$debs/$1/new" ] || fail "the packages were not built"
	root_begin "$1"
	cp -r "$debs/$1" "$root/debs"
	quietly root_run "apt-get update -qq"
}

# install PACKAGE...: and nothing that is only recommended
install() {
	quietly root_run "DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $*"
}

# identical FOLDER FOLDER: the same packages, byte by byte
identical() {
	local a b differ=
	[ "$(cd "$1" && echo *.deb)" = "$(cd "$2" && echo *.deb)" ] || fail "$1 and $2: other packages"
	for a in "$1"/*.deb; do
		b=$2/${a##*/}
		cmp "$a" "$b" && continue
		differ="$differ ${a##*/}"
		dpkg-deb -R "$a" a
		dpkg-deb -R "$b" b
		diff -rq a b || :
		rm -r a b
	done
	[ -z "$differ" ] || fail "packages differ:$differ"
}

# From a clone as the README says, with the tests; and from the tarball of a
# release, without git, in another folder, by another user, without the tests.
# The older packages are those of the second build with another version.
builds() {
	root_begin "$1"
	root_clone
	quietly root_user "git clone -q /src.git perf-bpf && cd perf-bpf && sudo make deb"
	grep -q ' passed, 0 failed' log || fail "the build ran no tests"
	mkdir -p "$debs/$1"
	rm -rf "$debs/$1"/*
	cp -r "$root/home/user/perf-bpf/build-deb" "$debs/$1/new"

	quietly root_user "cd perf-bpf && make dist"
	quietly root_user "mkdir -p another/folder && cd another/folder &&
		tar -xf ~/perf-bpf/build/meson-dist/perf-bpf-*.tar.xz && cd perf-bpf-* &&
		DEB_BUILD_OPTIONS=nocheck dpkg-buildpackage -b -us -uc"
	identical "$debs/$1/new" "$root/home/user/another/folder"

	quietly root_user "cd another/folder && rm *.deb && cd perf-bpf-* &&
		sed -i '1s/(.*)/(0.0.9)/' debian/changelog &&
		DEB_BUILD_OPTIONS=nocheck dpkg-buildpackage -b -nc -us -uc"
	mkdir "$debs/$1/old"
	cp "$root"/home/user/another/folder/*.deb "$debs/$1/old"
}

lintian_finds_nothing() {
	bare "$1"
	install lintian
	root_user "lintian --fail-on error,warning /debs/new/*.changes" >out 2>&1 ||
		{ cat out; fail "lintian"; }
}

# The files of the root, but for what apt and dpkg keep for themselves.
files() {
	(cd "$root" && find . \( -path ./var/cache -o -path ./var/log -o -path ./var/lib/apt \
		-o -path ./var/lib/dpkg -o -path ./debs -o -path ./tmp \) -prune -o -print | LC_ALL=C sort)
}

# On a bare system: the older packages, the newer ones, work with them, and away with them.
installs_upgrades_and_purges() {
	bare "$1"
	files >before
	install /debs/old/perf-bpf_*.deb /debs/old/libperfbpf0_*.deb /debs/old/libperfbpf-dev_*.deb
	assert_equal "$(root_run "dpkg-query -W -f '\${Version}' perf-bpf")" 0.0.9
	root_run "perf-bpf run --list" >out # needs no compiler
	assert_contains out runqlat
	install /debs/new/perf-bpf_*.deb /debs/new/libperfbpf0_*.deb /debs/new/libperfbpf-dev_*.deb
	! root_run "dpkg -l '*perfbpf*' perf-bpf" | grep -F 0.0.9 || fail "an older package stayed"
	root_run "dpkg --verify perf-bpf libperfbpf0 libperfbpf-dev" >out
	[ ! -s out ] || fail "$(cat out)"

	install clang gcc libc6-dev pkg-config
	works
	quietly root_run "DEBIAN_FRONTEND=noninteractive apt-get purge -y --autoremove \
		perf-bpf libperfbpf0 libperfbpf-dev clang gcc libc6-dev pkg-config"
	files >after
	diff before after || fail "< is gone, > is left"
}

# The program records on this kernel, and a program is linked with the library.
works() {
	root_run "perf-bpf features" >out
	assert_contains out attach.tracepoint
	root_run "export HOME=\$(mktemp -d); cd \$HOME
		perf-bpf record -e /usr/share/doc/perf-bpf/examples/write_1234.bpf.c -- \
			dd if=/dev/zero of=/dev/null bs=1234 count=5
		perf-bpf script" >out 2>err || { cat err; fail "perf-bpf record"; }
	assert_equal "$(grep -c 'count: 0x0*4d2' out)" 5
	cat >"$root/tmp/version.c" <<-'END'
		#include <bpf/libbpf.h>
		#include <stdio.h>

		int main(void)
		{
			puts(libbpf_version_string());
			return 0;
		}
	END
	root_run 'cd /tmp
		gcc -Wall -Werror -o version version.c $(pkg-config --cflags --libs libperfbpf)
		ldd version >needed && grep libperfbpf.so.0 needed
		./version' >out
	[ -s out ]
}

# debian/tests, by the packages as they were built.
passes_autopkgtest() {
	bare "$1"
	install autopkgtest
	root_run "autopkgtest /debs/new/*.changes -- null" >out 2>&1 || { cat out; fail "autopkgtest"; }
	for t in demo library; do
		grep -qE "^$t +PASS$" out || { cat out; fail "$t did not pass"; }
	done
}

for suite in bookworm trixie; do
	n=0
	for step in builds lintian_finds_nothing installs_upgrades_and_purges passes_autopkgtest; do
		n=$((n + 1))
		eval "test_${suite}_${n}_$step() { $step $suite; }"
	done
done
run_tests
