# Sourced by test_guests.sh and test_arm64.sh, behind tap.sh: guests of an
# architecture, what they run, and what they say.
HERE=$SRC/tests/vm
ARCH=${ARCH:-x86}
CC=${CC:-gcc}
case $ARCH in
x86) multiarch=x86_64-linux-gnu ;;
arm64) multiarch=aarch64-linux-gnu ;;
esac

bpf() { # SOURCE OUTPUT OPTIONS...
	local source=$1 output=$2
	shift 2
	[[ $source == /* ]] || source=$HERE/$source
	${CLANG:-clang} -O2 -g -target bpf -D__TARGET_ARCH_$ARCH -I"$SRC/include" -I"$BUILD/include" \
		-idirafter "${SYSROOT:-}/usr/include/$multiarch" "$@" -c "$source" -o "$output"
}

# The program that a text becomes, compiled here: the guests have no clang.
oneline() { # NAME TEXT
	"$SRC/build/perf-bpf" run --source="$2" >$1.bpf.c
	bpf "$PWD/$1.bpf.c" $1.bpf.o
}

# Makes ./initramfs: perf-bpf, the tests' clients and workloads, and their objects.
make_initramfs() {
	local objects kind name newest
	bpf attach.bpf.c attach.bpf.o
	bpf ways.bpf.c ways.bpf.o
	bpf choose.bpf.c choose.bpf.o
	objects=(attach.bpf.o=tests/attach.bpf.o ways.bpf.o=tests/ways.bpf.o
		choose.bpf.o=tests/choose.bpf.o)
	for kind in tracepoint kprobe kretprobe ksyscall uprobe fentry; do
		bpf record.bpf.c $kind.bpf.o -D${kind^^}
		objects+=("$kind.bpf.o=tests/$kind.bpf.o")
	done
	for name in maps legacy short core newer kinds struct_ops; do
		bpf ../bpf/$name.bpf.c $name.bpf.o
		objects+=("$name.bpf.o=tests/$name.o")
	done
	bpf ../cmd/run.bpf.c run.bpf.o -I"$SRC/progs"
	bpf faults.bpf.c faults.bpf.o -I"$SRC/progs"
	oneline writes 'kprobe:vfs_write { count(str(args->file->f_path.dentry->d_name.name), args->count, comm); }
		kretprobe:vfs_write { lhist(retval, 0, 200, 50); sum(retval, comm); }'
	# newer kernels have do_file_open()
	oneline opened 'fentry:do_fil*_open { count(str(args->pathname->name), args->dfd); }
		fexit:do_fil*_open { if (retval < 0) count(err(retval)); }'
	objects+=("writes.bpf.o=tests/oneline_writes.o" "opened.bpf.o=tests/oneline_opened.o")
	bpf testmod.bpf.c testmod.bpf.o
	objects+=("testmod.bpf.o=tests/testmod.o" "$BUILD/tests/vm/testmod_client=bin/testmod_client")
	$CC -O0 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -static -o maps_work "$HERE/maps_work.c"
	bpf losses.bpf.c losses.bpf.o -I"$SRC/progs"
	$CC -O0 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -static -o losses_work "$HERE/losses_work.c"
	bpf losses_xdp.bpf.c losses_xdp.bpf.o -I"$SRC/progs"
	$CC -O1 -static -o losses_xdp_work "$HERE/losses_xdp_work.c"
	objects+=("losses.bpf.o=tests/losses.o" "losses_work=bin/losses_work"
		"losses_xdp.bpf.o=tests/losses_xdp.o" "losses_xdp_work=bin/losses_xdp_work")
	objects+=("run.bpf.o=tests/run.o" "faults.bpf.o=tests/faults.o" "maps_work=bin/maps_work")
	bpf probes.bpf.c probes.bpf.o
	bpf probes.bpf.c probes-return.bpf.o -DAT_RETURN
	bpf probes.bpf.c probes-many.bpf.o -DMANY
	bpf probes.bpf.c probes-missed.bpf.o -DMISSED
	bpf probes.bpf.c probes-direct.bpf.o -DDIRECT
	$CC -O1 -static "$HERE/probed.c" -o probed
	objects+=(probes.bpf.o=tests/probes.o probes-return.bpf.o=tests/probes-return.o
		probes-many.bpf.o=tests/probes-many.o probes-missed.bpf.o=tests/probes-missed.o
		probes-direct.bpf.o=tests/probes-direct.o
		probed=bin/probed)
	bpf usdt.bpf.c usdt.bpf.o -DSPECS=16
	bpf instances.bpf.c instances.bpf.o
	bpf record.bpf.c usdt_filter.bpf.o -DUSDT
	bpf objects.bpf.c objects.bpf.o
	bpf hz.bpf.c hz.bpf.o
	bpf prog.bpf.c prog.bpf.o
	bpf names.bpf.c names.bpf.o
	bpf prog.bpf.c missed.bpf.o -DMISSED
	objects+=("names.bpf.o=tests/names.o" "$BUILD/tests/cmd/attached=bin/attached")
	objects+=("prog.bpf.o=tests/prog.o" "missed.bpf.o=tests/missed.o")
	objects+=("usdt.bpf.o=tests/usdt.bpf.o" "usdt_filter.bpf.o=tests/usdt_filter.bpf.o"
		"instances.bpf.o=tests/instances.bpf.o" "objects.bpf.o=tests/objects.o" "hz.bpf.o=tests/hz.o"
		"$BUILD/tests/vm/instances=bin/instances")
	[ ! -x "$BUILD/tests/vm/usdt_client" ] || objects+=("$BUILD/tests/vm/usdt_client=bin/usdt_client")
	# Address spaces came with clang 19.
	newest=$(compgen -c clang- | grep -E '^clang-[0-9]+$' | sort -t- -k2n | tail -n 1)
	if [ "${newest#clang-}" -ge 19 ] 2>/dev/null; then
		CLANG=$newest bpf ../bpf/arena.bpf.c arena.o -mcpu=v4
		objects+=("arena.o=tests/arena.o")
	fi
	# A walk of a million instructions takes an emulated machine too long.
	"$SRC/tests/bpf/refused/list" | grep -vE ' (too_long|too_branchy) ' >refused.list
	for name in $(cut -d' ' -f1 refused.list | sort -u); do
		bpf ../bpf/refused/$name.bpf.c refused-$name.o
		objects+=("refused-$name.o=tests/refused-$name.o")
	done
	objects+=("refused.list=tests/refused.list" "$BUILD/tests/cmd/refused=bin/refused")
	$CC -O2 -fomit-frame-pointer -static -o unwound "$HERE/unwound.c"
	objects+=(unwound=bin/unwound)
	objects+=("$BUILD/tests/cmd/object_client=bin/object_client"
		"$BUILD/tests/cmd/kinds_client=bin/kinds_client"
		"$BUILD/tests/cmd/trace_client=bin/trace_client"
		"$BUILD/tests/cmd/trace_work=bin/trace_work")
	"$HERE/make-initramfs" initramfs "$BUILD/tests/vm/client=bin/client" \
		"$BUILD/tests/vm/ways=bin/ways" "$BUILD/perf-bpf=bin/perf-bpf" \
		"${objects[@]}" "$@"
}

# own_archive SUITE KERNEL_FOLDER: what only this kernel can use, below modules/ and testmod/,
# and its configuration, as an archive behind that of all kernels: one after the other are one.
own_archive() {
	local root release testmod
	root=$(mktemp -d own.XXXXXX)
	chmod 755 "$root" # as / of the guest
	release=$(cat "$2/release")
	mkdir -p "$root/testmod" "$root/lib/modules/$release"
	[ ! -d "$2/modules" ] || cp -r "$2/modules" "$root"
	cp "$2/config" "$root/lib/modules/$release/config"
	if testmod=$("$HERE/fetch-testmod" "$1" 2>>fetch."$1"); then
		cp "$testmod"/*.ko "$root/testmod"
	else
		echo "${testmod:-fetch-testmod failed}" >"$root/testmod/why"
	fi
	(cd "$root" && find . | cpio -o -H newc --quiet)
	rm -r "$root"
}

# One kernel: its output to guest.SUITE, or the reason why there is none to skip.SUITE.
run_guest() {
	local suite=$1 kernel
	kernel=$("$HERE/fetch-kernel" "$suite" 2>fetch."$suite") || {
		echo "${kernel:-fetch-kernel failed}" >skip."$suite"
		return
	}
	{ cat initramfs && own_archive "$suite" "$kernel"; } >initramfs."$suite"
	"$HERE/boot" "$kernel" initramfs."$suite" guest."$suite" || :
	rm initramfs."$suite"
}

numbered=0
# report_lines LABEL FILE: what a guest wrote, numbered.
report_lines() {
	local line
	while read -r line; do
		case $line in
		"ok - "*) echo "ok $((++numbered)) - $1 ${line#ok - }" ;;
		"not ok - "*) echo "not ok $((++numbered)) - $1 ${line#not ok - }" ;;
		"#"*) echo "$line" ;;
		esac
	done < <(tr -d '\r' <"$2")
}

report() {
	local suite=$1 release
	if [ -e skip."$suite" ]; then
		echo "ok $((++numbered)) - $suite # SKIP $(cat skip."$suite")"
		return
	fi
	release=$(sed -n 's/^guest: up \([0-9]*\.[0-9]*\).*/\1/p' guest."$suite" | head -n 1)
	report_lines "${release:-$suite}" guest."$suite"
	if grep -q '^guest: done' guest."$suite"; then
		echo "ok $((++numbered)) - ${release:-$suite} the guest came to its end"
	else
		tail -n 30 guest."$suite".console guest."$suite".qemu 2>/dev/null | tr -d '\r' | sed 's/^/# /'
		echo "not ok $((++numbered)) - ${release:-$suite} the guest came to its end"
	fi
}
