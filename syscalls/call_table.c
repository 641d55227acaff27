// SPDX-License-Identifier: BSD-2-Clause
/*
 * A row of the table comes from three places. syscalls/args.in has, for each call that is known
 * when this is built, how its arguments are shown and which memory belongs to them. The running
 * kernel's tracepoint formats have the names and types of the arguments, also of calls that are
 * newer; where they are missing, BTF has the names. The numbers come from the headers of the
 * build machine (syscalls/call_names.h).
 */
#include "syscalls/call_table_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/base/names.h"
#include "lib/sys/sys.h"
#include "syscalls/arg_kind.h"
#include "syscalls/call_formats.h"
#include "syscalls/call_names.h"
#include "syscalls/fcntl_commands.h"
#include "syscalls/flag_set.h"

/* Tracepoints are named by the kernel's functions, which are not always named as the call. */
static const struct {
	const char *call, *function;
} aliases[] = {
	{"stat", "newstat"},   {"fstat", "newfstat"},	   {"lstat", "newlstat"},
	{"uname", "newuname"}, {"sendfile", "sendfile64"}, {"umount2", "umount"},
};

const char *call_function_name(const char *call)
{
	for (size_t i = 0; i < ARRAY_SIZE(aliases); i++)
		if (!strcmp(aliases[i].call, call))
			return aliases[i].function;
	return call;
}

static int compare_defs(const void *name, const void *def)
{
	return strcmp(name, ((const struct call_def *)def)->name);
}

static const struct call_def *find_def(const char *name)
{
	return bsearch(name, call_defs, n_call_defs, sizeof(*call_defs), compare_defs);
}

const struct call_struct *call_struct_named(const char *name)
{
	for (const struct call_struct *s = call_structs + 1; s->name; s++)
		if (!strcmp(s->name, name))
			return s;
	return NULL;
}

/* Bytes of what a pointer of a kind points to. */
uint32_t arg_kind_size(const struct arg_kind *kind, enum call_layout layout)
{
	const uint32_t word = layout == LAYOUT_64 ? 8 : 4;

	switch ((enum show_as)kind->value) {
	case SHOW_STRUCT:
		return call_structs[kind->type].size[layout];
	case SHOW_INT:
	case SHOW_UINT:
	case SHOW_HEX32:
	case SHOW_FD:
	case SHOW_PID:
	case SHOW_UID:
	case SHOW_ENUM:
	case SHOW_FLAGS:
	case SHOW_STATUS:
	case SHOW_WAIT_STATUS:
	case SHOW_SOCKLEN:
		return 4;
	case SHOW_USHORT:
		return 2;
	case SHOW_U64:
	case SHOW_OFF64:
	case SHOW_SIGSET:
		return 8;
	case SHOW_LONG:
	case SHOW_ULONG:
	case SHOW_DATE:
	case SHOW_HEX:
	case SHOW_ADDR:
	case SHOW_SIZE:
	case SHOW_OLD_SIGSET:
		return word;
	case SHOW_STAT:
		return layout == LAYOUT_64 ? 144 : 104;
	case SHOW_STATX:
		return 256;
	case SHOW_STATFS:
		return layout == LAYOUT_64 ? 120 : 88;
	case SHOW_SIGACTION:
		return 4 * word + (layout == LAYOUT_64 ? 0 : 4);
	case SHOW_SIGINFO:
		return 128;
	case SHOW_SIGEVENT:
		return 64;
	case SHOW_FD_SET:
		return FD_SET_BYTES;
	case SHOW_BTF:
		return kind->btf_size;
	default:
		return 0;
	}
}

