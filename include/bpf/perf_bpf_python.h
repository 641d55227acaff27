/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames of Python in stacks that <bpf/perf_bpf_unwind.h> walks, which includes this file.
 *
 * CPython runs Python functions in one C function, _PyEval_EvalFrameDefault. Where the walk comes
 * to a frame of it, the Python functions that it runs take its place. They are read from the memory
 * of the process: the state of its thread, which has a chain of frames, each with its code object,
 * which has a name, a file and a line. What is read is kept in a map, under a hash of it, and the
 * stack has the hash in place of an address. So nothing has to be read once a process has ended, or
 * after the interpreter has used its memory again.
 *
 * One call of the C function runs
 *
 *	3.9, 3.10	one frame;
 *	3.11		frames up to one that is marked as its entry;
 *	3.12, 3.13	frames up to one that is on the C stack, in the C function's own frame.
 *
 * From 3.10 to 3.12, it also has a variable on its stack (_PyCFrame), to which the state of the
 * thread points. Where these variables are tells which native frame they belong to: the
 * C function may just have been called, or a part of it was not recognized (compilers move parts
 * that run rarely, and files without symbols do not say where).
 *
 * All of it is in the hand of the process. Each loop is bounded; an object is used only if its type
 * is the address of the interpreter's own PyCode_Type or PyUnicode_Type. What cannot be read, or is
 * not that, leaves the frames of the interpreter, and is counted.
 */
#ifndef PERF_BPF_PYTHON_H
#define PERF_BPF_PYTHON_H

#include "perf_bpf_python_types.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct perf_bpf_python);
} perf_bpf_pythons SEC(".maps") PERF_BPF_SHOW("none");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct perf_bpf_python_function);
} perf_bpf_python_functions SEC(".maps") PERF_BPF_SHOW("none");

/* Where the states of threads are, by their ids. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} perf_bpf_python_threads SEC(".maps") PERF_BPF_SHOW("none");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PERF_BPF_PYTHON_ENDS);
	__type(key, __u32);
	__type(value, __u64);
} perf_bpf_python_ends SEC(".maps") PERF_BPF_SHOW("none");

#define ___PERF_BPF_PYTHON_THREADS  512 /* states that a search looks at */
#define ___PERF_BPF_PYTHON_ON_STACK 3	/* FRAME_OWNED_BY_CSTACK */
#define ___PERF_BPF_THREAD_BYTES    4096

/* The kernel's types, with the member that is read. */
struct thread_struct___unwind {
#if defined(__TARGET_ARCH_arm64)
	struct {
		unsigned long tp_value;
	} uw;
#else
	unsigned long fsbase;
#endif
} __attribute__((preserve_access_index));
struct task_struct___python {
	struct thread_struct___unwind thread;
} __attribute__((preserve_access_index));

/*
 * Whether a thread's id, pthread_self(), is that of the current thread. C libraries have there what
 * the thread pointer points to or, on arm64, a structure that ends there.
 */
static __always_inline __attribute__((unused)) int ___perf_bpf_is_thread(__u64 id)
{
	const struct task_struct___python *task = (const void *)bpf_get_current_task();

#if defined(__TARGET_ARCH_arm64)
	return BPF_CORE_READ(task, thread.uw.tp_value) - id < ___PERF_BPF_THREAD_BYTES;
#else
	return BPF_CORE_READ(task, thread.fsbase) == id;
#endif
}

static __always_inline __attribute__((unused)) int ___perf_bpf_byte(__u64 addr, __u8 *v)
{
	return bpf_probe_read_user(v, sizeof(*v), (const void *)(unsigned long)addr);
}

/* Goes to a call of the interpreter: the frames that it runs. 0: they can be read. */
static __always_inline __attribute__((unused)) int
___perf_bpf_python_call(struct perf_bpf_python_walk *p, const struct perf_bpf_python *python)
{
	p->is_at_call = 0;
	if (python->at.cframe_frame == PERF_BPF_PYTHON_NONE || p->cframe >= p->high)
		return 0;
	return ___perf_bpf_word(p->cframe + python->at.cframe_frame, &p->frame);
}

