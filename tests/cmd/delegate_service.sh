# SPDX-License-Identifier: BSD-2-Clause
# The service of a test and its users, for the tests of delegated use; sourced after tap.sh.

NOBODY=65534 OTHER=4242 GROUP=4343

tests_end() {
	end_service
}

end_service() {
	[ -z "${clients:-}" ] || kill -KILL $clients 2>/dev/null || :
	clients=
	[ -z "${service:-}" ] || kill -TERM "$service" 2>/dev/null || :
	[ -z "${service:-}" ] || wait "$service" 2>/dev/null || :
	service=
	[ -z "${PINS:-}" ] || umount "$PINS" 2>/dev/null || :
}

# A service with a store and a socket of its own, in the test's folder.
begin() {
	[ "$(id -u)" = 0 ] || skip "only root can approve programs"
	command -v setpriv >/dev/null || skip "setpriv is not installed"
	has attach.raw_tp || skip "the kernel has no raw tracepoints"
	has bpf.stats || skip "the kernel does not count the time of programs"
	chmod 711 "$top" .
	cp "$PERF_BPF" perf-bpf
	cp "$BUILD/tests/cmd/delegate_attacks" "$BUILD/tests/cmd/trace_attacks" .
	mkdir -p home
	chmod 777 home
	as $NOBODY ./perf-bpf --version >/dev/null 2>&1 || skip "nobody cannot run a copy in $PWD"
	# Relative: the path of a socket has at most 107 bytes, that of the folder may have more.
	export PERF_BPF_DELEGATE_SOCKET=run/sock
	# users can write to it, as to /sys/fs/bpf where systemd has not mounted it
	mkdir pins
	export PINS=$PWD/pins
	mount -t bpf -o mode=1777 bpf "$PINS" || skip "no BPF file system can be mounted"
	trap end_service EXIT
	start_service
}

start_service() {
	./perf-bpf delegate --socket "$PERF_BPF_DELEGATE_SOCKET" --store "$PWD/store" 2>>service.log &
	service=$!
	soon test -S "$PERF_BPF_DELEGATE_SOCKET"
	# the file is there before somebody listens: mode 0666 is set in between
	soon attack connects 2>/dev/null
}

# The client in the background, until the test ends it: its pid is in $client.
attack_begins() {
	local out=$1
	shift
	rm -f "$out" # what the client before said is not what this one says
	(exec setpriv --reuid $NOBODY --regid $NOBODY --clear-groups ./delegate_attacks \
		"$PERF_BPF_DELEGATE_SOCKET" "$@" >"$out" 2>&1) &
	client=$!
	clients="${clients:-} $client"
	soon grep -qE 'holds|refused|listens' "$out"
}

end_client() { # it may have ended because the service has
	kill -KILL "$client" 2>/dev/null || :
	wait "$client" || :
}

# as UID [--groups=GID] COMMAND...: without any capability
as() {
	local uid=$1 groups=--clear-groups
	shift
	case $1 in --groups=*) groups=$1 && shift ;; esac
	setpriv --reuid "$uid" --regid "$uid" $groups --bounding-set=-all --inh-caps=-all \
		env HOME="$PWD/home" "$@"
}

approve() {
	./perf-bpf approve --store "$PWD/store" "$@"
}

need_unprivileged_reading() {
	as $NOBODY ./delegate_attacks "$PERF_BPF_DELEGATE_SOCKET" writes "$1" "$2" >probe 2>&1 || :
	! grep -q '^a map:' probe || skip "this kernel lets users without privileges read no maps (5.19)"
	soon no_session
}

no_session() {
	! pgrep -P "$service" >/dev/null
}

# The file of the only object in the store, where users can read it.
object() {
	cp store/*.o home/object.o
	chmod 644 home/object.o
	echo home/object.o
}

attack() {
	as $NOBODY ./delegate_attacks "$PERF_BPF_DELEGATE_SOCKET" "$@"
}
