/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks of processes whose binaries have no frame pointers: a program that includes this header,
 * before <bpf/perf_bpf_prog.h>, supports perf-bpf run --call-graph dwarf.
 *
 *	#include <bpf/perf_bpf_unwind.h>
 *	#include <bpf/perf_bpf_prog.h>
 *
 *	PERF_BPF_STACKS(samples, 16384, "samples", "on CPU");
 *	… perf_bpf_stack_add(ctx, samples, 1);
 *
 * With that option, PERF_BPF_STACKS() takes user stacks by perf_bpf_user_stack(); without it, by
 * bpf_get_stack(), which follows frame pointers. Programs that keep stacks in another way call
 * perf_bpf_user_stack() themselves.
 *
 * How it works: perf-bpf run compiles the unwind information of each file that a sampled process
 * has mapped into a table, from .eh_frame (or .debug_frame), which has for each address the rule
 * that leads from a frame to its caller. The program finds the mapping of an address, the row of
 * its table, and reads the return address and the saved frame pointer from the stack. Tables are
 * loaded at the start for the processes of -p and -t, else when a process is first sampled: the
 * program asks for them through a ring. Until they are
 * there, and in other loaders, stacks are those of bpf_get_stack(). Code without unwind
 * information, as of JIT compilers, is walked by its frame pointers.
 *
 * The walk needs Linux 5.8. It is verified once, as a global function. Nothing of it depends on the
 * context: the registers of the process are those at its entry into the kernel, which each task
 * has at the end of its kernel stack.
 *
 * Where the interpreter of Python runs, its functions are in the stack in place of the
 * interpreter's frames: see <bpf/perf_bpf_python.h>. They are not addresses but keys, with
 * PERF_BPF_PYTHON_FRAME, of the map perf_bpf_python_functions.
 */
#ifndef PERF_BPF_UNWIND_H
#define PERF_BPF_UNWIND_H

#ifdef PERF_BPF_PROG_H
#error "include <bpf/perf_bpf_unwind.h> before <bpf/perf_bpf_prog.h>"
#endif
#include "perf_bpf_prog.h"
#include "perf_bpf_python_types.h"
#include "perf_bpf_unwind_types.h"

/* Set by perf-bpf run --call-graph dwarf, which also gives the maps their sizes. */
static const volatile __u32 perf_bpf_unwind_on = 0;

#define PERF_BPF_UNWIND_ASK_NS 5000000 /* a process is asked for at most so often */

/* Of the interpreter's frames (<bpf/perf_bpf_python.h>). */
struct perf_bpf_python_walk {
	__u64 base;		   /* of its file */
	__u64 interpreter, thread; /* of a search */
	__u64 frame, cframe;	   /* the next ones */
	__u64 pc, low, high;	   /* the native frame: its address, and where it is */
	__u64 frame_before;	   /* where the frames of the call at hand begin */
	__u64 ip;		   /* of a frame, for the stack */
	__u32 number;		   /* of perf_bpf_pythons */
	__u32 n_before;		   /* frames of the stack before those of the call at hand */
	__u32 end;		   /* enum perf_bpf_python_end */
	__u8 is_used, has_thread, has_failed;
	__u8 is_inside;	 /* frames of Python are next */
	__u8 is_at_call; /* they are the innermost ones of a call */
	__u8 is_cut;	 /* frames were removed */
	struct perf_bpf_python_function function;
};

