/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of lib/attach. */
#ifndef PB_ATTACH_INTERNAL_H
#define PB_ATTACH_INTERNAL_H

#include "lib/attach/attach.h"
#include "lib/base/edge.h"
#include "lib/base/strbuf.h"
#include "lib/sys/bpf.h"
#include "lib/sys/sys.h"

/*
 * A way of attaching. What has an event is attached by opening that event and
 * giving it the program; the others attach themselves.
 */
struct attach_kind {
	enum program_kind kind;
	struct error *(*event)(const struct bpf_program *prog, struct attach_event *event);
	struct error *(*attach)(const struct bpf_program *prog, struct bpf_link **link);
};

/* The error of a program: "filter: program on_write (section …): …". NULL stays NULL. */
struct error *attach_error_at(const struct bpf_program *prog, struct error *err);

/* The program's fd; EINVAL: it is not loaded. */
struct error *program_fd(const struct bpf_program *prog, int *fd);

/* A link that owns fd, a BPF link's or a raw tracepoint's. NULL: no memory; fd stays. */
struct bpf_link *link_new(int fd);

/* Opens the event on all CPUs (pid -1) or for a process, and attaches. */
struct error *event_attach(const struct bpf_program *prog, const struct attach_event *event,
			   pid_t pid, uint64_t cookie, bool force_ioctl, struct bpf_link **link);

/* The link owns perf_fd when this went well. */
struct error *perf_fd_attach(const struct bpf_program *prog, int perf_fd, uint64_t cookie,
			     bool force_ioctl, struct bpf_link **link);

struct error *tracepoint_event(const char *system, const char *name, struct attach_event *event);
struct error *kprobe_event(const char *func, uint64_t offset, bool retprobe,
			   struct attach_event *event);
struct uprobe_target {
	const char *binary;
	const char *func; /* NULL: offset counts from the file's start */
	uint64_t offset;  /* bytes from func */
	uint64_t ref_ctr_offset;
	bool retprobe;
};
struct error *uprobe_event(const struct uprobe_target *target, struct attach_event *event);

struct error *tracepoint_section_event(const struct bpf_program *prog, struct attach_event *event);
struct error *kprobe_section_event(const struct bpf_program *prog, struct attach_event *event);
struct error *uprobe_section_event(const struct bpf_program *prog, struct attach_event *event);
struct error *raw_tracepoint_attach(const struct bpf_program *prog, struct bpf_link **link);
struct error *trace_attach(const struct bpf_program *prog, struct bpf_link **link);

/* The name of a kernel's function in a message about why it cannot be probed. */
struct error *kprobe_explain(const struct attach_event *event, int err);

/*
 * Splits "vfs_read+0x10" into the name's length and the offset (0 without
 * one). false: what stands after the last + is no number.
 */
bool split_offset(const char *text, size_t *name_len, uint64_t *offset);

#endif
