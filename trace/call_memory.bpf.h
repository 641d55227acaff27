/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies the memory of a call into its record. Most calls have one short copy, which goes straight
 * into the state of the thread. The others go to a scratch first, by trace_copy.bpf.h; what is
 * copied at the entry is kept in the state, or in a store if it is longer than TRACE_INLINE.
 */
#ifndef PB_TRACE_CALL_MEMORY_BPF_H
#define PB_TRACE_CALL_MEMORY_BPF_H

enum {
	/* Bytes that are copied into the state without a scratch: a struct stat has 144. */
	STRAIGHT_MAX = 160,
	STRAIGHT_STRING_MAX = 128, /* of a string, with its NUL */
	/* In a set of copies, behind their bits: the files of descriptors. */
	COPY_FDS = 1 << TRACE_COPIES,
	/* … and the arguments of execve(2), once it has succeeded. */
	COPY_EXEC = 1 << (TRACE_COPIES + 1),
};

static __always_inline struct trace_scratch *scratch_get(__u32 *where, __u32 exit)
{
	*where = bpf_get_smp_processor_id() * 2 + exit;
	return bpf_map_lookup_elem(&scratches, where);
}

/* Runs the copies of a set of bits; those that are to be tried again stay in s->faulted. */
static __always_inline void copy_all(struct trace_scratch *s, __u32 where, __u32 set, __u32 exit)
{
	for (__u32 i = 0; i < TRACE_COPIES; i++) {
		if (!(set >> i & 1))
			continue;
		if (trace_copy_one(where, i, exit))
			s->faulted |= 1 << i;
	}
	if (exit && set & COPY_EXEC)
		trace_copy_exec(where);
	if (config.fds && set & COPY_FDS)
		trace_copy_fds(where, exit);
}

static __always_inline void store_put(struct trace_state *state)
{
	__u32 at = state->store - 1;

	if (!state->store)
		return;
	state->store = 0;
	bpf_map_push_elem(&free_stores, &at, 0);
}

/* Where the record's pieces begin. */
static __always_inline __u64 pieces_at(const struct trace_record *rec)
{
	return sizeof(*rec) + (rec->n_args & 7) * 8;
}

/*
 * Reads up to STRAIGHT_MAX bytes, and sets the padding behind them; 0: done. It is not inlined:
 * Linux 5.10 forgets the bounds of a number that is saved on the stack, as n would be where
 * registers are scarce.
 */
static __attribute__((noinline)) int read_padded(__u8 *data, __u64 n, __u64 addr)
{
	__u64 *last;

	if (n > STRAIGHT_MAX)
		return 1;
	barrier_var(n); /* else both tests become "n - 1 < MAX", which says nothing about n */
	if (!n)
		return 1;
	last = (void *)data + (n & ~7ull);
	*last = 0;
	return bpf_probe_read_user(data, n, (void *)addr) != 0;
}

/*
 * The one copy of most calls, straight into the state: a name that is opened, bytes that are
 * written or were read. Returns 0 if it is for a scratch: it may be too long, or is of a kind with
 * several pieces.
 */
static __attribute__((noinline)) int
copy_straight(struct trace_state *state, const struct trace_call *call, __u32 set, __u32 exit)
{
	__u32 which = set == 2, kind;
	const struct trace_copy *copy = &call->copies[which];
	__u64 arg = copy->arg, count_arg = copy->count_arg;
	__u64 at = state->len, offset, addr, tag, n, full = 0, flags = 0;
	struct piece_words *p;
	__u64 limit;

	if ((set != 1 && set != 2) || state->store)
		return 0;
	barrier_var(arg);
	barrier_var(count_arg);
	if (arg >= TRACE_ARGS || count_arg >= TRACE_ARGS)
		return 0;
	/* a value of its own, which is not saved: see read_padded() */
	offset = at;
	barrier_var(offset);
	if (offset > TRACE_HEAD + TRACE_INLINE - STRAIGHT_MAX - sizeof(*p) - 8)
		return 0;
	p = (void *)&state->rec + offset;
	barrier_var(p);
	kind = copy->kind;
	addr = state->args[arg];
	limit = copy->flags & TRACE_COPY_LIMITED ? config.string_size : TRACE_DATA_MAX;
	tag = TAG(arg, which, exit);
	if ((copy->flags & TRACE_COPY_IF_OK) && state->rec.ret < 0)
		return 1;
	if (kind == TRACE_COPY_STRING) {
		long got;

		if (limit < STRAIGHT_STRING_MAX || !addr ||
		    (copy->size && copy->size < STRAIGHT_STRING_MAX))
			return 0;
		got = bpf_probe_read_user_str(p->data, STRAIGHT_STRING_MAX, (void *)addr);
		if (got <= 0 || got == STRAIGHT_STRING_MAX)
			return 0;
		n = got - 1;
		barrier_var(n);
		if (n > STRAIGHT_STRING_MAX)
			return 0;
		if (n & 7) {
			__u64 *last = (void *)p->data + (n & (STRAIGHT_STRING_MAX - 8));

			*last &= ~0ull >> (64 - 8 * (n & 7));
		}
	} else {
		if (kind == TRACE_COPY_BYTES)
			full = copy->size;
		else if (kind == TRACE_COPY_COUNT && copy->size == 1 &&
			 !(copy->flags & TRACE_COPY_BY_RET))
			full = copy->flags & TRACE_COPY_COUNT_32 ? (__u32)state->args[count_arg]
								 : state->args[count_arg];
		else if (kind == TRACE_COPY_RET && copy->size == 1)
			full = state->rec.ret > 0 ? state->rec.ret : 0;
		else
			return 0;
		if (!addr || !full)
			return 1;
		n = full;
		if (n > limit) {
			n = limit;
			flags = TRACE_PIECE_CUT;
		}
		if (read_padded(p->data, n, addr))
			return 0;
	}
	p->tag = tag | TAG_FLAGS(flags) | TAG_LEN(n);
	p->addr = addr;
	p->full = full;
	state->len = at + sizeof(*p) + ((n + 7) & ~7ull);
	state->rec.n_pieces++;
	return 1;
}

