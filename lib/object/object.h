/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the other rooms use of BPF objects beyond <bpf/libbpf.h>: the phases
 * with a struct error, and what a program's section says.
 *
 * An object is opened (its file read), prepared (programs relocated, BTF
 * loaded, maps created) and loaded (programs given to the kernel). The public
 * functions and these work on the same struct bpf_object; bpf_object__close()
 * frees it.
 */
#ifndef PB_OBJECT_OBJECT_H
#define PB_OBJECT_OBJECT_H

#include <bpf/libbpf.h>
#include <bpf/perf_bpf.h>

#include "lib/base/error.h"
#include "lib/base/log.h"

DEFINE_FREEP(struct bpf_object, bpf_object__close)

/* opts may be NULL. Warnings go to log (borrowed, may be NULL). Strings are copied. */
struct error *object_open_file(const char *path, const struct bpf_object_open_opts *opts,
			       const struct log *log, struct bpf_object **out);
/* The bytes are borrowed until the object is closed. */
struct error *object_open_mem(const void *data, size_t size,
			      const struct bpf_object_open_opts *opts, const struct log *log,
			      struct bpf_object **out);
/* The same; errors name path (NULL: the object's name), which the bytes were made from. */
struct error *object_open_mem_of(const void *data, size_t size, const char *path,
				 const struct bpf_object_open_opts *opts, const struct log *log,
				 struct bpf_object **out);
struct error *object_prepare(struct bpf_object *obj);
struct error *object_load(struct bpf_object *obj);

/* What errors name: the file, or what the bytes were made from. */
const char *object_path(const struct bpf_object *obj);

/* How a program is attached; lib/attach has a function for each that it can. */
enum program_kind {
	PROGRAM_OTHER, /* no way of attaching from here: sockets, xdp, tc, cgroups, … */
	PROGRAM_TRACEPOINT,
	PROGRAM_RAW_TRACEPOINT, /* the writable kind too */
	PROGRAM_TP_BTF,
	PROGRAM_PERF_EVENT,
	PROGRAM_KPROBE,
	PROGRAM_KRETPROBE,
	PROGRAM_UPROBE,
	PROGRAM_URETPROBE,
	PROGRAM_KSYSCALL,
	PROGRAM_KRETSYSCALL,
	PROGRAM_KPROBE_MULTI,
	PROGRAM_KRETPROBE_MULTI,
	PROGRAM_UPROBE_MULTI,
	PROGRAM_URETPROBE_MULTI,
	PROGRAM_USDT,
	PROGRAM_FENTRY,
	PROGRAM_FEXIT,
	PROGRAM_FMOD_RET,
	PROGRAM_FREPLACE,
	PROGRAM_LSM,
	PROGRAM_ITER,
};

/* What a section name says. */
struct section_info {
	enum program_kind kind;
	enum bpf_prog_type type;
	enum bpf_attach_type attach_type; /* 0 when the type has none */
	__u32 prog_flags;		  /* BPF_F_SLEEPABLE of "fentry.s/…" */
	bool optional_attach_type; /* the kernel is told only where it knows the attach type */
	bool needs_btf_id;	   /* attaches to something in the kernel's BTF, fixed at load */
	bool autoload;		   /* false: "?…" */
	/*
	 * After the kind and its '/': "sched/sched_switch" of
	 * "tracepoint/sched/sched_switch" and of "events/sched/sched_switch",
	 * "sched:sched_switch" of itself; "" for nothing. Points into name.
	 */
	const char *target;
	/* The same kind's plain spelling, for messages: "tracepoint". */
	const char *kind_name;
};

/* false: the name is of no known kind (*info then has type UNSPEC and autoload). */
bool section_parse(const char *name, struct section_info *info);

/* What the program's section says; the setters of type do not change it. */
const struct section_info *program_section(const struct bpf_program *prog);

/*
 * For a PROGRAM_TRACEPOINT section: system and event, the caller's strings.
 * "sched/sched_switch" and "sched:sched_switch" both give "sched" and
 * "sched_switch". EINVAL: it names no event.
 */
struct error *program_tracepoint(const struct bpf_program *prog, char **system, char **name);

/*
 * What becomes of the program's return value. A program that filters the event
 * of a tracepoint or probe returns 1 for whatever is not 0, since the kernel
 * looks at the lowest bit. One that only counts always returns 1: with 0 it
 * would hide the tracepoint from whoever records it meanwhile. Before prepare.
 */
enum program_return {
	PROGRAM_RETURN_AS_IS,
	PROGRAM_RETURN_BOOL,
	PROGRAM_RETURN_ONE,
};
void program_set_return(struct bpf_program *prog, enum program_return returns);

/* Loads a usdt program for one place at a time, whatever the kernel has. Before prepare. */
void program_set_one_place(struct bpf_program *prog);

