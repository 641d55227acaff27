# SPDX-License-Identifier: BSD-2-Clause
# Numbered calls of the workload, of a thread that goes from one CPU to the next: none is missing or
# comes twice. Sourced after tap.sh.

# numbered_calls N: the workload's commands for N calls, a hundred on each CPU
numbered_calls() {
	local i
	for ((i = 0; i < $1; i += 100)); do
		[ "$i" = 0 ] || echo ,
		echo cpu , call getpriority 100 7 "i+$i"
	done
}

# assert_numbers READER DIR N: all calls, in order
assert_numbers() {
	local -a hex
	"$1" script -i "$2" -F comm,trace >text 2>err || { cat err; fail "$2 cannot be read"; }
	mapfile -t hex < <(sed -n 's/ *pbt_numbers .*which: 0x0*7, who: 0x\([0-9a-f]*\).*/0x\1/p' text)
	printf '%d\n' "${hex[@]}" >numbers
	seq 0 $(($3 - 1)) | cmp - numbers || fail "$1: $(wc -l <numbers) calls, or another order"
}