/* Whether the call has the memory that its copies are of: fcntl(2) does not for most commands. */
static __always_inline int has_memory(const struct trace_state *state,
				      const struct trace_call *call)
{
	__u64 arg = call->command_arg;
	__u32 command;

	if (!call->by_command)
		return 1;
	barrier_var(arg);
	if (arg >= TRACE_ARGS)
		return 1;
	command = state->args[arg];
	return command < 64 && call->commands >> command & 1;
}

/* What is copied at the entry or the exit: bits of the call's copies, and COPY_FDS. */
static __always_inline __u32 copies_of(const struct trace_state *state,
				       const struct trace_call *call, __u32 exit)
{
	__u32 set;

	if (!config.copies)
		return 0;
	set = exit ? call->at_exit : call->at_entry;
	if (set && !has_memory(state, call))
		set = 0;
	if (!config.fds)
		return set;
	if (!exit && (call->fd_args || call->fd_sets || (call->fd_array && !call->fd_array_n)))
		set |= COPY_FDS;
	if (exit && state->rec.ret >= 0 && (call->fd_ret || call->fd_array_n))
		set |= COPY_FDS;
	return set;
}

/* Copies what is read at the entry, and keeps it with the state. */
static __always_inline void keep_copies(struct trace_state *state, const struct trace_call *call,
					__u32 copies)
{
	struct trace_scratch *s;
	__u64 from, n;
	__u32 where;

	s = scratch_get(&where, 0);
	if (!s)
		return;
	from = pieces_at(&state->rec);
	s->index = state->index;
	s->len = from;
	s->data = 0;
	s->faulted = s->strings_faulted = 0;
	s->compat = state->rec.abi == TRACE_ABI_32;
	s->netlink = 0;
	s->ret = 0;
	for (int i = 0; i < TRACE_ARGS; i++)
		s->args[i] = state->args[i];
	s->rec.n_pieces = 0;
	if (config.fds && call->fd_args & TRACE_FD_NEEDED)
		s->netlink = is_netlink(s);
	state->netlink = s->netlink;
	copy_all(s, where, copies, 0);
	state->faulted = s->faulted;
	state->strings_faulted = s->strings_faulted;
	n = s->len - from;
	if (n <= TRACE_INLINE) {
		barrier_var(n);
		barrier_var(from);
		if (n > TRACE_INLINE || from > TRACE_HEAD)
			return;
		bpf_probe_read_kernel((void *)&state->rec + from, n, (void *)&s->rec + from);
	} else {
		struct trace_store *store;
		__u32 at;

		store = bpf_map_pop_elem(&free_stores, &at) ? 0 : bpf_map_lookup_elem(&stores, &at);
		if (!store) {
			state->rec.flags |= TRACE_NO_PIECES;
			return;
		}
		state->store = at + 1;
		barrier_var(n);
		barrier_var(from);
		if (n > TRACE_RECORD_MAX - TRACE_HEAD || from > TRACE_HEAD)
			return;
		bpf_probe_read_kernel(store->rec + from, n, (void *)&s->rec + from);
	}
	state->rec.n_pieces = s->rec.n_pieces;
	state->len = from + n;
}

#endif
