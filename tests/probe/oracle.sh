#!/bin/sh
# The programs of generate.py, compiled in many ways, judged by dwarf-oracle.
#
#	oracle.sh ORACLE FIRST LAST ["COMPILER FLAGS"]...
#
# runs the seeds FIRST to LAST, each with every compiler given; without any,
# with all those below. It prints what was wrong and a last line of sums. Not
# among them is gcc's -flto: there the lists of locations themselves are wrong now
# and then (seed 35: gdb prints the same wrong values).
set -u

here=$(dirname "$(readlink -f "$0")")
oracle=$(readlink -f "$1") first=$2 last=$3
shift 3
if [ $# = 0 ]; then
	for cc in gcc clang; do
		for level in -O0 -O1 -O2 -Os -O3; do
			for version in -gdwarf-4 -gdwarf-5; do
				set -- "$@" "$cc $level $version"
			done
		done
	done
	set -- "$@" "gcc -O2 -fno-omit-frame-pointer" "gcc -Og" "gcc -O2 -fno-pie -no-pie" \
		"gcc -O2 -gsplit-dwarf" "gcc -O2 -gz" "clang -O2 -gsplit-dwarf -gdwarf-5" \
		"gcc -O2 -gdwarf-3"
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
printf '%s\n' "$@" >"$dir/ways"
compared=0 obstacles=0 no_id=0 wrong=0 programs=0 broken=0

# shellcheck disable=SC2086 # the flags are words
judge() {
	seed=$1 how=$2 p=$dir/$seed
	case $how in
	gcc*) mutate=--mutate-inlined ;;
	*) mutate= ;;
	esac
	rm -rf "$p"
	"$here/generate.py" "$seed" "$p" $mutate || exit 1
	if ! (cd "$p" && $how -g -w -c prog.c && gcc -O1 -c truth.c &&
		$how -g -w prog.o truth.o -o prog) >"$p/out" 2>&1; then
		echo "seed $seed: $how does not compile it"
		cat "$p/out"
		broken=$((broken + 1))
		return
	fi
	(cd "$p" && timeout 120 "$oracle" ./prog points) >"$p/out" 2>&1
	status=$?
	line=$(tail -n 1 "$p/out")
	programs=$((programs + 1))
	if [ $status != 0 ]; then
		echo "seed $seed: $how $mutate: $line"
		grep -v ' compared, ' "$p/out" | head -n "${SHOW:-3}"
	fi
	case $line in
	*" compared, "*)
		set -- $line
		compared=$((compared + $1)) obstacles=$((obstacles + $3))
		no_id=$((no_id + $5)) wrong=$((wrong + ${10})) ;;
	*) broken=$((broken + 1)) ;;
	esac
	[ -n "${KEEP:-}" ] || rm -rf "$p"
}

seed=$first
while [ "$seed" -le "$last" ]; do
	while read -r how; do
		judge "$seed" "$how"
	done <"$dir/ways"
	seed=$((seed + 1))
done
echo "$programs programs: $compared values compared, $obstacles obstacles, $no_id without id," \
	"$wrong wrong, $broken broken"
[ $wrong = 0 ] && [ $broken = 0 ] && [ $compared != 0 ]
