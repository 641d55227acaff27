/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inside of call_text: one call that is decoded, and the decoders by what they show. A
 * decoder writes exactly one value to the sink. What it reads from the record was bounded by
 * decode_begin(); the bytes of a piece are a process's and may be anything.
 */
#ifndef PB_SYSCALLS_CALL_DECODE_H
#define PB_SYSCALLS_CALL_DECODE_H

#include "lib/btf/value.h"
#include "syscalls/arg_kind.h"
#include "syscalls/call_text.h"
#include "syscalls/flag_set.h"
#include "syscalls/value_sink.h"

enum {
	DECODE_PIECES = 255,
	DECODE_ITEMS = 32, /* of an array, and bytes of a buffer, unless it is shown in full */
};

struct call_decoder {
	const struct call_table *table;
	const struct call *call; /* NULL: the number has no name */
	const struct trace_record *rec;
	const struct call_text_opts *opts;
	struct value_sink sink;
	enum call_layout layout;
	bool ended;  /* the exit was seen */
	bool failed; /* … and the result is an error */
	int fd_arg;  /* the argument whose descriptors are shown; -1: the result */
	int n_args;
	uint64_t args[TRACE_ARGS];
	unsigned n_pieces;
	const struct trace_piece *pieces[DECODE_PIECES];
};

/* EBADMSG: the record's sizes do not fit together. */
struct error *decode_begin(struct call_decoder *d, const struct call_table *table,
			   const struct trace_record *rec, const struct call_text_opts *opts,
			   struct strbuf *out, struct json_writer *w);

/* The first piece of an argument that was read at the exit, or at the entry; NULL: none. */
const struct trace_piece *decode_piece(const struct call_decoder *d, int arg, bool at_exit);
/*
 * The number of the first piece of an argument from a number on that is such a part; index -1: of
 * any. n_pieces: there is none.
 */
unsigned decode_part(const struct call_decoder *d, unsigned from, int arg, bool at_exit,
		     enum trace_part part, int index);
/* The one that is shown: at the exit if the call writes it and succeeded, else at the entry. */
const struct trace_piece *decode_shown_piece(const struct call_decoder *d, int arg,
					     const struct arg_kind *kind);
/* The network namespace of the socket that is the first argument; 0: not known. */
uint32_t decode_net_ns(const struct call_decoder *d);
/* The number of elements that a kind with a count has. */
uint64_t decode_count(const struct call_decoder *d, const struct arg_kind *kind);
static inline bool decode_is(const struct call_decoder *d, const char *name)
{
	return d->call && !strcmp(d->call->name, name);
}
static inline uint64_t decode_max_items(const struct call_decoder *d)
{
	if (d->opts->full || d->sink.w)
		return UINT64_MAX;
	return d->opts->max_items ? d->opts->max_items : DECODE_ITEMS;
}
static inline bool decode_strace(const struct call_decoder *d)
{
	return !d->sink.w && d->opts->style == CALL_STYLE_STRACE;
}

/* A number from a register or from memory. */
void show_number(struct call_decoder *d, const struct arg_kind *kind, uint64_t v);
/* The number of size bytes at p. */
void show_number_at(struct call_decoder *d, const struct arg_kind *kind, const void *p,
		    uint32_t size, bool is_signed);
/* With its file, if the record has it; call_fd.c. */
void show_fd(struct call_decoder *d, int fd);
void show_signal(struct call_decoder *d, int sig);
void show_sigset(struct call_decoder *d, const uint8_t *p, size_t len);
void show_dev(struct call_decoder *d, uint64_t dev);
void show_file_mode(struct call_decoder *d, uint32_t mode);
/* The date that a time is, as a comment of strace style. */
void show_date(struct call_decoder *d, int64_t sec, uint64_t nsec);
/* The same as text; false: it has none. */
bool date_text(int64_t sec, uint64_t nsec, char *text, size_t size);
/* "IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 4)" */
void ioprio_text(const struct call_decoder *d, uint32_t v, struct strbuf *out);
void show_wait_status(struct call_decoder *d, uint32_t status);
/* An argument whose meaning depends on another one. */
void show_dependent(struct call_decoder *d, int arg, const struct arg_kind *kind);
/* Whether an argument is left out, because another one says that it is not used. */
bool is_unused(const struct call_decoder *d, int arg);

/* What a pointer that is an argument points to, or its address. */
void show_pointer(struct call_decoder *d, int arg, const struct arg_kind *kind);
/* A struct or array element at p, where len bytes are; false: too few, and nothing is shown. */
bool show_element(struct call_decoder *d, const struct arg_kind *kind, const uint8_t *p,
		  size_t len);

/* The bytes of a siginfo_t, 128 of them; call_siginfo.c. */
void show_siginfo(struct call_decoder *d, const uint8_t *p);

/* The capabilities of capget(2) and capset(2). */
void show_cap_data(struct call_decoder *d, int arg, const struct arg_kind *kind);

/* The memory of arguments with forms of their own; call_vectors.c. */
void show_string_arg(struct call_decoder *d, int arg, const struct arg_kind *kind);
void show_strings(struct call_decoder *d, int arg, bool is_envp);
void show_iovec_arg(struct call_decoder *d, int arg, const struct arg_kind *kind);
void show_msghdr_arg(struct call_decoder *d, int arg, const struct arg_kind *kind);
void show_mmsghdr_arg(struct call_decoder *d, int arg, const struct arg_kind *kind);

