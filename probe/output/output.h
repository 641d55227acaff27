/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program of our own for a probe that brings none: it puts the arguments out
 * into a recording, as the raw bytes of a sample, laid out as the kernel lays
 * out a tracepoint's. So the sample's description is that of a tracepoint too, the
 * text of a tracefs "format" file, and who can read recorded tracepoints (perf
 * script, perf report, this program) reads the arguments by their names.
 *
 *	name=\"a.txt\" count=12
 *
 * Pure: points in; a layout, a text and the bytes of a BPF object out.
 */
#ifndef PB_PROBE_OUTPUT_OUTPUT_H
#define PB_PROBE_OUTPUT_OUTPUT_H

#include <linux/bpf.h>

#include "lib/base/error.h"
#include "lib/base/strbuf.h"
#include "lib/base/vec.h"
#include "probe/point/point.h"

/* Where an argument stands in the sample's bytes. */
struct output_field {
	char *name;
	enum fetch_kind kind;
	bool hex;
	uint32_t offset, size; /* a small signed number is widened to 4 bytes */
	bool is_open;	       /* no probe point has said yet which type it has */
};

struct output_layout {
	VEC(struct output_field) fields;
	uint32_t ip_offset;  /* __u64: the address of the point that was hit; 0: not known */
	uint32_t err_offset; /* __u64, bit i: argument i could not be read */
	bool many;	     /* functions: the text begins with the one that was hit */
	uint32_t size;	     /* of all, with the 8 bytes common to all tracepoints */
};

/* No sample is larger; strings get what is left, OUTPUT_STRING at most. */
#define OUTPUT_MAX    384
#define OUTPUT_STRING 128

void output_layout_deinit(struct output_layout *layout);
#define _cleanup_output_layout_ _cleanup_(output_layout_deinit)

/* One for each combination of types: a sample has the layout of its point. */
struct output_layouts {
	VEC(struct output_layout) v; /* at least one */
	uint32_t *of;		     /* each point's, a number in v */
};

#define OUTPUT_LAYOUTS_MAX 64

/*
 * The layouts of all arguments of the points; layouts is all zero. E2BIG: they are
 * more bytes than a BPF program can hold, or more layouts than OUTPUT_LAYOUTS_MAX.
 */
struct error *output_layouts_of(const struct probe_points *points, struct output_layouts *layouts);
void output_layouts_deinit(struct output_layouts *layouts);
#define _cleanup_output_layouts_ _cleanup_(output_layouts_deinit)

/*
 * The last two fields of samples, TRACE_IP_FIELD and TRACE_ERROR_FIELD of perf/format/tracing.h:
 * the point's address, which a sample's own need not be (that of a fentry program is in the
 * program), and the error word.
 */
#define OUTPUT_IP_FIELD	   "__probe_ip"
#define OUTPUT_ERROR_FIELD "__probe_err"

/* The format file of an event of this name and id. */
void output_format(const struct output_layout *layout, const char *name, uint32_t id,
		   struct strbuf *out);

/* Whom the program records. */
enum output_filter {
	OUTPUT_ALL,
	OUTPUT_PROCESSES, /* whose byte in the map "wanted" is 1 */
	OUTPUT_THREADS,
	OUTPUT_CGROUPS, /* tasks of those whose ids (64 bits) are in "wanted", and of descendants */
};

/*
 * "wanted" of processes or threads: an array of bytes by id, which can be mapped. It has room for
 * the largest id that the kernel gives (PID_MAX_LIMIT of linux/threads.h), in elements of a block.
 */
#define OUTPUT_WANTED_SIZE  (4 << 20)
#define OUTPUT_WANTED_BLOCK 64

/*
 * Ids in a PID namespace that is not the initial one: its inode number (of /proc/self/ns/pid), and
 * where the kernel's structs have what leads to them. See <bpf/perf_bpf_task.h>.
 */
struct output_pid_ns {
	uint32_t inode;				     /* 0: the ids of the initial namespace */
	uint32_t task_group_leader, task_thread_pid; /* of struct task_struct */
	uint32_t pid_level, pid_numbers;	     /* of struct pid */
	uint32_t upid_nr, upid_ns, upid_size;	     /* of struct upid, OUTPUT_UPID_MAX at most */
	uint32_t ns_inum;			     /* of struct pid_namespace */
};

#define OUTPUT_UPID_MAX 32

struct output_opts {
	const char *definition; /* its text, which becomes the section */
	const char *name;	/* of the program: letters, digits and _ */
	uint32_t id;		/* as output_format() was given it */
	uint32_t self;		/* this process is left out; 0: none is */
	enum output_filter filter;
	struct output_pid_ns pid_ns; /* of self, of the ids in "wanted", and of those put out */
	/*
	 * A second program removes from "wanted" whose id a new task gets, and adds new threads
	 * and children of those in it if it follows; where the member pid stands in the kernel's
	 * struct task_struct. 0: there is no such program.
	 */
	uint32_t task_pid_offset;
	bool follows;
};

/*
 * The bytes of an ELF object with one program, whose section is the definition,
 * that gives "struct args *" to the map "events", a PERF_EVENT_ARRAY. out is empty.
 */
struct error *output_object(const struct output_layout *layout, const struct output_opts *opts,
			    struct strbuf *out);

/*
 * The same without arguments: its program is of type perf_event, and returns 1 for samples of the
 * processes or threads in "wanted". Of opts: name, filter, pid_ns and task_pid_offset.
 */
struct error *output_task_filter(const struct output_opts *opts, struct strbuf *out);

/*
 * Instructions in front of a program that others wrote (see program_set_gate()): it runs only for
 * the processes or threads in "wanted", and of the perf events of a probe only by that of the CPU.
 */
struct output_gate {
	bool by_cookie; /* bits 32 to 63 of the attach cookie: the number of the CPU + 1 */
	int wanted_fd; /* of a map as output_task_filter() has it; of opts also filter and pid_ns */
	const struct output_opts *opts; /* NULL: all tasks */
};

/* The instructions are the caller's. */
struct error *output_gate_build(const struct output_gate *gate, struct bpf_insn **insns, size_t *n);

#endif
