#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# debian/perf-bpf.postinst: capabilities only if the administrator gave the program to the group.
. "$(dirname "$0")/../tap.sh"

# postinst OVERRIDE ARGUMENT: with a dpkg-statoverride that lists this line; what setcap got is in ./set
postinst() {
	mkdir -p bin
	printf '#!/bin/sh\n[ -z "%s" ] && exit 1\necho "%s"\n' "$1" "$1" >bin/dpkg-statoverride
	printf '#!/bin/sh\necho "$@" >>%s/set\n' "$PWD" >bin/setcap
	chmod +x bin/*
	rm -f set
	PATH=$PWD/bin:$PATH sh "$SRC/debian/perf-bpf.postinst" "$2"
}

test_it_is_a_shell_script() {
	sh -n "$SRC/debian/perf-bpf.postinst"
	assert_contains "$SRC/debian/perf-bpf.postinst" '#DEBHELPER#'
}

test_nothing_is_set_by_default() {
	postinst "" configure
	[ ! -e set ] || fail "capabilities were set"
}

test_the_group_gets_two_capabilities() {
	postinst "root perf-bpf 750 /usr/bin/perf-bpf" configure
	assert_equal "$(cat set)" "cap_bpf,cap_perfmon=ep /usr/bin/perf-bpf"
}

# A program that everybody may run never gets any.
test_not_if_others_can_run_it() {
	local override
	for override in "root perf-bpf 755" "root root 750" "mallory perf-bpf 750" "root perf-bpf 4750"; do
		postinst "$override /usr/bin/perf-bpf" configure
		[ ! -e set ] || fail "$override"
	done
	postinst "root perf-bpf 750 /usr/bin/perf-bpf" abort-upgrade
	[ ! -e set ] || fail "abort-upgrade"
}

test_the_package_has_the_group() {
	assert_contains "$SRC/debian/perf-bpf.install" usr/lib/sysusers.d/perf-bpf.conf
	grep -qx 'g perf-bpf -' "$SRC/system/perf-bpf.sysusers" || fail "the group is missing"
}

# Nobody gets the service without asking for it.
test_the_service_is_not_enabled() {
	assert_contains "$SRC/debian/perf-bpf.install" usr/lib/systemd/system
	assert_contains "$SRC/debian/rules" "dh_installsystemd --no-enable --no-start"
	assert_contains "$SRC/system/perf-bpf.socket" ListenSequentialPacket=/run/perf-bpf/delegate.sock
	grep -q '"/run/perf-bpf/delegate.sock"' "$SRC/delegate/delegate_message.h"
	command -v systemd-analyze >/dev/null || skip "systemd-analyze is not installed"
	mkdir units
	cp "$SRC/system/perf-bpf.socket" units
	sed "s,@bindir@/perf-bpf,/bin/true," "$SRC/system/perf-bpf.service.in" >units/perf-bpf.service
	systemd-analyze verify --man=no ./units/perf-bpf.socket ./units/perf-bpf.service >out 2>&1 || fail "$(cat out)"
	! grep perf-bpf out || fail "$(cat out)"
}

test_purge_removes_approvals() {
	sh -n "$SRC/debian/perf-bpf.postrm"
	assert_contains "$SRC/debian/perf-bpf.postrm" "rm -rf /var/lib/perf-bpf"
}

run_tests
