/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attaching loaded programs, for the other rooms: as bpf_program__attach() of
 * <bpf/libbpf.h>, but with a struct error; and the perf event of a program's
 * section, for who records that event and lets the program filter it.
 *
 * A way of attaching is a file here, with an entry in the table in attach.c.
 */
#ifndef PB_ATTACH_ATTACH_H
#define PB_ATTACH_ATTACH_H

#include <bpf/libbpf.h>
#include <linux/perf_event.h>

#include "lib/base/error.h"
#include "lib/elf/elf_read.h"
#include "lib/object/object.h"

/* As the program's section says. EOPNOTSUPP: its kind is not one that attaches by itself. */
struct error *attach_program(const struct bpf_program *prog, struct bpf_link **link);
/* Whether its section is a uprobe's, of one function or many, which can be of one process. */
bool attach_takes_pid(const struct bpf_program *prog);
/* As attach_program(), in this process only, with its threads; of a program that takes a pid. */
struct error *attach_program_pid(const struct bpf_program *prog, pid_t pid, struct bpf_link **link);

/*
 * To a perf event that is open, and switches it on. The link owns perf_fd when
 * this went well. opts may be NULL, and is well-formed.
 */
struct error *perf_fd_attach(const struct bpf_program *prog, int perf_fd,
			     const struct bpf_perf_event_opts *opts, struct bpf_link **link);
/* Of a link that perf_fd_attach() made: where a BPF link keeps the event, its descriptor is closed.
 */
void link_close_event(struct bpf_link *link);

/* Whether the section tells how and to what; SEC("kprobe") alone does not, nor does SEC("tc"). */
bool attaches_by_section(const struct bpf_program *prog);

/*
 * A perf event that programs attach to by PERF_EVENT_IOC_SET_BPF: type, size
 * and the config words of attr are set, all else is 0. The attr points into
 * the other members.
 */
struct attach_event {
	struct perf_event_attr attr;
	char *name;  /* "sched:sched_switch", "probe:vfs_read", "probe_libc:malloc__return" */
	char *where; /* for messages: "function vfs_read of the kernel" */
	char *text;  /* the function or the file that a probe's attr names; else NULL */

	/* Of a probe: where it is, for those who put it there in another way than by attr. */
	bool is_probe, in_kernel, at_return;
	uint64_t offset; /* from the function, or in the file */
	uint64_t ref_ctr_offset;
};

void attach_event_deinit(struct attach_event *event);
#define _cleanup_attach_event_ _cleanup_(attach_event_deinit)

/*
 * The event of the program's section: of tracepoint, kprobe, kretprobe, uprobe
 * and uretprobe programs. EOPNOTSUPP: the kind has none.
 */
struct error *attach_event_of(const struct bpf_program *prog, struct attach_event *event);

/*
 * The event of a probe at a place that is known: so many bytes from a function of
 * the kernel, or from an address ("0x…"); or at an offset in a file.
 */
struct error *attach_event_kernel(const char *func, uint64_t offset, bool at_return,
				  struct attach_event *event);
struct error *attach_event_file(const char *path, uint64_t offset, bool at_return,
				struct attach_event *event);

/* Why the event could not be opened (err as sys_perf_event_open() gave it), in words. */
struct error *attach_event_explain(const struct attach_event *event, pid_t pid, int cpu, int err);

/* Hits that a link's probes left out, where this kernel tells (6.7); else 0. */
uint64_t link_missed(const struct bpf_link *link);

/*
 * The calls of <bpf/libbpf.h> of these names, with a struct error that does not
 * name the program. A program in several forms is attached in the one in use.
 */
struct error *attach_kprobe(const struct bpf_program *prog, const char *func,
			    const struct bpf_kprobe_opts *opts, struct bpf_link **link);
struct error *attach_kprobe_multi(const struct bpf_program *prog, const char *pattern,
				  const struct bpf_kprobe_multi_opts *opts, struct bpf_link **link);