/* A member with the port at p, in network byte order: htons(80) with strace; call_sockaddr.c. */
void show_port(struct call_decoder *d, const char *name, const uint8_t *p);
/* len bytes of a struct sockaddr. */
void show_sockaddr(struct call_decoder *d, const uint8_t *p, size_t len);
void show_sockaddr_arg(struct call_decoder *d, int arg, const struct arg_kind *kind);
void show_socklen_arg(struct call_decoder *d, int arg);

/* A value of a BTF type in len bytes at p; call_btf.c. */
void show_btf(struct call_decoder *d, uint32_t type, const void *p, size_t len);

void show_call_struct(struct call_decoder *d, const struct call_struct *s, const uint8_t *p);
/* Only members that end within the first size bytes. */
void show_call_struct_of(struct call_decoder *d, const struct call_struct *s, const uint8_t *p,
			 uint32_t size);

/* What an argument is, or points to, where a command says so; call_pointed.c. */
struct pointed_memory {
	uint8_t direction; /* ARG_READ or ARG_WRITTEN; 0: the argument is a number of the kind */
	const char *type;  /* a struct of syscalls/structs.in; NULL: kind */
	struct arg_kind kind;
};
void show_pointed(struct call_decoder *d, int arg, const struct pointed_memory *m);
void show_ipc_arg(struct call_decoder *d, int arg);

/* call_sockopt.c */
void show_sock_protocol(struct call_decoder *d, uint64_t family, uint32_t v);
void show_sock_option(struct call_decoder *d, uint64_t level, uint32_t v);
/* Most values are an int. */
void show_sock_value(struct call_decoder *d, int arg, const struct arg_kind *kind);

/* call_futex.c */
void show_futex_op(struct call_decoder *d, uint32_t op);
void show_futex_timeout(struct call_decoder *d, int arg);
void show_futex_val3(struct call_decoder *d, uint32_t v);

/* call_fcntl.c */
void show_fcntl_arg(struct call_decoder *d, int arg);

/* call_prctl.c */
void show_prctl_arg(struct call_decoder *d, int arg);
/* Whether the option has the argument. */
bool prctl_has_arg(const struct call_decoder *d, int arg);
void show_arch_prctl_arg(struct call_decoder *d, int arg);
void add_prctl_result(struct call_decoder *d);

/* call_ioctl.c */
void show_ioctl_cmd(struct call_decoder *d, uint32_t cmd);
void show_ioctl_arg(struct call_decoder *d, int arg);
bool ioctl_has_arg(uint32_t cmd);

/* call_bpf.c */
void show_bpf_attr(struct call_decoder *d, int arg, const struct arg_kind *kind);
void show_perf_attr(struct call_decoder *d, int arg);

/* call_keyctl.c */
bool keyctl_has_arg(const struct call_decoder *d, int arg);
void show_keyctl_arg(struct call_decoder *d, int arg);

/* call_quota.c */
void show_quota_cmd(struct call_decoder *d, uint32_t cmd);
void show_quota_id(struct call_decoder *d, int arg);
void show_quota_addr(struct call_decoder *d, int arg);
bool quota_has_arg(const struct call_decoder *d, int arg);

/*
 * The first len of all bytes of a buffer, if they are messages of a netlink socket; false: they are
 * not, and nothing is shown. call_netlink.c.
 */
bool show_netlink_messages(struct call_decoder *d, const uint8_t *p, size_t len, uint64_t all);

/* Attributes of a message, of which len bytes are there; call_nlattr.c. */
struct nla_rows;
extern const struct nla_rows nla_link, nla_addr, nla_route, nla_neigh, nla_rule, nla_tc,
	nla_netconf, nla_error, nla_inet_diag, nla_unix_diag, nla_netlink_diag;
/* rows NULL: their types have no names. At least the head of the first one is there. */
void show_nlattrs(struct call_decoder *d, const struct nla_rows *rows, int family, const uint8_t *p,
		  size_t len);
/* The bytes of an address of AF_INET or AF_INET6. */
void show_inet_addr(struct call_decoder *d, int family, const uint8_t *p);
/* As many bytes as --string-size says. */
void show_hex_bytes(struct call_decoder *d, const uint8_t *p, size_t len);
/* What follows the header of a message of NETLINK_SOCK_DIAG; call_sockdiag.c. */
void show_sock_diag(struct call_decoder *d, bool is_request, const uint8_t *p, size_t len);
/* The first members of a struct, of which len bytes are there, and what follows: attributes. */
void show_netlink_body(struct call_decoder *d, const char *type, const struct nla_rows *rows,
		       const uint8_t *p, size_t len);
/* "00:1b:21:3c:9d:f8" */
void show_mac(struct call_decoder *d, const uint8_t *p, size_t len);

/* The members of a struct termios; call_termios.c. */
void show_tty_oflag(struct call_decoder *d, uint32_t v);
void show_tty_cflag(struct call_decoder *d, uint32_t v);
void show_tty_cc(struct call_decoder *d, const uint8_t *p, size_t len);

#endif
