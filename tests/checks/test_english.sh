#!/usr/bin/env bash
# Messages, help texts, manual pages and Markdown files in words of the field.
. "$(dirname "$0")/../tap.sh"

test_messages_and_pages_use_words_of_the_field() {
	cd "$SRC"
	tools/check-english >"$TMP/found" || { cat "$TMP/found"; fail "see tools/check-english"; }
}

# literals FILE: each line of standard input as a string literal
literals() {
	sed 's/.*/const char *m = "&";/' >"$1"
}

# The check itself: each old message is found, none of the new forms.
test_old_messages_are_found() {
	literals old.c <<-'END'
		many places by one link are no event
		'%s' is no form of errors
		%s: no BTF, which is told to who asks
		'%s' lies beyond its section
		--call-graph: '%.*s' is not understood
		Maps as queues are left out, which is told
		there is no field '%s'
		Say more; twice: much more
		Write a page with graphs that any browser opens, too
		Leave out the children of recorded tasks
		what stands at offset %u is a struct
	END
	! "$SRC/tools/check-english" old.c >out || fail "nothing is found"
	assert_equal "$(grep -c '^old.c:' out)" "$(wc -l <old.c)"
	literals new.c <<-'END'
		a multi-probe link cannot be recorded as an event
		unknown error format '%s' (text or json)
		'%s' ends past the end of its section
		--call-graph: invalid mode '%.*s'
		unknown field '%s'
		Be verbose (-vv for debugging)
		the member at offset %u is not a named struct
	END
	"$SRC/tools/check-english" new.c >out || { cat out; fail "a new form is found"; }
}

run_tests
