/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Interpreters of Python, as <bpf/perf_bpf_python.h> reads them from a map and perf-bpf run writes
 * them; and the functions that it finds.
 */
#ifndef PERF_BPF_PYTHON_TYPES_H
#define PERF_BPF_PYTHON_TYPES_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define PERF_BPF_PYTHON_NONE 0xffffffff /* the structure has no such member */

/*
 * Where the members of CPython's structures are, in bytes. They are an array of numbers for those
 * who compare or check them.
 */
struct perf_bpf_python_layout {
	__u32 interpreters_head; /* _PyRuntimeState */
	__u32 interpreter_next;	 /* PyInterpreterState */
	__u32 interpreter_threads;
	__u32 thread_next; /* PyThreadState */
	__u32 thread_id;
	__u32 thread_frame;  /* the innermost frame, or */
	__u32 thread_cframe; /* the data of the innermost call of the interpreter */
	__u32 cframe_frame;  /* _PyCFrame: the innermost frame of this call */
	__u32 cframe_previous;
	__u32 frame_previous; /* PyFrameObject, _PyInterpreterFrame */
	__u32 frame_code;
	__u32 frame_is_entry; /* a byte: the outermost frame of a call of the interpreter */
	__u32 frame_owner;    /* a byte: 3 for what is on the C stack, between two calls */
	__u32 code_name;      /* PyCodeObject; the qualified name where it has one */
	__u32 code_file;
	__u32 code_line;
	__u32 object_type;    /* PyObject */
	__u32 unicode_length; /* PyASCIIObject */
	__u32 unicode_state;
	__u32 unicode_ascii;   /* its size: where the characters of ASCII text begin */
	__u32 unicode_compact; /* the same of PyCompactUnicodeObject, for other text */
};

/* Addresses are relative to the base of the table of unwind rules. */
struct perf_bpf_python {
	__u64 runtime;		    /* _PyRuntime */
	__u64 code_type, text_type; /* PyCode_Type, PyUnicode_Type */
	/* The function that runs Python code; compilers put its rare parts elsewhere. */
	struct {
		__u32 start, end;
	} eval[2];
	struct perf_bpf_python_layout at;
	__u32 reserved;
};

/* A function. Its key is PERF_BPF_PYTHON_FRAME and a hash of all of it. */
#define PERF_BPF_PYTHON_FRAME	   (1ull << 63) /* no address of user space has this bit */
#define PERF_BPF_PYTHON_NAME_BYTES 96		/* the first bytes of longer names */
#define PERF_BPF_PYTHON_FILE_BYTES 128		/* the last bytes of longer paths */
#define PERF_BPF_PYTHON_CUT	   0x80

struct perf_bpf_python_function {
	__u32 line;
	/* Bytes of a character (1: ISO 8859-1), and PERF_BPF_PYTHON_CUT. */
	__u8 name_kind, file_kind;
	__u8 name_bytes, file_bytes;
	__u8 name[PERF_BPF_PYTHON_NAME_BYTES];
	__u8 file[PERF_BPF_PYTHON_FILE_BYTES];
};

/* What became of a stack that has frames of the interpreter. */
enum perf_bpf_python_end {
	PERF_BPF_PYTHON_NAMED,	    /* each has its functions */
	PERF_BPF_PYTHON_NO_THREAD,  /* the interpreter does not know the thread */
	PERF_BPF_PYTHON_BETWEEN,    /* in a call that has just begun, or ends */
	PERF_BPF_PYTHON_UNREADABLE, /* memory that is not there */
	PERF_BPF_PYTHON_INVALID,    /* something else than a function or a text */
	PERF_BPF_PYTHON_NO_ROOM,    /* the map of functions is full */
	PERF_BPF_PYTHON_CUT_OFF,    /* more frames than a stack can have */
	PERF_BPF_PYTHON_ENDS,
};

#endif
