# SPDX-License-Identifier: BSD-2-Clause
# Bare roots of Debian, to build, install and use perf-bpf in as on a new
# machine. Sourced by tests/distros/test_*.sh after tests/tap.sh:
#
#	root_begin trixie	a fresh copy, in $root; skips the test if there is none to be had
#	root_clone		this tree, committed or not, as a git repository: /src.git
#	root_user COMMAND	by a shell, as an ordinary user who may use sudo, in the home folder
#	root_run COMMAND	the same as root, in /
#	root_end		removes $root
#
# The names: bookworm, trixie, sid, and bookworm-headers-5.10, which has
# Debian 12's packages and Debian 11's linux-libc-dev.
#
# What a root is copied from is made once by mmdebstrap, from the mirror that
# apt is set up for, and kept in ${XDG_CACHE_HOME:-~/.cache}/perf-bpf/distros,
# as are the packages that are installed into it; remove NAME.tar to get a newer
# one.
#
# /proc, /sys and /dev are mounted for one command at a time, in a mount
# namespace of its own: nothing stays mounted, whatever ends it.
distros_cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/perf-bpf/distros
# One root a script at a time; its tests share it when they call root_begin once.
root=$distros_cache/run.$$/root

# root_why FILE: of the output of a command that failed, what says why, and its end.
root_why() {
	grep -nE '^(FAIL|failed:|not ok)|\[ +(ERROR|FAILED|LINE) +\]|(error|Error)[: ]|^E: ' "$1" | head -n 60
	tail -n 30 "$1"
}

# How this machine's apt reaches its mirror, for another apt.
root_apt_options() {
	apt-config dump | grep -E '^Acquire::(https?::Proxy|Check-|Retries)' || :
}

# root_make NAME: makes $distros_cache/NAME.tar if it is missing.
root_make() {
	local name=$1 suite=${1%%-*} mirror work
	local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	[ "$(id -u)" = 0 ] || skip "making a root of Debian needs root"
	mkdir -p "$distros_cache"
	exec 9>"$distros_cache/$name.lock"
	flock 9
	if [ ! -s "$distros_cache/$name.tar" ]; then
		command -v mmdebstrap >/dev/null ||
			skip "mmdebstrap is not installed (sudo tools/deps distros)"
		mirror=$(. "$SRC/tests/vm/apt.sh" && apt_mirror)
		[ -n "$mirror" ] || skip "apt has no Debian mirror among its sources (set DEBIAN_MIRROR)"
		[ -e "$keyring" ] || skip "no $keyring (package debian-archive-keyring)"
		work=$(mktemp -d "$distros_cache/make.XXXXXX")
		chmod 755 "$work"
		root_bootstrap "$name" "$suite" "$mirror" "$keyring" "$work" >"$work/log" 2>&1 || {
			tail -n 20 "$work/log" >log
			rm -rf "$work"
			cat log
			! grep -q -E 'apt-get update .* failed|cannot reach the Debian mirror' log ||
				skip "cannot reach the Debian mirror for $name"
			fail "cannot make a root of $name"
		}
		mv "$work/root.tar" "$distros_cache/$name.tar"
		rm -rf "$work"
	fi
	exec 9>&-
}

root_bootstrap() {
	local name=$1 suite=$2 mirror=$3 keyring=$4 work=$5
	root_apt_options >"$work/apt.conf"
	unshare --mount --propagation private \
		mmdebstrap --variant=minbase --include=sudo,git,make,ca-certificates \
		--aptopt="$work/apt.conf" --keyring="$keyring" "$suite" "$work/root" "$mirror" || return
	if [ "$name" != "$suite" ]; then
		root_older_headers "$work/root" || return
	fi
	tar -C "$work/root" -cf "$work/root.tar" .
}

# Debian 11's linux-libc-dev: the headers of 5.10.
root_older_headers() {
	(
		. "$SRC/tests/vm/apt.sh"
		apt_begin
		apt_update bullseye "$(dpkg --print-architecture)"
		cd "$1"
		own download linux-libc-dev
		chroot . sh -c 'dpkg -i /linux-libc-dev_*.deb && apt-mark hold linux-libc-dev'
		rm linux-libc-dev_*.deb
	)
}

root_begin() {
	local other
	root_make "$1"
	for other in "$distros_cache"/run.*; do # left behind by scripts that were killed
		kill -0 "${other##*.}" 2>/dev/null || rm -rf --one-file-system "$other"
	done
	root_end
	mkdir -p "$root" "$distros_cache/archives-${1%%-*}"
	tar -C "$root" -xf "$distros_cache/$1.tar"
	echo "${1%%-*}" >"$root/../suite"
	# Links: apt takes them for what it fetched.
	find "$distros_cache/archives-${1%%-*}" -name '*.deb' -exec cp -l -t "$root/var/cache/apt/archives" {} +
	cat /etc/resolv.conf >"$root/etc/resolv.conf"
	root_apt_options >"$root/etc/apt/apt.conf.d/99host"
	chroot "$root" useradd -m -s /bin/bash user
	echo "user ALL=(ALL) NOPASSWD: ALL" >"$root/etc/sudoers.d/user"
	echo "127.0.0.1 localhost $(hostname)" >"$root/etc/hosts" # sudo looks the name up
}

# Keeps the packages that were fetched.
root_end() {
	[ -e "$root" ] || return 0
	cp -ln -t "$distros_cache/archives-$(cat "$root/../suite")" \
		"$root"/var/cache/apt/archives/*.deb 2>/dev/null || :
	rm -rf --one-file-system "$(dirname "$root")"
}
tests_end() { # run_tests calls it, after the last test
	root_end
}

# root_in COMMAND...: in the root, with what a running system has mounted.
root_in() {
	unshare --mount --propagation private bash -c '
		set -e
		root=$1
		shift
		mount --rbind /proc "$root/proc"
		mount --rbind /sys "$root/sys"
		mount --rbind /dev "$root/dev"
		exec chroot "$root" env -i TERM=dumb LC_ALL=C.UTF-8 \
			PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
	' root_in "$root" "$@" </dev/null
}
root_run() {
	root_in HOME=/root bash -euo pipefail -c "cd /; $1"
}
root_user() {
	root_in runuser -u user -- env HOME=/home/user bash -euo pipefail -c "cd; $1"
}

# Whether what was changed is committed or not; files that git does not know are left out.
root_clone() {
	local commit
	git -C "$SRC" rev-parse --git-dir >/dev/null 2>&1 || skip "$SRC is not a git repository"
	commit=$(git -C "$SRC" stash create)
	git init -q --bare -b main "$root/src.git"
	git -C "$SRC" push -q "$root/src.git" "${commit:-HEAD}:refs/heads/main"
	chroot "$root" chown -R user: /src.git
}