/* The copies of an argument whose memory is no plain struct; false: it has no such form. */
static bool special_copy(const struct arg_kind *kind, struct trace_copy *copy)
{
	const bool written = kind->direction & ARG_WRITTEN;

	switch ((enum show_as)kind->value) {
	case SHOW_PATH:
		copy->kind = TRACE_COPY_STRING;
		copy->size = kind->count_by == COUNT_FIXED ? kind->count : 4095; /* PATH_MAX - 1 */
		return true;
	case SHOW_PRCTL_TEXT:
		copy->kind = TRACE_COPY_STRING;
		copy->flags |= TRACE_COPY_LIMITED;
		return true;
	case SHOW_REBOOT_ARG:
		copy->kind = TRACE_COPY_STRING;
		copy->flags |= TRACE_COPY_LIMITED;
		return true;
	case SHOW_STR:
		if (kind->count_by != COUNT_NONE)
			return false;
		copy->kind = TRACE_COPY_STRING;
		copy->flags |= TRACE_COPY_LIMITED;
		return true;
	case SHOW_ARGV:
	case SHOW_ENVP:
		copy->kind = TRACE_COPY_STRINGS;
		copy->size = 64;
		copy->flags |= TRACE_COPY_LIMITED;
		return true;
	case SHOW_IOVEC:
	case SHOW_MSGHDR:
	case SHOW_MMSGHDR:
		copy->kind = kind->value == SHOW_IOVEC	  ? TRACE_COPY_IOVEC
			     : kind->value == SHOW_MSGHDR ? TRACE_COPY_MSGHDR
							  : TRACE_COPY_MMSGHDR;
		copy->flags |= TRACE_COPY_LIMITED | (written ? TRACE_COPY_BY_RET : 0);
		copy->count_arg = kind->count;
		return true;
	default:
		return false;
	}
}

/* Bytes to copy of what has a size of its own, whatever it is shown as. */
static uint32_t fixed_size(const struct arg_kind *kind, enum call_layout layout)
{
	switch ((enum show_as)kind->value) {
	case SHOW_WAIT_STATUS:
	case SHOW_SOCKLEN:
		return 4;
	case SHOW_IOCTL_ARG:
		return 64;
	case SHOW_IPC_ARG:
		return 128;
	case SHOW_QUOTA_ADDR:
		return 160;
	case SHOW_CAP_DATA:
		return 24;
	case SHOW_FCNTL_ARG:
		return 32;
	case SHOW_MINCORE:
		return 64;
	case SHOW_FUTEX_TIMEOUT:
	case SHOW_SECCOMP_ARG:
	case SHOW_PRCTL_ARG:
		return 16;
	case SHOW_ARCH_PRCTL_ARG:
		return 8;
	case SHOW_PERF_ATTR:
		return 136;
	case SHOW_FILE_HANDLE:
		return 136;
	case SHOW_CPU_SET_HEX:
		return 256; /* as many words as are shown */
	default:
		return kind->is_ptr ? arg_kind_size(kind, layout) : 0;
	}
}

/* Whether the kernel takes an argument as a number of 32 bits. */
static bool is_int(const struct call_arg *arg)
{
	return arg->kind && (arg->kind->value == SHOW_INT || arg->kind->value == SHOW_UINT);
}

/* Adds what the program copies for an argument; both directions: twice. */
static void add_copy(struct trace_call *copies, int arg, const struct arg_kind *kind, bool at_exit,
		     enum call_layout layout)
{
	struct trace_copy copy = {.arg = (uint8_t)arg};

	if (copies->n_copies == TRACE_COPIES)
		return;
	if (at_exit) {
		copy.flags = TRACE_COPY_AT_EXIT;
		if (!(kind->direction & ARG_ALWAYS))
			copy.flags |= TRACE_COPY_IF_OK;
	}
	if (special_copy(kind, &copy)) {
		copies->copies[copies->n_copies++] = copy;
		return;
	}
	copy.size = fixed_size(kind, layout);
	if (kind->value == SHOW_BUF || kind->value == SHOW_LOG_BUF || kind->value == SHOW_RANDOM ||
	    kind->value == SHOW_STR || kind->value == SHOW_MSGBUF)
		copy.flags |= TRACE_COPY_LIMITED;
	if (kind->value == SHOW_IOVEC_ADDR)
		copy.size = layout == LAYOUT_64 ? 16 : 8;
	switch ((enum count_kind)kind->count_by) {
	case COUNT_NONE:
		copy.kind = copy.size ? TRACE_COPY_BYTES : TRACE_COPY_NONE;
		break;
	case COUNT_FIXED:
		copy.kind = TRACE_COPY_BYTES;
		copy.size *= kind->count;
		break;
	case COUNT_ARG:
		if (kind->value == SHOW_FD_SET) {
			copy.kind = TRACE_COPY_COUNT;
			copy.flags |= TRACE_COPY_BITS | TRACE_COPY_COUNT_32;
			copy.count_arg = kind->count;
			copy.size = FD_SET_BYTES;
			break;
		}
		if (kind->value == SHOW_CPU_SET_HEX || kind->value == SHOW_MINCORE) {
			copy.kind = TRACE_COPY_BYTES; /* their counts are in bits */
			break;
		}
		copy.kind = TRACE_COPY_COUNT;
		copy.count_arg = kind->count;
		copy.size = copy.size ? copy.size : 1;
		break;
	case COUNT_AT_ARG:
		copy.kind = TRACE_COPY_COUNT_PTR;
		copy.count_arg = kind->count;
		copy.size = kind->value == SHOW_SOCKADDR ? 128 : 512;
		break;
	case COUNT_RET:
		copy.kind = TRACE_COPY_RET;
		copy.size = copy.size ? copy.size : 1;
		break;
	}
	if (copy.kind != TRACE_COPY_NONE)
		copies->copies[copies->n_copies++] = copy;
}

