/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf_event_open(2) and the records of its rings, in place of
 * <linux/perf_event.h>; see bpf.h beside it.
 */
#ifndef _LINUX_PERF_EVENT_H
#define _LINUX_PERF_EVENT_H

#include <asm/byteorder.h>
#include <linux/ioctl.h>
#include <linux/types.h>

/* ---- events ---- */

enum perf_type_id {
	PERF_TYPE_HARDWARE = 0,
	PERF_TYPE_SOFTWARE = 1,
	PERF_TYPE_TRACEPOINT = 2,
	PERF_TYPE_HW_CACHE = 3,
	PERF_TYPE_RAW = 4,
	PERF_TYPE_BREAKPOINT = 5,
};

enum perf_hw_id {
	PERF_COUNT_HW_CPU_CYCLES = 0,
	PERF_COUNT_HW_INSTRUCTIONS = 1,
	PERF_COUNT_HW_CACHE_REFERENCES = 2,
	PERF_COUNT_HW_CACHE_MISSES = 3,
	PERF_COUNT_HW_BRANCH_INSTRUCTIONS = 4,
	PERF_COUNT_HW_BRANCH_MISSES = 5,
	PERF_COUNT_HW_BUS_CYCLES = 6,
	PERF_COUNT_HW_STALLED_CYCLES_FRONTEND = 7,
	PERF_COUNT_HW_STALLED_CYCLES_BACKEND = 8,
	PERF_COUNT_HW_REF_CPU_CYCLES = 9,
};

enum perf_hw_cache_id {
	PERF_COUNT_HW_CACHE_L1D = 0,
	PERF_COUNT_HW_CACHE_L1I = 1,
	PERF_COUNT_HW_CACHE_LL = 2,
	PERF_COUNT_HW_CACHE_DTLB = 3,
	PERF_COUNT_HW_CACHE_ITLB = 4,
	PERF_COUNT_HW_CACHE_BPU = 5,
	PERF_COUNT_HW_CACHE_NODE = 6,
};

enum perf_hw_cache_op_id {
	PERF_COUNT_HW_CACHE_OP_READ = 0,
	PERF_COUNT_HW_CACHE_OP_WRITE = 1,
	PERF_COUNT_HW_CACHE_OP_PREFETCH = 2,
};

enum perf_hw_cache_op_result_id {
	PERF_COUNT_HW_CACHE_RESULT_ACCESS = 0,
	PERF_COUNT_HW_CACHE_RESULT_MISS = 1,
};

enum perf_sw_ids {
	PERF_COUNT_SW_CPU_CLOCK = 0,
	PERF_COUNT_SW_TASK_CLOCK = 1,
	PERF_COUNT_SW_PAGE_FAULTS = 2,
	PERF_COUNT_SW_CONTEXT_SWITCHES = 3,
	PERF_COUNT_SW_CPU_MIGRATIONS = 4,
	PERF_COUNT_SW_PAGE_FAULTS_MIN = 5,
	PERF_COUNT_SW_PAGE_FAULTS_MAJ = 6,
	PERF_COUNT_SW_ALIGNMENT_FAULTS = 7,
	PERF_COUNT_SW_EMULATION_FAULTS = 8,
	PERF_COUNT_SW_DUMMY = 9,
	PERF_COUNT_SW_BPF_OUTPUT = 10,
	PERF_COUNT_SW_CGROUP_SWITCHES = 11, /* 5.13 */
};

/* ---- what a sample holds ---- */

