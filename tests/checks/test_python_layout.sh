#!/usr/bin/env bash
# The table of perf/unwind/python_layout.c is what the headers of CPython say, of each version of
# which there are some.
. "$(dirname "$0")/../tap.sh"

# The directory with Python.h of 3.$1; nothing if there is none with the internal headers.
headers_of() {
	local path

	for path in /usr/include/python3."$1" "$HOME"/.pyenv/versions/3."$1".*/include/python3."$1"; do
		if [ -e "$path/Python.h" ] && [ -d "$path/internal" ]; then
			echo "$path"
			return
		fi
	done
}

# The table's row of 3.$1, as "member number".
row_of() {
	python3 - "$1" "$SRC/perf/unwind/python_layout.c" <<-'END'
		import re, sys
		rows = re.findall(r'\{(\d+),\s*\{(.*?)\}\}', open(sys.argv[2]).read(), re.S)
		row = dict(rows)[sys.argv[1]]
		for member, number in sorted(re.findall(r'\.(\w+) = (\w+)', row)):
		    if number != 'NONE':
		        print(member, number)
	END
}

offsets() {
	cat >offsets.c <<-'END'
		#define Py_BUILD_CORE 1
		#include <Python.h>
		#include <stddef.h>
		#include <stdio.h>
		#include <internal/pycore_interp.h>
		#include <internal/pycore_runtime.h>
		#define NEW (PY_VERSION_HEX >= 0x030b0000)
		#if NEW
		#include <internal/pycore_frame.h>
		#else
		#include <frameobject.h>
		#endif
		#define P(name, type, member) printf(name " %zu\n", offsetof(type, member))
		int main(void)
		{
			P("interpreters_head", _PyRuntimeState, interpreters.head);
			P("interpreter_next", PyInterpreterState, next);
			P("thread_next", PyThreadState, next);
			P("thread_id", PyThreadState, thread_id);
			P("code_file", PyCodeObject, co_filename);
			P("code_line", PyCodeObject, co_firstlineno);
			P("object_type", PyObject, ob_type);
			P("unicode_length", PyASCIIObject, length);
			P("unicode_state", PyASCIIObject, state);
			printf("unicode_ascii %zu\n", sizeof(PyASCIIObject));
			printf("unicode_compact %zu\n", sizeof(PyCompactUnicodeObject));
		#if NEW
			P("interpreter_threads", PyInterpreterState, threads.head);
			P("frame_previous", _PyInterpreterFrame, previous);
			P("frame_code", _PyInterpreterFrame, f_code);
			P("code_name", PyCodeObject, co_qualname);
			P("thread_cframe", PyThreadState, cframe);
			P("cframe_frame", _PyCFrame, current_frame);
			P("cframe_previous", _PyCFrame, previous);
		#if PY_VERSION_HEX >= 0x030c0000
			P("frame_owner", _PyInterpreterFrame, owner);
			if (FRAME_OWNED_BY_CSTACK != 3)
				puts("FRAME_OWNED_BY_CSTACK is another one");
		#else
			P("frame_is_entry", _PyInterpreterFrame, is_entry);
		#endif
		#else
			P("interpreter_threads", PyInterpreterState, tstate_head);
			P("thread_frame", PyThreadState, frame);
			P("frame_previous", PyFrameObject, f_back);
			P("frame_code", PyFrameObject, f_code);
			P("code_name", PyCodeObject, co_name);
		#if PY_VERSION_HEX >= 0x030a0000
			P("thread_cframe", PyThreadState, cframe);
			P("cframe_previous", CFrame, previous);
		#endif
		#endif
			/* The bits that <bpf/perf_bpf_python.h> looks at. */
			PyASCIIObject text;
			unsigned bits;
			memset(&text, 0, sizeof(text));
			text.state.kind = 5;
			text.state.ascii = 1;
			memcpy(&bits, &text.state, sizeof(bits));
			if (bits != (5 << 2 | 1 << 6))
				puts("the state of texts has other bits");
			memset(&text, 0, sizeof(text));
			text.state.compact = 1;
			memcpy(&bits, &text.state, sizeof(bits));
			if (bits != 1 << 5)
				puts("the state of texts has other bits");
			return 0;
		}
	END
}

is_right() {
	local headers

	[ "$(getconf LONG_BIT)" = 64 ] || skip "the table is for 64-bit machines"
	headers=$(headers_of "$1")
	[ -n "$headers" ] || skip "the headers of Python 3.$1 are not installed"
	offsets
	${CC:-cc} -w -I "$headers" -I "$headers/internal" -o offsets offsets.c || fail "it is not compiled"
	./offsets | sort >expected
	row_of "$1" >row
	[ "$(wc -l <row)" -ge 14 ] || fail "the table's row was not found"
	diff expected row || fail "the table differs from $headers"
}

test_headers_of_3_9() { is_right 9; }
test_headers_of_3_10() { is_right 10; }
test_headers_of_3_11() { is_right 11; }
test_headers_of_3_12() { is_right 12; }

run_tests