/* Whether a thread's state is that of the current thread, and has frames: they are taken. */
static __always_inline __attribute__((unused)) int
___perf_bpf_python_take_thread(struct perf_bpf_python_walk *p, const struct perf_bpf_python *python,
			       __u64 thread)
{
	__u64 id;

	if (___perf_bpf_word(thread + python->at.thread_id, &id) || !___perf_bpf_is_thread(id))
		return 0;
	p->cframe = p->frame = 0;
	if (python->at.thread_cframe != PERF_BPF_PYTHON_NONE &&
	    ___perf_bpf_word(thread + python->at.thread_cframe, &p->cframe))
		return 0;
	if (python->at.thread_frame != PERF_BPF_PYTHON_NONE)
		return !___perf_bpf_word(thread + python->at.thread_frame, &p->frame) && p->frame;
	return !___perf_bpf_word(p->cframe + python->at.cframe_frame, &p->frame) && p->frame;
}

/* The state of the current thread. */
__attribute__((weak)) __noinline int perf_bpf_python_find_thread(__u32 zero)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct perf_bpf_unwind_walk *walk;
	struct perf_bpf_python_walk *p;
	struct perf_bpf_python *python;
	__u64 *known;

	walk = bpf_map_lookup_elem(&perf_bpf_unwind_walks, &zero);
	if (!walk)
		return PERF_BPF_PYTHON_NO_THREAD;
	p = &walk->python;
	python = bpf_map_lookup_elem(&perf_bpf_pythons, &p->number);
	if (!python)
		return PERF_BPF_PYTHON_NO_THREAD;
	known = bpf_map_lookup_elem(&perf_bpf_python_threads, &tid);
	if (known && ___perf_bpf_python_take_thread(p, python, *known))
		return PERF_BPF_PYTHON_NAMED;
	p->thread = 0;
	if (___perf_bpf_word(p->base + python->runtime + python->at.interpreters_head,
			     &p->interpreter))
		return PERF_BPF_PYTHON_UNREADABLE;
	if (!p->interpreter ||
	    ___perf_bpf_word(p->interpreter + python->at.interpreter_threads, &p->thread))
		return PERF_BPF_PYTHON_NO_THREAD;
	for (int i = 0; i < ___PERF_BPF_PYTHON_THREADS; i++) {
		if (!p->thread) {
			if (___perf_bpf_word(p->interpreter + python->at.interpreter_next,
					     &p->interpreter) ||
			    !p->interpreter ||
			    ___perf_bpf_word(p->interpreter + python->at.interpreter_threads,
					     &p->thread))
				return PERF_BPF_PYTHON_NO_THREAD;
			continue;
		}
		if (___perf_bpf_python_take_thread(p, python, p->thread)) {
			bpf_map_update_elem(&perf_bpf_python_threads, &tid, &p->thread, BPF_ANY);
			return PERF_BPF_PYTHON_NAMED;
		}
		if (___perf_bpf_word(p->thread + python->at.thread_next, &p->thread))
			return PERF_BPF_PYTHON_NO_THREAD;
	}
	return PERF_BPF_PYTHON_NO_THREAD;
}

/* A text: `max` bytes, of its end if it is a path. */
static __always_inline __attribute__((unused)) int
___perf_bpf_python_text(const struct perf_bpf_python_walk *p, const struct perf_bpf_python *python,
			__u64 at, int is_path, __u64 max, __u8 *out, __u8 *out_kind,
			__u8 *out_bytes)
{
	__u64 type, length, left, cut = 0;
	__u32 state, kind;

	if (___perf_bpf_word(at + python->at.object_type, &type) ||
	    ___perf_bpf_word(at + python->at.unicode_length, &length) ||
	    bpf_probe_read_user(&state, sizeof(state),
				(const void *)(unsigned long)(at + python->at.unicode_state)))
		return PERF_BPF_PYTHON_UNREADABLE;
	/* Of the state, 2 bits are for something else; then kind: 3, is compact, is ASCII. */
	kind = state >> 2 & 7;
	if (type != p->base + python->text_type || !(state & 1 << 5) || length >> 32 ||
	    (kind != 1 && kind != 2 && kind != 4))
		return PERF_BPF_PYTHON_INVALID;
	left = length * kind;
	at += state & 1 << 6 ? python->at.unicode_ascii : python->at.unicode_compact;
	if (left > max) {
		cut = PERF_BPF_PYTHON_CUT;
		if (is_path)
			at += left - max;
		left = max;
	}
	*out_kind = kind | cut;
	*out_bytes = left;
	barrier_var(left);
	if (left > max)
		return PERF_BPF_PYTHON_INVALID;
	if (left && bpf_probe_read_user(out, left, (const void *)(unsigned long)at))
		return PERF_BPF_PYTHON_UNREADABLE;
	return PERF_BPF_PYTHON_NAMED;
}