/* The kinds whose memory is read at both ends, because only the value of another says which. */
static bool is_both(const struct arg_kind *kind)
{
	return kind->value == SHOW_IOCTL_ARG || kind->value == SHOW_FCNTL_ARG ||
	       kind->value == SHOW_PRCTL_ARG || kind->value == SHOW_IPC_ARG ||
	       kind->value == SHOW_QUOTA_ADDR;
}

/* Which arguments are descriptors, or point to some. */
static void fill_fds(struct call *call)
{
	struct trace_call *copies = &call->copies;

	for (int i = 0; i < copies->n_args; i++) {
		const struct arg_kind *kind = call->args[i].kind;

		if (kind && !kind->is_ptr &&
		    (kind->value == SHOW_FD || kind->value == SHOW_UFD ||
		     kind->value == SHOW_DIRFD))
			copies->fd_args |= (uint8_t)(1 << i);
		if (kind && kind->is_ptr && kind->value == SHOW_FD &&
		    kind->count_by == COUNT_FIXED && kind->direction & ARG_WRITTEN) {
			copies->fd_array = (uint8_t)(i + 1);
			copies->fd_array_n = kind->count;
		}
	}
	if (!strcmp(call->name, "poll") || !strcmp(call->name, "ppoll"))
		copies->fd_array = 1;
	copies->fd_sets = call->ret && call->ret->value == SHOW_SELECT;
	/* the messages of a netlink socket are not text */
	if (call->classes && copies->fd_args & 1 &&
	    (!strncmp(call->name, "send", 4) || !strncmp(call->name, "recv", 4)) &&
	    strncmp(call->name, "sendfile", 8) != 0)
		copies->fd_args |= TRACE_FD_NEEDED;
	copies->fd_ret =
		call->ret && (call->ret->value == SHOW_FD || call->ret->value == SHOW_FCNTL);
}

/*
 * Of messages: the lengths of names as recvmsg(2) was given them, and the bytes that sendmmsg(2)
 * has sent.
 */
static void add_message_copies(struct call *call)
{
	enum { MESSAGES = 8, SENT = TRACE_COPY_AT_EXIT | TRACE_COPY_IF_OK };
	const uint32_t one = call->layout == LAYOUT_64 ? 56 : 28;
	const uint32_t all = MESSAGES * (call->layout == LAYOUT_64 ? 64 : 32);
	struct trace_copy copy = {.kind = TRACE_COPY_BYTES, .arg = 1};

	if (!strcmp(call->name, "recvmsg"))
		copy.size = one;
	else if (!strncmp(call->name, "recvmmsg", 8) || !strcmp(call->name, "sendmmsg"))
		copy.size = all;
	else
		return;
	if (*call->name == 's')
		copy.flags = SENT;
	call->copies.copies[call->copies.n_copies++] = copy;
}

/*
 * Of keyctl(2), whose commands have texts, payloads and buffers in different places: each as it may
 * be. What is no pointer cannot be read.
 */
static void add_keyctl_copies(struct call *call)
{
	struct trace_call *copies = &call->copies;
	const struct trace_copy payload = {.kind = TRACE_COPY_COUNT,
					   .flags = TRACE_COPY_LIMITED,
					   .arg = 2,
					   .count_arg = 3,
					   .size = 1};
	const struct trace_copy written = {
		.kind = TRACE_COPY_RET,
		.flags = TRACE_COPY_AT_EXIT | TRACE_COPY_IF_OK | TRACE_COPY_LIMITED,
		.arg = 2,
		.size = 1,
	};

	for (uint8_t arg = 1; arg <= 3; arg++)
		copies->copies[copies->n_copies++] = (struct trace_copy){
			.kind = TRACE_COPY_STRING, .flags = TRACE_COPY_LIMITED, .arg = arg};
	copies->copies[copies->n_copies++] = payload;
	copies->copies[copies->n_copies++] = written;
}