/* The state of a walk: in a map, as it is too large for the stack of a program. */
struct perf_bpf_unwind_walk {
	__u64 busy;
	__u64 asked; /* for room */
	__u64 pc, sp, fp, lr;
	struct perf_bpf_unwind_mapping mapping; /* of the last frame */
	__u32 pid;
	__u32 first, n_mappings; /* of the process */
	__u32 low, high;	 /* of a search */
	__u32 n;
	__u32 is_exact; /* pc is not a return address: the frame was interrupted */
	__u32 end;	/* enum perf_bpf_unwind_end */
	struct perf_bpf_stack stack;
	struct perf_bpf_stack none; /* always 0 */
	struct perf_bpf_python_walk python;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct perf_bpf_unwind_walk);
} perf_bpf_unwind_walks SEC(".maps") PERF_BPF_SHOW("none");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct perf_bpf_unwind_block);
} perf_bpf_unwind_rows SEC(".maps") PERF_BPF_SHOW("none");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct perf_bpf_unwind_rule);
} perf_bpf_unwind_rules SEC(".maps") PERF_BPF_SHOW("none");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct perf_bpf_unwind_mapping);
} perf_bpf_unwind_maps SEC(".maps") PERF_BPF_SHOW("none");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct perf_bpf_unwind_process);
} perf_bpf_unwind_tasks SEC(".maps") PERF_BPF_SHOW("none");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PERF_BPF_UNWIND_ENDS);
	__type(key, __u32);
	__type(value, __u64);
} perf_bpf_unwind_ends SEC(".maps") PERF_BPF_SHOW("none");

/* The ids of processes whose tables are needed. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} perf_bpf_unwind_asks SEC(".maps") PERF_BPF_SHOW("none");

/* The kernel's types, with the members that are read. */
struct task_struct___unwind {
	void *stack, *mm;
} __attribute__((preserve_access_index));
struct mm_struct___unwind {
	unsigned long start_stack;
} __attribute__((preserve_access_index));
#if defined(__TARGET_ARCH_arm64)
struct user_pt_regs___unwind {
	__u64 regs[31];
	__u64 sp, pc, pstate;
};
struct pt_regs___unwind {
	struct user_pt_regs___unwind user_regs;
} __attribute__((preserve_access_index));
#else
struct pt_regs___unwind {
	unsigned long bp, ip, cs, sp;
} __attribute__((preserve_access_index));
#endif

enum bpf_func_id___unwind {
	BPF_FUNC_task_pt_regs___unwind = 175,
	BPF_FUNC_get_current_task_btf___unwind = 158,
};

#define ___PERF_BPF_USER_32_CS	 0x23 /* __USER32_CS of asm/segment.h */
#define ___PERF_BPF_THREAD_SIZE	 16384
#define ___PERF_BPF_MAX_FRAME	 0x4000 /* of a function that keeps frame pointers */
#define ___PERF_BPF_UNWIND_GO_ON (-1)	/* besides enum perf_bpf_unwind_end */
/* Two for each frame: a call of the interpreter is one, and so is what is between two. */
#define ___PERF_BPF_UNWIND_STEPS (2 * PERF_BPF_STACK_DEPTH)

static __always_inline __attribute__((unused)) int ___perf_bpf_word(__u64 addr, __u64 *v)
{
	return bpf_probe_read_user(v, sizeof(*v), (const void *)(unsigned long)addr);
}

#include "perf_bpf_python.h"

/*
 * Where a task keeps its registers of user space. Before 5.15, they are at the end of its kernel
 * stack; how large that is has not changed until then.
 */
static __always_inline __attribute__((unused)) const void *___perf_bpf_user_regs(void)
{
	const struct task_struct___unwind *task;

	if (bpf_core_enum_value_exists(enum bpf_func_id___unwind, BPF_FUNC_task_pt_regs___unwind))
		return (const void *)bpf_task_pt_regs((void *)bpf_get_current_task_btf());
	task = (const void *)bpf_get_current_task();
	return (const char *)BPF_CORE_READ(task, stack) + ___PERF_BPF_THREAD_SIZE -
	       bpf_core_type_size(struct pt_regs___unwind);
}