/* Keeps a function; two of the same hash are told apart, as someone may have chosen their names. */
static __always_inline __attribute__((unused)) int
___perf_bpf_python_keep(struct perf_bpf_python_walk *p)
{
	const __u64 *words = (const __u64 *)&p->function;
	const __u64 *known;
	__u64 hash = 1;

	for (__u32 i = 0; i < sizeof(p->function) / 8; i++)
		___perf_bpf_hash_step(hash, words[i]);
	p->ip = hash | PERF_BPF_PYTHON_FRAME;
	known = bpf_map_lookup_elem(&perf_bpf_python_functions, &p->ip);
	if (!known) {
		if (bpf_map_update_elem(&perf_bpf_python_functions, &p->ip, &p->function,
					BPF_NOEXIST) == 0)
			return PERF_BPF_PYTHON_NAMED;
		known = bpf_map_lookup_elem(&perf_bpf_python_functions, &p->ip);
		if (!known)
			return PERF_BPF_PYTHON_NO_ROOM;
	}
	hash = 0;
	for (__u32 i = 0; i < sizeof(p->function) / 8; i++)
		hash |= known[i] ^ words[i];
	return hash ? PERF_BPF_PYTHON_NO_ROOM : PERF_BPF_PYTHON_NAMED;
}

/* The function of a frame: p->ip becomes its key; 0: it is the interpreter's own. */
__attribute__((weak)) __noinline int perf_bpf_python_name(__u32 zero)
{
	struct perf_bpf_unwind_walk *walk;
	struct perf_bpf_python_walk *p;
	struct perf_bpf_python *python;
	__u64 code, type, name, file;
	int end;

	walk = bpf_map_lookup_elem(&perf_bpf_unwind_walks, &zero);
	if (!walk)
		return PERF_BPF_PYTHON_INVALID;
	p = &walk->python;
	python = bpf_map_lookup_elem(&perf_bpf_pythons, &p->number);
	if (!python)
		return PERF_BPF_PYTHON_INVALID;
	__builtin_memset(&p->function, 0, sizeof(p->function));
	if (___perf_bpf_word(p->frame + python->at.frame_code, &code) ||
	    ___perf_bpf_word(code + python->at.object_type, &type))
		return PERF_BPF_PYTHON_UNREADABLE;
	if (type != p->base + python->code_type)
		return PERF_BPF_PYTHON_INVALID;
	if (___perf_bpf_word(code + python->at.code_name, &name) ||
	    ___perf_bpf_word(code + python->at.code_file, &file) ||
	    bpf_probe_read_user(&p->function.line, sizeof(p->function.line),
				(const void *)(unsigned long)(code + python->at.code_line)))
		return PERF_BPF_PYTHON_UNREADABLE;
	/* 3.13's _Py_InitCleanup, which runs after __init__(), has "__init__" for both. */
	if (name == file) {
		p->ip = 0;
		return PERF_BPF_PYTHON_NAMED;
	}
	end = ___perf_bpf_python_text(p, python, name, 0, sizeof(p->function.name),
				      p->function.name, &p->function.name_kind,
				      &p->function.name_bytes);
	if (end != PERF_BPF_PYTHON_NAMED)
		return end;
	end = ___perf_bpf_python_text(p, python, file, 1, sizeof(p->function.file),
				      p->function.file, &p->function.file_kind,
				      &p->function.file_bytes);
	if (end != PERF_BPF_PYTHON_NAMED)
		return end;
	return ___perf_bpf_python_keep(p);
}