/* What structs point to: ids that clone3(2) writes, and the signals of pselect6(2). */
static void add_pointed_copies(struct call *call)
{
	enum { PIDFD = 1, PARENT_TID = 3, SIGMASK = 0 };
	struct trace_call *copies = &call->copies;
	struct trace_copy id = {.kind = TRACE_COPY_POINTED,
				.flags = TRACE_COPY_AT_EXIT | TRACE_COPY_IF_OK,
				.size = 4};

	if (!strcmp(call->name, "clone3") && call->layout == LAYOUT_64) {
		id.count_arg = PIDFD;
		copies->copies[copies->n_copies++] = id;
		id.count_arg = PARENT_TID;
		copies->copies[copies->n_copies++] = id;
	}
	if (!strncmp(call->name, "pselect6", 8))
		copies->copies[copies->n_copies++] = (struct trace_copy){
			.kind = TRACE_COPY_POINTED, .arg = 5, .count_arg = SIGMASK, .size = 8};
}

static void fill_copies(struct call *call)
{
	struct trace_call *copies = &call->copies;

	if (!strcmp(call->name, "rt_sigreturn")) {
		copies->sigreturn = call->abi == TRACE_ABI_NATIVE;
		copies->n_args = copies->sigreturn;
	}
	fill_fds(call);
	copies->no_exit = !strcmp(call->name, "exit") || !strcmp(call->name, "exit_group");
	for (int at_exit = 0; at_exit <= 1; at_exit++)
		for (int i = 0; i < copies->n_args; i++) {
			const struct arg_kind *kind = call->args[i].kind;

			if (kind &&
			    (kind->direction & (at_exit ? ARG_WRITTEN : ARG_READ) || is_both(kind)))
				add_copy(copies, i, kind, at_exit, (enum call_layout)call->layout);
			if (kind && kind->value == SHOW_FCNTL_ARG) {
				copies->by_command = 1;
				copies->command_arg = 1;
				copies->commands = fcntl_commands_with_memory();
			}
		}
	add_message_copies(call);
	add_pointed_copies(call);
	if (!strcmp(call->name, "keyctl"))
		add_keyctl_copies(call);
	for (unsigned i = 0; i < copies->n_copies; i++) {
		struct trace_copy *copy = &copies->copies[i];

		if ((copy->kind == TRACE_COPY_COUNT || copy->kind == TRACE_COPY_IOVEC ||
		     copy->kind == TRACE_COPY_MMSGHDR) &&
		    is_int(&call->args[copy->count_arg]))
			copy->flags |= TRACE_COPY_COUNT_32;
	}
}

/* How an argument of a call that args.in does not have is shown, by its type and name. */
static const struct arg_kind *guess_kind(const struct kernel_arg *arg,
					 const struct arg_kind *by_btf)
{
	static const struct arg_kind path = {.value = SHOW_PATH, .direction = ARG_READ},
				     str = {.value = SHOW_STR, .direction = ARG_READ},
				     number = {.value = SHOW_INT}, fd = {.value = SHOW_FD},
				     dirfd = {.value = SHOW_DIRFD}, pid = {.value = SHOW_PID},
				     size = {.value = SHOW_SIZE}, addr = {.value = SHOW_ADDR};
	const char *type = arg->type ? arg->type : "";

	if (!strcmp(type, "const char *"))
		return strstr(arg->name, "name") || strstr(arg->name, "path") ? &path : &str;
	if (by_btf && (by_btf->is_ptr || !strncmp(type, "enum ", 5)))
		return by_btf;
	if (strchr(type, '*'))
		return &addr;
	if (!strcmp(type, "size_t"))
		return &size;
	if (!strcmp(type, "pid_t"))
		return &pid;
	if (!strcmp(arg->name, "dfd"))
		return &dirfd;
	if (!strcmp(arg->name, "fd"))
		return &fd;
	return !strcmp(type, "int") ? &number : NULL;
}

/* Whether a call of 32-bit programs has times of 64 bits. */
static bool has_time64(const char *name)
{
	const size_t len = strlen(name);

	return strstr(name, "time64") ||
	       (!strncmp(name, "clock_", 6) && !strcmp(name + len - 2, "64")) ||
	       (!strncmp(name, "timer", 5) && len > 2 && !strcmp(name + len - 2, "64"));
}

static enum call_layout layout_of(const char *name, enum trace_abi abi)
{
	if (abi == TRACE_ABI_NATIVE)
		return sizeof(long) == 8 ? LAYOUT_64 : LAYOUT_32;
	return abi == TRACE_ABI_X32 || has_time64(name) ? LAYOUT_X32 : LAYOUT_32;
}

