#!/usr/bin/env bash
# Holds --help, the manual pages and the bash completion together.
. "$(dirname "$0")/../tap.sh"

commands() {
	"$PERF_BPF" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'
}

# The options on stdin's lines that begin with one: "  -e, --event=EVENT   text".
options() {
	sed -n 's/^ \{1,8\}\(-.*\)$/\1/p' | sed 's/   *[A-Z(].*$//' |
		grep -oE -e '(^|[ ,])--?[A-Za-z][A-Za-z0-9_-]*' | tr -d ' ,' | sort -u
}

options_of_help() {
	"$PERF_BPF" "$1" --help | options
}

# What argp adds to every command stands in perf-bpf(1) or needs no words.
usual='^(-\?|--help|--usage|-V|--version)$'

# The tags of the section OPTIONS.
options_of_page() {
	groff -mandoc -Tascii -P-cbou -rLL=200n "$SRC/man/perf-bpf-$1.1" |
		sed -n '/^OPTIONS/,/^[A-Z]/p' | options
}

test_every_command_has_a_page() {
	commands >commands
	for command in record script report features help; do
		grep -qx "$command" commands || fail "no command $command"
	done
	for command in $(grep -vx help commands); do
		[ -f "$SRC/man/perf-bpf-$command.1" ] || fail "no page for $command"
		assert_contains "$SRC/man/meson.build" "'perf-bpf-$command.1'"
		grep -q "^\.Xr perf-bpf-$command 1" "$SRC/man/perf-bpf.1" ||
			fail "perf-bpf(1) does not name $command"
	done
	for page in "$SRC"/man/*.[1-9]; do
		assert_contains "$SRC/man/meson.build" "'$(basename "$page")'"
	done
}

test_help_and_page_name_the_same_options() {
	for command in $(commands | grep -vx help); do
		options_of_help "$command" | grep -vE "$usual" >help || true
		options_of_page "$command" | grep -vE "$usual" >page || true
		[ -s help ] || fail "$command --help names no option"
		diff -u help page || fail "$command: --help (-) and the page (+) differ"
	done
}

# Each option of perf that perf-bpf-perf-options(7) calls the same is in --help, with its letter; of
# one that differs, a form of it is.
test_options_of_perf_are_there() {
	local command flags word flag n
	for command in record report script top; do
		options_of_help "$command" >help
		sed -n "/^\.Sh PERF ${command^^}$/,/^\.El$/p" "$SRC/man/perf-bpf-perf-options.7" |
			sed -n 's/^\.It //p; s/^\(Same\|Differs\|Missing\)[.:].*/\1/p' | paste - - >items
		[ "$(grep -c 'Same$' items)" -ge 20 ] || fail "$command: hardly any option"
		! grep -vE '	(Same|Differs|Missing)$' items || fail "$command: an option without a word"
		while IFS='	' read -r flags word; do
			n=0
			for flag in ${flags//Fl /-}; do
				[ "$flag" = , ] || grep -qx -e "$flag" help || n=$((n + 1))
			done
			case $word in
			Same) [ $n = 0 ] || fail "$command --help does not have $flags" ;;
			Differs) [ $n = 0 ] || [[ $n = 1 && $flags = *,* ]] || fail "$command: $flags" ;;
			esac
		done <items
	done
}