/* Whether an address, relative to the base, is in the function that runs Python code. */
static __always_inline __attribute__((unused)) int
___perf_bpf_python_is_eval(const struct perf_bpf_python *python, __u64 pc)
{
	return (pc >= python->eval[0].start && pc < python->eval[0].end) ||
	       (pc >= python->eval[1].start && pc < python->eval[1].end);
}

/* The native frame takes the place of Python's: of those of this call, if it is not theirs. */
static __always_inline __attribute__((unused)) void
___perf_bpf_python_give_up(struct perf_bpf_unwind_walk *walk, int end)
{
	struct perf_bpf_python_walk *p = &walk->python;
	const __u32 n = walk->n;

	p->is_inside = 0;
	if (!p->end)
		p->end = end;
	p->has_failed = end != PERF_BPF_PYTHON_BETWEEN;
	if (n < PERF_BPF_STACK_DEPTH) {
		walk->stack.ips[n] = p->pc;
		walk->n = n + 1;
	}
}

/* Frames up to here are those of one call; another one follows if it is further in. */
static __always_inline __attribute__((unused)) void
___perf_bpf_python_call_ends(struct perf_bpf_unwind_walk *walk, __u64 anchor)
{
	struct perf_bpf_python_walk *p = &walk->python;

	p->is_inside = anchor < p->low;
	p->is_at_call = 1;
	p->n_before = walk->n;
	p->frame_before = p->frame;
}

/* One frame of Python, of the call of the interpreter at hand. */
__attribute__((weak)) __noinline int perf_bpf_python_frame(__u32 zero)
{
	struct perf_bpf_unwind_walk *walk;
	struct perf_bpf_python_walk *p;
	struct perf_bpf_python *python;
	__u64 anchor, previous;
	__u8 owner = 0, is_entry = 0;
	__u32 n;
	int end;

	walk = bpf_map_lookup_elem(&perf_bpf_unwind_walks, &zero);
	if (!walk)
		return PERF_BPF_UNWIND_BUSY;
	p = &walk->python;
	python = bpf_map_lookup_elem(&perf_bpf_pythons, &p->number);
	n = walk->n;
	if (n >= PERF_BPF_STACK_DEPTH)
		return PERF_BPF_UNWIND_LIMIT;
	if (!python || p->has_failed) {
		___perf_bpf_python_give_up(walk, PERF_BPF_PYTHON_INVALID);
		return ___PERF_BPF_UNWIND_GO_ON;
	}
	if (!p->has_thread) {
		end = perf_bpf_python_find_thread(zero);
		if (end != PERF_BPF_PYTHON_NAMED) {
			___perf_bpf_python_give_up(walk, end);
			return ___PERF_BPF_UNWIND_GO_ON;
		}
		p->has_thread = 1;
		p->frame_before = p->frame;
	}
	if (p->is_at_call && ___perf_bpf_python_call(p, python)) {
		___perf_bpf_python_give_up(walk, PERF_BPF_PYTHON_UNREADABLE);
		return ___PERF_BPF_UNWIND_GO_ON;
	}
	anchor = p->cframe;
	if (!p->frame || anchor >= p->high) {
		___perf_bpf_python_give_up(walk, PERF_BPF_PYTHON_BETWEEN);
		return ___PERF_BPF_UNWIND_GO_ON;
	}
	if ((python->at.frame_owner != PERF_BPF_PYTHON_NONE &&
	     ___perf_bpf_byte(p->frame + python->at.frame_owner, &owner)) ||
	    (python->at.frame_is_entry != PERF_BPF_PYTHON_NONE &&
	     ___perf_bpf_byte(p->frame + python->at.frame_is_entry, &is_entry)) ||
	    ___perf_bpf_word(p->frame + python->at.frame_previous, &previous)) {
		___perf_bpf_python_give_up(walk, PERF_BPF_PYTHON_UNREADABLE);
		return ___PERF_BPF_UNWIND_GO_ON;
	}
	if (owner == ___PERF_BPF_PYTHON_ON_STACK) {
		if (p->frame >= p->high) { /* the frames so far are those of another call */
			walk->n = p->n_before;
			p->is_cut = 1;
			p->frame = p->frame_before;
			___perf_bpf_python_give_up(walk, PERF_BPF_PYTHON_BETWEEN);
			return ___PERF_BPF_UNWIND_GO_ON;
		}
		anchor = p->frame;
	} else {
		end = perf_bpf_python_name(zero);
		if (end != PERF_BPF_PYTHON_NAMED) {
			___perf_bpf_python_give_up(walk, end);
			return ___PERF_BPF_UNWIND_GO_ON;
		}
		if (p->ip) {
			walk->stack.ips[n] = p->ip;
			walk->n = n + 1;
		}
	}
	p->frame = previous;
	if ((python->at.frame_owner != PERF_BPF_PYTHON_NONE &&
	     owner != ___PERF_BPF_PYTHON_ON_STACK) ||
	    (python->at.frame_is_entry != PERF_BPF_PYTHON_NONE && !is_entry))
		return ___PERF_BPF_UNWIND_GO_ON;
	if (python->at.thread_cframe != PERF_BPF_PYTHON_NONE &&
	    ___perf_bpf_word(p->cframe + python->at.cframe_previous, &p->cframe))
		p->cframe = ~0ull;
	if (!anchor) /* not known: it is that of the native frame */
		anchor = p->low;
	___perf_bpf_python_call_ends(walk, anchor);
	return ___PERF_BPF_UNWIND_GO_ON;
}

