/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of lib/attach. */
#ifndef PB_ATTACH_INTERNAL_H
#define PB_ATTACH_INTERNAL_H

#include "lib/attach/attach.h"
#include "lib/base/edge.h"
#include "lib/base/strbuf.h"
#include "lib/sys/bpf_syscall.h"
#include "lib/sys/sys.h"

/*
 * A way of attaching. What has an event is attached by opening that event and
 * giving it the program; the others attach themselves. Of probes, event finds
 * the place, and leaves attr to kprobe_attr() or uprobe_attr().
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

/* ---- separate.c: the symbols of a stripped binary ---- */

struct separate_symbols {
	struct elf_file *file; /* with a .symtab, of the binary's addresses; NULL: there is none */
	void *owned;
	bool tried;
};

void separate_symbols_deinit(struct separate_symbols *symbols);
#define _cleanup_separate_ _cleanup_(separate_symbols_deinit)
/* Of a file of binary_open(); none if it has a .symtab. Fails only if memory is short. */
struct error *separate_symbols_open(const struct elf_file *binary, struct separate_symbols *out);

/* A link that owns fd, a BPF link's or a raw tracepoint's. NULL: no memory; fd stays. */
struct bpf_link *link_new(int fd);

/*
 * EOPNOTSUPP when the table of features says that this kernel lacks it: what
 * it is, why, and what to use instead. EPERM: nobody can tell without rights.
 * NULL: the kernel has it.
 */
struct error *attach_lacking(const char *feature, const char *what, const char *instead);

/*
 * The attach type of a program for many functions, which it was loaded for:
 * multi, or session where the caller asks for that. EINVAL: it was loaded for
 * another.
 */
struct error *multi_type(const struct bpf_program *prog, bool want_session, int multi, int session,
			 const char *family, int *type);

/* A link made of others, which it owns from now on, with the array. NULL: no memory. */
struct bpf_link *link_of_parts(struct bpf_link **parts, size_t n);

/*
 * done(ctx, …) is called when the link is destroyed and has let go of all it
 * held. detached: the program runs no more there; else it was disconnected, or
 * is pinned.
 */
void link_on_destroy(struct bpf_link *link, void (*done)(void *ctx, bool detached), void *ctx);

/* link_new(), which closes fd on failure. */
struct error *link_of(int fd, struct bpf_link **link);

/*
 * Attaches by BPF_LINK_CREATE, for the attach type that the program was loaded
 * with, to what target stands for: a descriptor or an interface's number. The
 * error says "cannot attach to WHERE", and its code is the kernel's; opts may
 * be NULL.
 */
struct error *link_attach(const struct bpf_program *prog, int target, const char *where,
			  const struct bpf_link_create_opts *opts, struct bpf_link **link);

/* Opens the event on all CPUs (pid -1) or for a process, and attaches. */
struct error *event_attach(const struct bpf_program *prog, const struct attach_event *event,
			   pid_t pid, uint64_t cookie, bool force_ioctl, struct bpf_link **link);

struct error *tracepoint_event(const char *system, const char *name, struct attach_event *event);
struct error *kprobe_place(const char *func, uint64_t offset, bool retprobe,
			   struct attach_event *event);
/*
 * "BINARY:FUNCTION": of several colons the last one whose binary exists. The binary's name is the
 * caller's; function points into text. EINVAL: it is not of this form.
 */
struct error *binary_split(const char *text, char **binary, const char **function);
struct uprobe_target {
	const char *binary;
	const char *func; /* NULL: offset counts from the file's start */
	uint64_t offset;  /* bytes from func */
	uint64_t ref_ctr_offset;
	bool retprobe;
};
struct error *uprobe_event(const struct uprobe_target *target, struct attach_event *event);

/* uprobe_check.c: the code of a file in which uprobes are to be. */
struct uprobe_code {
	int fd;		  /* -1: it cannot be read */
	uint16_t machine; /* EM_NONE: it is not ELF */
};
void uprobe_code_open(const char *path, struct uprobe_code *code);
void uprobe_code_close(struct uprobe_code *code);
#define _cleanup_uprobe_code_ _cleanup_(uprobe_code_close)
/*
 * EOPNOTSUPP: the kernel would let a uprobe be attached at this offset of the file, but not place
 * it on the instruction there, so that the program would never run. where names it.
 */
struct error *uprobe_code_check(const struct uprobe_code *code, const char *where, uint64_t offset);

/* Fills a probe's attr by its PMU; EOPNOTSUPP: this kernel has none for it. */
struct error *kprobe_attr(struct attach_event *event);
struct error *uprobe_attr(struct attach_event *event);
/* Attaches to the place, whose attr is not filled: through the PMU or tracefs, by mode. */
struct error *probe_attach(const struct bpf_program *prog, struct attach_event *event, pid_t pid,
			   uint64_t cookie, enum probe_attach_mode mode, struct bpf_link **link);

struct error *tracepoint_section_event(const struct bpf_program *prog, struct attach_event *event);
struct error *kprobe_section_event(const struct bpf_program *prog, struct attach_event *event);
struct error *uprobe_section_event(const struct bpf_program *prog, struct attach_event *event);
struct error *ksyscall_section_event(const struct bpf_program *prog, struct attach_event *event);
struct error *kprobe_multi_attach(const struct bpf_program *prog, struct bpf_link **link);
struct error *uprobe_multi_attach(const struct bpf_program *prog, struct bpf_link **link);
/* As their sections say, in one process. */
struct error *uprobe_attach_pid(const struct bpf_program *prog, pid_t pid, struct bpf_link **link);
struct error *uprobe_multi_attach_pid(const struct bpf_program *prog, pid_t pid,
				      struct bpf_link **link);
/* An uprobe by a multi-probe link, for which the program was loaded: see object_prefer_multi(). */
struct error *uprobe_by_link(const struct bpf_program *prog, const struct attach_event *event,
			     pid_t pid, uint64_t cookie, struct bpf_link **link);
struct error *raw_tracepoint_attach(const struct bpf_program *prog, struct bpf_link **link);
struct error *usdt_section_attach(const struct bpf_program *prog, struct bpf_link **link);
/* "libc.so.6:libc:setjmp"; the caller's strings. EOPNOTSUPP: "" names nothing. */
struct error *usdt_section_split(const char *text, char **binary, char **provider, char **name);
struct error *trace_attach(const struct bpf_program *prog, struct bpf_link **link);
struct error *iter_attach(const struct bpf_program *prog, struct bpf_link **link);

/* The name of a kernel's function in a message about why it cannot be probed. */
struct error *kprobe_explain(const struct attach_event *event, int err);

/*
 * Splits "vfs_read+0x10" into the name's length and the offset (0 without
 * one). false: what stands after the last + is no number.
 */
bool split_offset(const char *text, size_t *name_len, uint64_t *offset);

#endif