/* The innermost frame; 0: it is not understood (walk->end). */
static __always_inline __attribute__((unused)) int
___perf_bpf_unwind_begin(struct perf_bpf_unwind_walk *walk)
{
	const struct pt_regs___unwind *regs = ___perf_bpf_user_regs();

#if defined(__TARGET_ARCH_arm64)
	walk->pc = BPF_CORE_READ(regs, user_regs.pc);
	walk->sp = BPF_CORE_READ(regs, user_regs.sp);
	walk->fp = BPF_CORE_READ(regs, user_regs.regs[29]);
	walk->lr = BPF_CORE_READ(regs, user_regs.regs[30]);
	if (BPF_CORE_READ(regs, user_regs.pstate) & 0x10)
		walk->end = PERF_BPF_UNWIND_32_BIT;
#else
	walk->pc = BPF_CORE_READ(regs, ip);
	walk->sp = BPF_CORE_READ(regs, sp);
	walk->fp = BPF_CORE_READ(regs, bp);
	walk->lr = 0;
	if (BPF_CORE_READ(regs, cs) == ___PERF_BPF_USER_32_CS)
		walk->end = PERF_BPF_UNWIND_32_BIT;
#endif
	return walk->end == PERF_BPF_UNWIND_COMPLETE;
}

/* Asks perf-bpf run for the mappings of a process; *asked: the last time. */
static __always_inline __attribute__((unused)) void ___perf_bpf_unwind_ask(__u64 *asked, __u32 pid)
{
	const __u64 now = bpf_ktime_get_ns();

	if (now - *asked < PERF_BPF_UNWIND_ASK_NS)
		return;
	*asked = now;
	bpf_ringbuf_output(&perf_bpf_unwind_asks, &pid, sizeof(pid), 0);
}

/* The mappings of the process; 0: they are not loaded yet. */
static __always_inline __attribute__((unused)) int
___perf_bpf_unwind_find_task(struct perf_bpf_unwind_walk *walk, __u64 mm)
{
	struct perf_bpf_unwind_process *task;
	__u32 pid = walk->pid;

	task = bpf_map_lookup_elem(&perf_bpf_unwind_tasks, &pid);
	if (!task) {
		struct perf_bpf_unwind_process first = {.mm = mm};

		bpf_map_update_elem(&perf_bpf_unwind_tasks, &pid, &first, BPF_NOEXIST);
		task = bpf_map_lookup_elem(&perf_bpf_unwind_tasks, &pid);
		if (!task) {
			___perf_bpf_unwind_ask(&walk->asked, PERF_BPF_UNWIND_NO_ROOM);
			return 0;
		}
	}
	if (!task->mm && task->stack) { /* loaded before the first sample */
		const struct mm_struct___unwind *memory = (const void *)(unsigned long)mm;

		if (BPF_CORE_READ(memory, start_stack) == task->stack)
			task->mm = mm;
		task->stack = 0;
	}
	if (task->mm != mm) { /* it has run execve(2), or is another process */
		task->n = 0;
		task->asked = 0;
		task->mm = mm;
	}
	walk->first = task->first;
	walk->n_mappings = task->n;
	if (task->n)
		return 1;
	___perf_bpf_unwind_ask(&task->asked, pid);
	return 0;
}

/*
 * Whether an address is in the mapping at hand, or in another one of the process, which is at hand
 * then. The limits of the search are in the map: the verifier knows nothing about what it reads
 * from there, so all ways through the loop look alike to it.
 */
static __always_inline __attribute__((unused)) int
___perf_bpf_unwind_find_mapping(struct perf_bpf_unwind_walk *walk, __u64 at)
{
	struct perf_bpf_unwind_mapping *m;
	__u32 mid;

	if (at >= walk->mapping.start && at < walk->mapping.end)
		return 1;
	walk->low = walk->first;
	walk->high = walk->first + walk->n_mappings;
	for (int i = 0; i < 17; i++) {
		if (walk->low >= walk->high)
			return 0;
		mid = walk->low + (walk->high - walk->low) / 2;
		m = bpf_map_lookup_elem(&perf_bpf_unwind_maps, &mid);
		if (!m || m->pid != walk->pid)
			return 0;
		if (at < m->start) {
			walk->high = mid;
		} else if (at >= m->end) {
			walk->low = mid + 1;
		} else {
			walk->mapping = *m;
			return at >= walk->mapping.start && at < walk->mapping.end;
		}
	}
	return 0;
}