/* Before a walk. */
static __always_inline __attribute__((unused)) void
___perf_bpf_python_begin(struct perf_bpf_unwind_walk *walk)
{
	struct perf_bpf_python_walk *p = &walk->python;

	p->is_inside = p->has_thread = p->has_failed = p->is_cut = p->is_used = 0;
	p->end = PERF_BPF_PYTHON_NAMED;
	p->cframe = p->frame = p->n_before = 0;
}

/*
 * Whether the frame at hand is one of the interpreter: Python's frames will take its place, once
 * the walk knows where it ends.
 */
static __always_inline __attribute__((unused)) int
___perf_bpf_python_enter(struct perf_bpf_unwind_walk *walk, __u64 at)
{
	struct perf_bpf_python_walk *p = &walk->python;
	__u32 number = walk->mapping.python - 1;
	struct perf_bpf_python *python;

	if (!walk->mapping.python)
		return 0;
	python = bpf_map_lookup_elem(&perf_bpf_pythons, &number);
	if (!python || !___perf_bpf_python_is_eval(python, at - walk->mapping.base))
		return 0;
	if (p->is_used && p->number != number) /* two interpreters in one stack */
		return 0;
	p->is_used = 1;
	p->number = number;
	p->base = walk->mapping.base;
	p->pc = walk->pc;
	p->low = walk->sp;
	p->n_before = walk->n;
	p->frame_before = p->frame;
	return 1;
}

/* The step to the frame's caller was made, or it is the last one. */
static __always_inline __attribute__((unused)) void
___perf_bpf_python_step(struct perf_bpf_unwind_walk *walk)
{
	walk->python.high = walk->sp;
	walk->python.is_inside = 1;
	walk->python.is_at_call = 1;
}

/* After a walk: counts what became of the frames. */
static __always_inline __attribute__((unused)) void
___perf_bpf_python_finish(struct perf_bpf_unwind_walk *walk, int end)
{
	struct perf_bpf_python_walk *p = &walk->python;
	__u32 key = p->end;
	__u64 *count;

	if (!p->is_used)
		return;
	if (key == PERF_BPF_PYTHON_NAMED && end == PERF_BPF_UNWIND_LIMIT)
		key = PERF_BPF_PYTHON_CUT_OFF;
	else if (key == PERF_BPF_PYTHON_NAMED && end == PERF_BPF_UNWIND_COMPLETE && p->frame)
		key = PERF_BPF_PYTHON_INVALID; /* some are nobody's */
	count = bpf_map_lookup_elem(&perf_bpf_python_ends, &key);
	if (count)
		++*count;
	for (int i = 0; p->is_cut && i < PERF_BPF_STACK_DEPTH; i++)
		if (i >= walk->n)
			walk->stack.ips[i] = 0;
}

#endif