enum perf_event_sample_format {
	PERF_SAMPLE_IP = 1U << 0,
	PERF_SAMPLE_TID = 1U << 1,
	PERF_SAMPLE_TIME = 1U << 2,
	PERF_SAMPLE_ADDR = 1U << 3,
	PERF_SAMPLE_READ = 1U << 4,
	PERF_SAMPLE_CALLCHAIN = 1U << 5,
	PERF_SAMPLE_ID = 1U << 6,
	PERF_SAMPLE_CPU = 1U << 7,
	PERF_SAMPLE_PERIOD = 1U << 8,
	PERF_SAMPLE_STREAM_ID = 1U << 9,
	PERF_SAMPLE_RAW = 1U << 10,
	PERF_SAMPLE_BRANCH_STACK = 1U << 11,
	PERF_SAMPLE_REGS_USER = 1U << 12,
	PERF_SAMPLE_STACK_USER = 1U << 13,
	PERF_SAMPLE_WEIGHT = 1U << 14,
	PERF_SAMPLE_DATA_SRC = 1U << 15,
	PERF_SAMPLE_IDENTIFIER = 1U << 16,
	PERF_SAMPLE_TRANSACTION = 1U << 17,
	PERF_SAMPLE_REGS_INTR = 1U << 18,
	PERF_SAMPLE_PHYS_ADDR = 1U << 19,
	PERF_SAMPLE_AUX = 1U << 20,
	PERF_SAMPLE_CGROUP = 1U << 21,
	PERF_SAMPLE_DATA_PAGE_SIZE = 1U << 22, /* 5.11 */
	PERF_SAMPLE_CODE_PAGE_SIZE = 1U << 23, /* 5.11 */
	PERF_SAMPLE_WEIGHT_STRUCT = 1U << 24,  /* 5.12 */
};
#define PERF_SAMPLE_WEIGHT_TYPE (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)

enum perf_branch_sample_type {
	PERF_SAMPLE_BRANCH_USER = 1U << 0,
	PERF_SAMPLE_BRANCH_KERNEL = 1U << 1,
	PERF_SAMPLE_BRANCH_HV = 1U << 2,
	PERF_SAMPLE_BRANCH_ANY = 1U << 3,
	PERF_SAMPLE_BRANCH_ANY_CALL = 1U << 4,
	PERF_SAMPLE_BRANCH_ANY_RETURN = 1U << 5,
	PERF_SAMPLE_BRANCH_IND_CALL = 1U << 6,
	PERF_SAMPLE_BRANCH_ABORT_TX = 1U << 7,
	PERF_SAMPLE_BRANCH_IN_TX = 1U << 8,
	PERF_SAMPLE_BRANCH_NO_TX = 1U << 9,
	PERF_SAMPLE_BRANCH_COND = 1U << 10,
	PERF_SAMPLE_BRANCH_CALL_STACK = 1U << 11,
	PERF_SAMPLE_BRANCH_IND_JUMP = 1U << 12,
	PERF_SAMPLE_BRANCH_CALL = 1U << 13,
	PERF_SAMPLE_BRANCH_NO_FLAGS = 1U << 14,
	PERF_SAMPLE_BRANCH_NO_CYCLES = 1U << 15,
	PERF_SAMPLE_BRANCH_TYPE_SAVE = 1U << 16,
	PERF_SAMPLE_BRANCH_HW_INDEX = 1U << 17,
	PERF_SAMPLE_BRANCH_PRIV_SAVE = 1U << 18, /* 6.1 */
	PERF_SAMPLE_BRANCH_COUNTERS = 1U << 19,	 /* 6.8 */
};

enum perf_sample_regs_abi {
	PERF_SAMPLE_REGS_ABI_NONE = 0,
	PERF_SAMPLE_REGS_ABI_32 = 1,
	PERF_SAMPLE_REGS_ABI_64 = 2,
};

enum perf_event_read_format {
	PERF_FORMAT_TOTAL_TIME_ENABLED = 1U << 0,
	PERF_FORMAT_TOTAL_TIME_RUNNING = 1U << 1,
	PERF_FORMAT_ID = 1U << 2,
	PERF_FORMAT_GROUP = 1U << 3,
	PERF_FORMAT_LOST = 1U << 4, /* 6.0 */
};

/* ---- the argument of perf_event_open(2), of 5.13: 128 bytes ---- */

#define PERF_ATTR_SIZE_VER0 64