/* The number of the rule for an address in the mapping at hand. */
static __always_inline __attribute__((unused)) __u32
___perf_bpf_unwind_find_rule(struct perf_bpf_unwind_walk *walk, __u64 at)
{
	const __u64 wide = at - walk->mapping.base;
	const __u32 pc = (__u32)wide;
	struct perf_bpf_unwind_block *block;
	__u32 mid, row = 0;

	if (!walk->mapping.n_blocks || at < walk->mapping.base || wide >= 0xffffffff)
		return 0;
	/* The last block that does not start behind it. */
	walk->low = walk->mapping.first_block;
	walk->high = walk->mapping.first_block + walk->mapping.n_blocks;
	for (int i = 0; i < 20; i++) {
		if (walk->low >= walk->high)
			break;
		mid = walk->low + (walk->high - walk->low) / 2;
		block = bpf_map_lookup_elem(&perf_bpf_unwind_rows, &mid);
		if (!block)
			return 0;
		if (block->rows[0].pc <= pc)
			walk->low = mid + 1;
		else
			walk->high = mid;
	}
	if (walk->low <= walk->mapping.first_block)
		return 0;
	mid = walk->low - 1;
	block = bpf_map_lookup_elem(&perf_bpf_unwind_rows, &mid);
	if (!block)
		return 0;
	/* And in it, the last row. */
	for (__u32 step = PERF_BPF_UNWIND_BLOCK / 2; step; step /= 2) {
		const __u32 next = (row + step) & (PERF_BPF_UNWIND_BLOCK - 1);

		row = block->rows[next].pc <= pc ? next : row;
		barrier_var(row);
		row &= PERF_BPF_UNWIND_BLOCK - 1;
	}
	return block->rows[row].rule;
}

/* The saved value of a register; 0: it cannot be read. */
static __always_inline __attribute__((unused)) int
___perf_bpf_unwind_saved(const struct perf_bpf_unwind_walk *walk, __u32 where, __u64 cfa,
			 __s64 offset, __u64 *v)
{
	__u64 addr = where == PERF_BPF_REG_AT_CFA  ? cfa
		     : where == PERF_BPF_REG_AT_SP ? walk->sp
						   : walk->fp;

	addr += offset;
	/* It was popped: LLVM's unwind information of a function's last instructions lacks that. */
	if (addr < walk->sp)
		return 1;
	return !___perf_bpf_word(addr, v);
}

/* By the frame pointer, if what it leads to looks like a frame that is called from code. */
static __always_inline __attribute__((unused)) int
___perf_bpf_unwind_by_fp(struct perf_bpf_unwind_walk *walk)
{
	const __u64 fp = walk->fp;
	__u64 caller_fp, pc;

	if (fp & 7 || fp < walk->sp || fp - walk->sp > ___PERF_BPF_MAX_FRAME ||
	    ___perf_bpf_word(fp, &caller_fp) || ___perf_bpf_word(fp + 8, &pc))
		return PERF_BPF_UNWIND_NO_RULES;
#if defined(__TARGET_ARCH_arm64)
	pc &= (1ull << 48) - 1;
#endif
	if (!pc)
		return PERF_BPF_UNWIND_COMPLETE;
	if (caller_fp && caller_fp <= fp)
		return PERF_BPF_UNWIND_NO_RULES;
	walk->sp = fp + 16;
	walk->fp = caller_fp;
	walk->pc = pc;
	walk->is_exact = 0;
	return ___PERF_BPF_UNWIND_GO_ON;
}