/* An address about which no more is known than that. */
static bool is_bare_address(const struct arg_kind *kind)
{
	return kind && kind->value == SHOW_ADDR && !kind->is_ptr;
}

/* The kernel's names and types over those of args.in, unless the two are not the same call. */
static struct error *add_kernel_args(struct call_table *table, const struct call_table_opts *opts,
				     struct call *call)
{
	struct kernel_arg args[TRACE_ARGS] = {0};
	const char *function = call_function_name(call->name);
	int n = -1;

	if (opts->tracefs_events) {
		_cleanup_free_ char *path = text_format("%s/syscalls/sys_enter_%s/format",
							opts->tracefs_events, function);
		_cleanup_free_ char *text = NULL;
		size_t size;

		if (!path)
			return error_nomem();
		struct error *err = sys_read_file(path, 1 << 16, &text, &size);
		if (!err)
			n = call_args_of_format(text, &table->arena, args);
		error_free(err);
	}
	if (n == -1 && opts->vmlinux)
		n = call_args_of_btf(opts->vmlinux, function, &table->arena, args);
	if (n == -2)
		return error_nomem();
	const bool is_known = call->copies.n_args || n == 0;
	if (n < 0 || (call->copies.n_args && n != call->copies.n_args))
		return NULL;
	for (int i = 0; i < n; i++) {
		call->args[i].name = args[i].name;
		call->args[i].type = args[i].type;
		const struct arg_kind *by_btf =
			opts->vmlinux && args[i].type && call->abi == TRACE_ABI_NATIVE
				? call_btf_kind(&table->arena, opts->vmlinux, args[i].type)
				: NULL;
		if (!is_known)
			call->args[i].kind = guess_kind(&args[i], by_btf);
		if (by_btf && (opts->prefer_btf || is_bare_address(call->args[i].kind)))
			call->args[i].kind = by_btf;
	}
	call->copies.n_args = (uint8_t)n;
	return NULL;
}

static struct error *add_call(struct call_table *table, const struct call_table_opts *opts,
			      enum trace_abi abi, uint32_t nr, const char *name)
{
	struct call *call = arena_alloc(&table->arena, sizeof(*call));

	if (!call)
		return error_nomem();
	*call = (struct call){.name = name, .abi = abi, .nr = nr};
	call->layout = layout_of(name, abi);
	const struct call_def *def = find_def(name);
	if (def) {
		call->classes = def->classes;
		call->copies.n_args = def->n_args;
		call->ret = def->ret.value ? &def->ret : NULL;
		for (int i = 0; i < def->n_args; i++) {
			call->args[i].name = def->args[i].name;
			call->args[i].kind = &def->args[i].kind;
		}
	}
	if (abi != TRACE_ABI_32 || !def)
		TRY(add_kernel_args(table, opts, call));
	fill_copies(call);
	table->calls[abi][nr] = call;
	return NULL;
}

struct error *call_table_new(const struct call_table_opts *opts, struct call_table **out)
{
	struct call_table *table = calloc(1, sizeof(*table));
	struct error *err = NULL;

	if (!table)
		return error_nomem();
	table->vmlinux = opts->vmlinux;
	for (int abi = 0; abi < TRACE_ABIS && !err; abi++)
		for (uint32_t nr = 0; nr < TRACE_NRS && !err; nr++) {
			const char *name = call_name((enum trace_abi)abi, nr);

			if (name)
				err = add_call(table, opts, (enum trace_abi)abi, nr, name);
		}
	if (err) {
		call_table_free(table);
		return err;
	}
	*out = table;
	return NULL;
}

void call_table_free(struct call_table *table)
{
	if (!table)
		return;
	arena_deinit(&table->arena);
	free(table);
}

const struct call *call_by_nr(const struct call_table *table, enum trace_abi abi, uint32_t nr)
{
	return (unsigned)abi < TRACE_ABIS && nr < TRACE_NRS ? table->calls[abi][nr] : NULL;
}

const struct call *call_by_name(const struct call_table *table, enum trace_abi abi,
				const char *name)
{
	for (uint32_t nr = 0; nr < TRACE_NRS && (unsigned)abi < TRACE_ABIS; nr++) {
		const struct call *call = table->calls[abi][nr];

		if (call &&
		    (!strcmp(call->name, name) || !strcmp(call_function_name(call->name), name)))
			return call;
	}
	return NULL;
}