struct perf_event_attr {
	__u32 type;
	__u32 size;
	__u64 config;
	union {
		__u64 sample_period;
		__u64 sample_freq;
	};
	__u64 sample_type;
	__u64 read_format;
	__u64 disabled : 1;
	__u64 inherit : 1;
	__u64 pinned : 1;
	__u64 exclusive : 1;
	__u64 exclude_user : 1;
	__u64 exclude_kernel : 1;
	__u64 exclude_hv : 1;
	__u64 exclude_idle : 1;
	__u64 mmap : 1;
	__u64 comm : 1;
	__u64 freq : 1;
	__u64 inherit_stat : 1;
	__u64 enable_on_exec : 1;
	__u64 task : 1;
	__u64 watermark : 1;
	__u64 precise_ip : 2;
	__u64 mmap_data : 1;
	__u64 sample_id_all : 1;
	__u64 exclude_host : 1;
	__u64 exclude_guest : 1;
	__u64 exclude_callchain_kernel : 1;
	__u64 exclude_callchain_user : 1;
	__u64 mmap2 : 1;
	__u64 comm_exec : 1;
	__u64 use_clockid : 1;
	__u64 context_switch : 1;
	__u64 write_backward : 1;
	__u64 namespaces : 1;
	__u64 ksymbol : 1;
	__u64 bpf_event : 1;
	__u64 aux_output : 1;
	__u64 cgroup : 1;
	__u64 text_poke : 1;
	__u64 build_id : 1;	  /* 5.12 */
	__u64 inherit_thread : 1; /* 5.13 */
	__u64 remove_on_exec : 1; /* 5.13 */
	__u64 sigtrap : 1;	  /* 5.13 */
	__u64 __reserved_1 : 26;
	union {
		__u32 wakeup_events;
		__u32 wakeup_watermark;
	};
	__u32 bp_type;
	union {
		__u64 bp_addr;
		__u64 kprobe_func;
		__u64 uprobe_path;
		__u64 config1;
	};
	union {
		__u64 bp_len;
		__u64 kprobe_addr;
		__u64 probe_offset;
		__u64 config2;
	};
	__u64 branch_sample_type;
	__u64 sample_regs_user;
	__u32 sample_stack_user;
	__s32 clockid;
	__u64 sample_regs_intr;
	__u32 aux_watermark;
	__u16 sample_max_stack;
	__u16 __reserved_2;
	__u32 aux_sample_size;
	__u32 __reserved_3;
	__u64 sig_data; /* 5.13 */
};

#define PERF_FLAG_FD_NO_GROUP (1UL << 0)
#define PERF_FLAG_FD_OUTPUT   (1UL << 1)
#define PERF_FLAG_PID_CGROUP  (1UL << 2)
#define PERF_FLAG_FD_CLOEXEC  (1UL << 3)

struct perf_event_query_bpf {
	__u32 ids_len; /* room */
	__u32 prog_cnt;
	__u32 ids[];
};

#define PERF_EVENT_IOC_ENABLE	    _IO('$', 0)
#define PERF_EVENT_IOC_DISABLE	    _IO('$', 1)
#define PERF_EVENT_IOC_SET_OUTPUT   _IO('$', 5)
#define PERF_EVENT_IOC_SET_FILTER   _IOW('$', 6, char *)
#define PERF_EVENT_IOC_ID	    _IOR('$', 7, __u64 *)
#define PERF_EVENT_IOC_SET_BPF	    _IOW('$', 8, __u32)
#define PERF_EVENT_IOC_PAUSE_OUTPUT _IOW('$', 9, __u32)
#define PERF_EVENT_IOC_QUERY_BPF    _IOWR('$', 10, struct perf_event_query_bpf *)

/* ---- the ring ---- */

/* The page before the data; man 2 perf_event_open says how it is read. */
struct perf_event_mmap_page {
	__u32 version;
	__u32 compat_version;
	__u32 lock;
	__u32 index;
	__s64 offset;
	__u64 time_enabled;
	__u64 time_running;
	__u64 capabilities;
	__u16 pmc_width;
	__u16 time_shift;
	__u32 time_mult;
	__u64 time_offset;
	__u64 time_zero;
	__u32 size;
	__u32 __reserved_1;
	__u64 time_cycles;
	__u64 time_mask;
	__u8 __reserved[116 * 8];
	__u64 data_head;
	__u64 data_tail;
	__u64 data_offset;
	__u64 data_size;
	__u64 aux_head;
	__u64 aux_tail;
	__u64 aux_offset;
	__u64 aux_size;
};