static __always_inline __attribute__((unused)) int
___perf_bpf_unwind_by_rule(struct perf_bpf_unwind_walk *walk,
			   const struct perf_bpf_unwind_rule *rule)
{
	const __u32 kind = rule->cfa;
	const int is_saved = rule->ra != PERF_BPF_REG_SAME;
	__u64 cfa, ra = walk->lr, fp = walk->fp;

	if (kind == PERF_BPF_CFA_END)
		return PERF_BPF_UNWIND_COMPLETE;
	cfa = (kind == PERF_BPF_CFA_FP || kind == PERF_BPF_CFA_AT_FP ? walk->fp : walk->sp) +
	      rule->cfa_offset;
	if (kind == PERF_BPF_CFA_AT_FP || kind == PERF_BPF_CFA_AT_SP) {
		if (___perf_bpf_word(cfa, &cfa))
			return PERF_BPF_UNWIND_DAMAGED;
		cfa += rule->cfa_more;
	} else if (kind == PERF_BPF_CFA_PLT && (walk->pc & 15) >= (__u32)rule->fp_offset) {
		cfa += 8;
	}
	if (is_saved && !___perf_bpf_unwind_saved(walk, rule->ra, cfa, rule->ra_offset, &ra))
		return PERF_BPF_UNWIND_DAMAGED;
	if (rule->fp == PERF_BPF_REG_LOST)
		fp = 0;
	else if (rule->fp != PERF_BPF_REG_SAME)
		___perf_bpf_unwind_saved(walk, rule->fp, cfa, rule->fp_offset, &fp);
#if defined(__TARGET_ARCH_arm64)
	ra &= (1ull << 48) - 1; /* without its pointer authentication code */
#endif
	if (!ra)
		return is_saved && cfa > walk->sp ? PERF_BPF_UNWIND_COMPLETE
						  : PERF_BPF_UNWIND_DAMAGED;
	if (!rule->is_signal && cfa <= walk->sp) {
#if defined(__TARGET_ARCH_arm64)
		if (cfa < walk->sp || ra == walk->pc)
#endif
			return PERF_BPF_UNWIND_DAMAGED;
	}
	walk->sp = cfa;
	walk->fp = fp;
	walk->pc = ra;
	walk->lr = 0;
	walk->is_exact = rule->is_signal;
	return ___PERF_BPF_UNWIND_GO_ON;
}

/* Its caller's registers take the place of those of a frame. */
static __always_inline __attribute__((unused)) int
___perf_bpf_unwind_step(struct perf_bpf_unwind_walk *walk, __u64 at)
{
	struct perf_bpf_unwind_rule *rule;
	__u32 number = ___perf_bpf_unwind_find_rule(walk, at);

	/* In a system call that does not return (rt_sigreturn), it is behind its function. */
	if (!number && walk->is_exact)
		number = ___perf_bpf_unwind_find_rule(walk, at - 1);
	if (!number)
		return ___perf_bpf_unwind_by_fp(walk);
	rule = bpf_map_lookup_elem(&perf_bpf_unwind_rules, &number);
	if (!rule)
		return PERF_BPF_UNWIND_DAMAGED;
	return ___perf_bpf_unwind_by_rule(walk, rule);
}

/* One frame: its address is kept, and the walk goes on to its caller. */
__attribute__((weak)) __noinline int perf_bpf_unwind_frame(__u32 zero)
{
	struct perf_bpf_unwind_walk *walk;
	int end, is_python;
	__u32 n;
	__u64 at;

	walk = bpf_map_lookup_elem(&perf_bpf_unwind_walks, &zero);
	if (!walk)
		return PERF_BPF_UNWIND_BUSY;
	n = walk->n;
	if (n >= PERF_BPF_STACK_DEPTH)
		return PERF_BPF_UNWIND_LIMIT;
	/* A call may be the last instruction of a function. */
	at = walk->pc - !walk->is_exact;
	if (!___perf_bpf_unwind_find_mapping(walk, at)) {
		struct perf_bpf_unwind_process *task;
		__u32 pid = walk->pid;

		task = bpf_map_lookup_elem(&perf_bpf_unwind_tasks, &pid);
		if (task)
			___perf_bpf_unwind_ask(&task->asked, pid);
		return PERF_BPF_UNWIND_NOT_LOADED;
	}
	is_python = ___perf_bpf_python_enter(walk, at);
	if (!is_python) {
		walk->stack.ips[n] = walk->pc;
		walk->n = n + 1;
	}
	end = ___perf_bpf_unwind_step(walk, at);
	if (!is_python)
		return end;
	if (end == ___PERF_BPF_UNWIND_GO_ON) {
		___perf_bpf_python_step(walk);
		return end;
	}
	walk->stack.ips[n] = walk->pc;
	walk->n = n + 1;
	return end;
}