/*
 * A program in several forms: each is loaded with code of its own in front,
 * and for an attach type and a target of its own. That code is the main program
 * then, and may have functions; the program, as it was compiled, stands right
 * behind, and is called as a function of up to five arguments. Equal forms are
 * loaded once.
 */
struct program_form {
	enum bpf_prog_type type;
	enum bpf_attach_type attach_type;
	const char *target; /* "vfs_read", "nf_nat:nf_nat_setup_info": of BTF; NULL: none */
	uint32_t btf_id;    /* the target's in the kernel's BTF; 0: it is looked up */
	const struct bpf_insn *front;
	size_t n_front;
	bool has_plain; /* there is plainer code, should this be refused */
	bool plain;	/* asked for: the plainer code */
};
/* Fills in the i-th form; what it points to lasts until the next is asked for. */
typedef struct error *program_form_fn(void *ctx, size_t i, struct program_form *form);
/* Before prepare; fn is called while the object is loaded. EBUSY: it has a preprocessor. */
struct error *program_set_forms(struct bpf_program *prog, size_t n, program_form_fn *fn, void *ctx);
/* Of a loaded program: what attaches it, and asks for its descriptor, means this form now. */
void program_use_form(struct bpf_program *prog, size_t i);

/*
 * Code in front of all else, also of what its forms have in front: it gets the context in r1, and
 * either exits or continues behind its end with the context in r1. Before prepare, and after
 * program_set_forms(). Borrowed until the object is loaded. EBUSY as of program_set_forms().
 */
struct error *program_set_gate(struct bpf_program *prog, const struct bpf_insn *insns, size_t n);

/* The bytes that the object was opened from; NULL: a file, of which parts were read. */
const void *object_image(const struct bpf_object *obj, size_t *size);

/*
 * Instead of a load: another process has loaded the object, from the same bytes, and passed
 * descriptors of its maps, in their order; -1: the map was not created. The descriptors remain the
 * caller's. EPROTO: they belong to other maps.
 */
struct error *object_adopt_maps(struct bpf_object *obj, const int *fds, size_t n);

/*
 * *fd: for another process, which may read the map and not change it; the caller's. The map is
 * frozen: bpf(2) changes it no more, here either, and it is not mapped; programs still change it. A
 * ring is not frozen: its reader keeps there how far it has read. Needs CAP_SYS_ADMIN.
 */
struct error *object_pass_map(struct bpf_map *map, int *fd);

/*
 * Counts what its programs lose: calls of helpers that fail because a ring, a
 * perf buffer, a map or a stack map has no room. The programs need not look at what the
 * helpers return. Before prepare.
 */
struct error *object_count_losses(struct bpf_object *obj);
/*
 * The calls that have failed for one of its maps, once it is loaded. false: not all calls are
 * counted, and *n is the least that it can be.
 */
bool object_losses(const struct bpf_object *obj, const struct bpf_map *map, uint64_t *n);
/* The calls that have failed for maps that are not known before a program runs. */
uint64_t object_losses_elsewhere(const struct bpf_object *obj);

/* Instructions of its programs that write to the values of a map. */
struct map_store {
	const struct bpf_map *map;
	int32_t off;   /* byte of the value */
	uint32_t size; /* bytes */
	bool varies;   /* off is the beginning of an array, of whose elements one is written */
	bool adds;     /* to what was there; else it is replaced */
};
/* Those of all loaded programs, with object_count_losses(). false: there may be others. */
bool object_map_stores(const struct bpf_object *obj, const struct map_store **stores, size_t *n);

/*
 * What lib/attach keeps with the object (NULL at first): it is freed by the
 * function when the object is closed.
 */
void *object_attach_data(const struct bpf_object *obj);
void object_set_attach_data(struct bpf_object *obj, void *data, void (*free_data)(void *data));

/*
 * Whether the program's section is the caller's (libbpf_register_prog_handler());
 * attached by that handler: *link stays as it is where the handler does not attach.
 */
bool program_has_handler(const struct bpf_program *prog);
struct error *program_handler_attach(const struct bpf_program *prog, struct bpf_link **link);

/*
 * Gives a struct_ops map its value, with the programs' descriptors. EINVAL: the
 * map is none, or not created. A map for links (BPF_F_LINK) keeps its first value.
 */
struct error *struct_ops_set(const struct bpf_map *map);

/*
 * The type id of a function in the BTF of a loaded program, which a freplace
 * program can take the place of. ENOENT, with near names: it has none of that name.
 */
struct error *program_function_id(int prog_fd, const char *name, uint32_t *id);

/*
 * Gives what a descriptor stands for a name in a BPF file system; the name's last
 * folder is made where there is none. EINVAL: it is no such file system.
 */
struct error *pin_fd(int fd, const char *path);

struct bpf_object *program_object(const struct bpf_program *prog);

/*
 * The error of a program, with its place: "filter.o: program on_write (tracepoint/…)".
 * NULL stays NULL.
 */
struct error *program_error_at(const struct bpf_program *prog, struct error *err);

#endif