/* ---- records ---- */

struct perf_event_header {
	__u32 type;
	__u16 misc;
	__u16 size;
};

enum perf_event_type {
	PERF_RECORD_MMAP = 1,
	PERF_RECORD_LOST = 2,
	PERF_RECORD_COMM = 3,
	PERF_RECORD_EXIT = 4,
	PERF_RECORD_THROTTLE = 5,
	PERF_RECORD_UNTHROTTLE = 6,
	PERF_RECORD_FORK = 7,
	PERF_RECORD_READ = 8,
	PERF_RECORD_SAMPLE = 9,
	PERF_RECORD_MMAP2 = 10,
	PERF_RECORD_AUX = 11,
	PERF_RECORD_ITRACE_START = 12,
	PERF_RECORD_LOST_SAMPLES = 13,
	PERF_RECORD_SWITCH = 14,
	PERF_RECORD_SWITCH_CPU_WIDE = 15,
	PERF_RECORD_NAMESPACES = 16,
	PERF_RECORD_KSYMBOL = 17,
	PERF_RECORD_BPF_EVENT = 18,
	PERF_RECORD_CGROUP = 19,
	PERF_RECORD_TEXT_POKE = 20,
	PERF_RECORD_AUX_OUTPUT_HW_ID = 21,   /* 5.16 */
	PERF_RECORD_CALLCHAIN_DEFERRED = 22, /* 6.19 */
	PERF_RECORD_MAX = 23,
};

enum perf_record_ksymbol_type {
	PERF_RECORD_KSYMBOL_TYPE_UNKNOWN = 0,
	PERF_RECORD_KSYMBOL_TYPE_BPF = 1,
	PERF_RECORD_KSYMBOL_TYPE_OOL = 2,
};

enum perf_bpf_event_type {
	PERF_BPF_EVENT_UNKNOWN = 0,
	PERF_BPF_EVENT_PROG_LOAD = 1,
	PERF_BPF_EVENT_PROG_UNLOAD = 2,
};

/* misc of the header */
#define PERF_RECORD_MISC_CPUMODE_MASK	    (7 << 0)
#define PERF_RECORD_MISC_CPUMODE_UNKNOWN    (0 << 0)
#define PERF_RECORD_MISC_KERNEL		    (1 << 0)
#define PERF_RECORD_MISC_USER		    (2 << 0)
#define PERF_RECORD_MISC_HYPERVISOR	    (3 << 0)
#define PERF_RECORD_MISC_GUEST_KERNEL	    (4 << 0)
#define PERF_RECORD_MISC_GUEST_USER	    (5 << 0)
#define PERF_RECORD_MISC_MMAP_DATA	    (1 << 13)
#define PERF_RECORD_MISC_COMM_EXEC	    (1 << 13)
#define PERF_RECORD_MISC_FORK_EXEC	    (1 << 13)
#define PERF_RECORD_MISC_SWITCH_OUT	    (1 << 13)
#define PERF_RECORD_MISC_EXACT_IP	    (1 << 14)
#define PERF_RECORD_MISC_SWITCH_OUT_PREEMPT (1 << 14)
#define PERF_RECORD_MISC_MMAP_BUILD_ID	    (1 << 14) /* 5.12 */

#define PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER (1 << 0)

/* Among the addresses of a call chain: what those that follow belong to. */
enum perf_callchain_context {
	PERF_CONTEXT_HV = (__u64)-32,
	PERF_CONTEXT_KERNEL = (__u64)-128,
	PERF_CONTEXT_USER = (__u64)-512,
	PERF_CONTEXT_USER_DEFERRED = (__u64)-640, /* 6.19 */
	PERF_CONTEXT_GUEST = (__u64)-2048,
	PERF_CONTEXT_GUEST_KERNEL = (__u64)-2176,
	PERF_CONTEXT_GUEST_USER = (__u64)-2560,
	PERF_CONTEXT_MAX = (__u64)-4095,
};

#define PERF_MAX_STACK_DEPTH 127

#endif