/* The walk; returns the number of frames. */
__attribute__((weak)) __noinline int perf_bpf_unwind_stack(__u32 zero)
{
	const struct task_struct___unwind *current = (const void *)bpf_get_current_task();
	const __u64 mm = (unsigned long)BPF_CORE_READ(current, mm);
	struct perf_bpf_unwind_walk *walk;
	int end = PERF_BPF_UNWIND_LIMIT;
	__u64 *count;
	__u32 key;

	walk = bpf_map_lookup_elem(&perf_bpf_unwind_walks, &zero);
	if (!walk || !mm) /* a thread of the kernel */
		return 0;
	walk->n = 0;
	walk->mapping.start = walk->mapping.end = 0;
	walk->is_exact = 1;
	walk->end = PERF_BPF_UNWIND_COMPLETE;
	walk->pid = perf_bpf_pid_tgid() >> 32;
	bpf_probe_read_kernel(&walk->stack, sizeof(walk->stack), &walk->none);
	___perf_bpf_python_begin(walk);
	if (!___perf_bpf_unwind_begin(walk))
		end = walk->end;
	else if (!___perf_bpf_unwind_find_task(walk, mm))
		end = PERF_BPF_UNWIND_NOT_LOADED;
	else
		for (int i = 0; i < ___PERF_BPF_UNWIND_STEPS; i++) {
			if (walk->python.is_inside)
				end = perf_bpf_python_frame(zero);
			else
				end = perf_bpf_unwind_frame(zero);
			if (end != ___PERF_BPF_UNWIND_GO_ON)
				break;
		}
	___perf_bpf_python_finish(walk, end);
	key = end;
	count = bpf_map_lookup_elem(&perf_bpf_unwind_ends, &key);
	if (count)
		++*count;
	return walk->n;
}

/*
 * Writes the addresses of the current process's user stack, the innermost first, to ips, which has
 * room for PERF_BPF_STACK_DEPTH of them; those that are not needed become 0. Returns their size in
 * bytes. 0: the stack was not walked, as without --call-graph dwarf, and ips was not changed.
 */
static __always_inline __attribute__((unused)) long perf_bpf_user_stack(__u64 *ips)
{
	struct perf_bpf_unwind_walk *walk;
	__u32 zero = 0, busy = PERF_BPF_UNWIND_BUSY;
	int n = 0;

	if (!perf_bpf_unwind_on)
		return 0;
	walk = bpf_map_lookup_elem(&perf_bpf_unwind_walks, &zero);
	if (!walk)
		return 0;
	if (walk->busy) {
		__u64 *count = bpf_map_lookup_elem(&perf_bpf_unwind_ends, &busy);

		if (count)
			++*count;
		return 0;
	}
	walk->busy = 1;
	barrier();
	n = perf_bpf_unwind_stack(zero);
	if (n > 0)
		bpf_probe_read_kernel(ips, sizeof(struct perf_bpf_stack), &walk->stack);
	barrier();
	walk->busy = 0;
	if (n <= 0 || n > PERF_BPF_STACK_DEPTH)
		return 0;
	return 8 * n;
}

#endif