struct error *attach_uprobe(const struct bpf_program *prog, pid_t pid, const char *binary,
			    size_t offset, const struct bpf_uprobe_opts *opts,
			    struct bpf_link **link);
/*
 * Before the load: if this process lacks CAP_SYS_ADMIN and the kernel has multi-probe links (6.6),
 * programs of uprobe/ and uretprobe/ will be attached by them instead of by perf events.
 */
void object_prefer_multi(struct bpf_object *obj);
struct error *attach_uprobe_multi(const struct bpf_program *prog, pid_t pid, const char *binary,
				  const char *pattern, const struct bpf_uprobe_multi_opts *opts,
				  struct bpf_link **link);
struct error *attach_trace(const struct bpf_program *prog, const struct bpf_trace_opts *opts,
			   struct bpf_link **link);

/*
 * The file that a uprobe's binary means: with a '/', itself; else what the
 * loader would find in the library folders ("libc.so.6") or the shell in PATH.
 * The caller's string. ENOENT: none.
 */
struct error *binary_find(const char *name, char **path);

/* Opens a binary for the look-ups below: its symbols and notes are read, its code is not. */
struct error *binary_open(const char *path, struct elf_file **file);

/*
 * The file offset of a function (STT_FUNC) of a binary, from
 * .symtab or .dynsym; a global one is preferred. Of a stripped binary also from its debug file (by
 * build-id, or .gnu_debuglink) and .gnu_debugdata. "memcpy@GLIBC_2.2.5" is the one
 * of that version. ENOENT, with near names: none of that name. EOPNOTSUPP: an indirect function
 * (STT_GNU_IFUNC), whose symbol is that of the resolver.
 */
struct error *binary_symbol_offset(const struct elf_file *file, const char *symbol,
				   uint64_t *offset);
/* The same for n names in one walk; offsets has room for n. */
struct error *binary_symbols_offsets(const struct elf_file *file, const char *const *names,
				     size_t n, uint64_t *offsets);
/*
 * The offsets of all functions (STT_FUNC) whose names match the pattern, ascending; one that has
 * several names once. A function whose name is the pattern is the only one; else '*' and '?' match
 * as in libbpf. The caller's. ENOENT: none matches. EOPNOTSUPP as of binary_symbol_offset().
 */
struct error *binary_symbols_match(const struct elf_file *file, const char *pattern,
				   uint64_t **offsets, size_t *n);
struct strbuf;
/*
 * The functions that an indirect function may stand for, by their names: "__memcpy_sse2, …". Which
 * of them a process calls is decided when it starts. Nothing is added if none is known.
 */
struct error *binary_implementations(const struct elf_file *file, const char *name,
				     struct strbuf *out);
/*
 * EOPNOTSUPP: a probe at a function's return would end the program, which is Go's: the kernel
 * replaces the return address on the stack, and Go's runtime finds one that it does not know when
 * it moves or walks the stack.
 */
struct error *binary_check_returns(const struct elf_file *file);

/*
 * The places of a usdt program's section, for who records them and lets the
 * program filter them: each is an event, to which the program is given by a BPF
 * link with the cookie. Asked for before the object is prepared, written when
 * it is loaded, and freed when no program runs at the places any more.
 * EOPNOTSUPP: the kernel has no cookies. The errors do not name the program.
 */
struct usdt_place {
	struct attach_event event; /* "sdt_libc:setjmp" */
	uint64_t cookie;
};
struct usdt_places;
struct error *usdt_places_of(struct bpf_program *prog, struct usdt_places **places);
/* The i-th; its event may be taken (and left all 0). NULL: there are not so many. */
struct usdt_place *usdt_places_at(const struct usdt_places *places, size_t i);
struct error *usdt_places_write(const struct usdt_places *places);
void usdt_places_free(struct usdt_places *places);
DEFINE_FREEP(struct usdt_places, usdt_places_free)

#endif