test_completion_knows_all_options() {
	completion=/usr/share/bash-completion/bash_completion
	[ -r $completion ] || skip "bash-completion is not installed"
	cat >complete.sh <<-'END'
		. /usr/share/bash-completion/bash_completion
		. "$SRC/completion/perf-bpf"
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		COMP_LINE="$*"
		COMP_POINT=${#COMP_LINE}
		_perf_bpf
		printf '%s\n' "${COMPREPLY[@]}"
	END
	export SRC
	bash complete.sh "$PERF_BPF" "" >out
	for command in $(commands); do
		grep -qx -- "$command" out || fail "completion does not know $command"
	done
	for command in $(commands | grep -vx help); do
		options_of_help "$command" >options
		bash complete.sh "$PERF_BPF" "$command" - >out
		while read -r option; do
			grep -qx -e "$option" out || fail "$command: completion does not know $option"
		done <options
	done
	: >filter.bpf.c
	: >unrelated.txt
	bash complete.sh "$PERF_BPF" record -e "" >out
	assert_contains out filter.bpf.c
	assert_contains out page-faults
	! grep -q unrelated out || fail "a text is offered as an event"
	bash complete.sh "$PERF_BPF" record -e cpu-clock,page >out
	assert_contains out cpu-clock,page-faults
	if [ -r /sys/kernel/tracing/available_events ]; then
		bash complete.sh "$PERF_BPF" record -e sched:sched_swi >out
		assert_contains out sched_switch
	fi
}

# complete_perf WORD...: what a shell offers that finds perf's completion in ./$dir and ours.
complete_perf() {
	bash --norc --noprofile -c '
		. /usr/share/bash-completion/bash_completion
		_completion_loader perf
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*"
		COMP_POINT=${#COMP_LINE}
		function=$(complete -p perf | sed "s/.* -F \([^ ]*\) .*/\1/")
		$function perf "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
		printf "%s\n" "${COMPREPLY[@]}"' bash "$@" 2>&1
}

test_completion_of_perf_bpf_beside_that_of_perf() {
	[ -r /usr/share/bash-completion/bash_completion ] || skip "bash-completion is not installed"
	export PATH=$(dirname "$PERF_BPF"):$PATH XDG_DATA_DIRS=$PWD/local:$PWD/system HOME=$PWD
	mkdir -p local/bash-completion/completions system/bash-completion/completions
	cp "$SRC"/completion/perf "$SRC"/completion/perf-bpf local/bash-completion/completions
	"$PERF_BPF" --help >help
	for installed in no yes; do
		if [ $installed = yes ]; then
			cat >system/bash-completion/completions/perf <<-'END'
				_perf() { COMPREPLY=($(compgen -W "buildid-list stat" -- "$2")); }
				complete -o nospace -F _perf perf
			END
		fi
		complete_perf perf bpf "" >out
		grep -qx record out || fail "$(cat out)"
		complete_perf perf --no-pager bpf record --pi >out
		assert_equal "$(cat out)" --pid
		complete_perf perf bpf run sysc >out
		assert_equal "$(cat out)" syscount
		complete_perf perf b >out
		[ $installed = yes ] && wanted="buildid-list bpf" || wanted=bpf
		assert_equal "$(echo $(cat out))" "$wanted"
	done
	complete_perf perf sta >out
	assert_equal "$(cat out)" stat
}

test_pages_render_without_warnings() {
	for page in "$SRC"/man/*.[1-9]; do
		groff -ww -mandoc -Tutf8 "$page" 2>warnings >/dev/null
		[ ! -s warnings ] || { cat warnings; fail "$page"; }
		man --warnings -l "$page" 2>warnings >/dev/null </dev/null
		[ ! -s warnings ] || { cat warnings; fail "$page"; }
	done
}

# Each option is in the help once, and no line of it ends with blanks.
test_help_is_tidy() {
	local command
	for command in $(commands | grep -vx help); do
		"$PERF_BPF" "$command" --help >help
		! grep -n ' $' help || fail "$command: blanks at the end of a line"
		sed -n 's/^ \{1,8\}\(-.*\)$/\1/p' help | grep -oE -e '^(-., )?--[a-z_-]+' | sed 's/.*--//' | sort | uniq -d >twice
		[ ! -s twice ] || fail "$command: twice: $(cat twice)"
	done
}

# Lines of a help or a page that are wider than a terminal are broken anywhere.
test_80_columns() {
	local command page
	wider() {
		python3 -c 'import sys
for line in sys.stdin:
	if len(line.rstrip("\n")) > 80:
		print(sys.argv[1] + ":", line.rstrip())' "$1"
	}
	"$PERF_BPF" --help | wider help >wide
	for command in $(commands | grep -vx help); do
		"$PERF_BPF" "$command" --help | wider "$command" >>wide
	done
	for page in "$SRC"/man/*.[1-9]; do
		groff -mandoc -Tutf8 -P-cbou -rLL=78n "$page" | wider "${page##*/}" >>wide
	done
	[ ! -s wide ] || fail "$(cat wide)"
}

# In .Ql a , Ql b a quotation holds the next one, and the reader sees two closing marks.
test_quotations_are_not_nested() {
	local page
	for page in "$SRC"/man/*.[1-9]; do
		groff -mandoc -Tutf8 -P-cbou -rLL=900n "$page" | grep -o '‘[^’]*‘.*' | sed "s/^/${page##*/}: /" >>nested || :
	done
	[ ! -s nested ] || fail "$(cut -c1-100 nested)"
}

test_pages_name_pages_that_are_there() {
	for page in "$SRC"/man/*.[1-9]; do
		sed -n 's/^\.Xr \([a-z-]*\) \([1-9]\).*/\1.\2/p' "$page" | sort -u |
			grep -E '^(perf-bpf|libperfbpf)' >named || true
		while read -r name; do
			[ -f "$SRC/man/$name" ] || fail "$(basename "$page") names $name"
		done <named
	done
}

test_usage_errors_say_what_to_do() {
	expect_status 2 "$PERF_BPF" recrod
	assert_contains err "'recrod' is not a perf-bpf command"
	assert_contains err "hint: did you mean 'record'?"
	expect_status 2 "$PERF_BPF" frobnicate
	assert_contains err "hint: 'perf-bpf --help' lists the commands"
	expect_status 2 "$PERF_BPF"
	assert_contains err "Usage: perf-bpf"
	expect_status 2 "$PERF_BPF" help recrod
	expect_status 0 "$PERF_BPF" --version
	grep -qE '^perf-bpf version [0-9]+\.[0-9]+' out
	for command in $(commands | grep -vx help); do
		expect_status 0 "$PERF_BPF" "$command" --help
		[ ! -s err ] || fail "$command --help writes to stderr"
		expect_status 2 "$PERF_BPF" "$command" --no-such-option
		[ ! -s out ] || fail "$command: a usage error writes to stdout"
		assert_contains err "--no-such-option"
	done
}

test_help_opens_the_page_or_prints_the_options() {
	mkdir bin
	printf '#!/bin/sh\n[ "$1" = -w ] || echo "page $*"\n' >bin/man
	chmod +x bin/man
	PATH=$PWD/bin:$PATH expect_status 0 "$PERF_BPF" help record
	assert_equal "$(cat out)" "page perf-bpf-record"
	printf '#!/bin/sh\nexit 16\n' >bin/man
	PATH=$PWD/bin:$PATH expect_status 0 "$PERF_BPF" help record
	"$PERF_BPF" record --help >help
	cmp out help
}

run_tests
