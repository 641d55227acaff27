/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies memory of the process into a record that is put together in a scratch.
 *
 * The functions are global, which means that the verifier checks each of them once, for all
 * arguments, instead of once for each way to call it. Kernel 5.10 allows only numbers as their
 * arguments, so they get the number of the scratch and look it up.
 */
#ifndef PB_TRACE_TRACE_COPY_BPF_H
#define PB_TRACE_TRACE_COPY_BPF_H

enum {
	STRINGS_MAX = 64,     /* strings of an array that are copied */
	STRINGS_CHUNK = 16,   /* strings of an array that one call of a function counts */
	STRINGS_CHUNKS = 16,  /* such calls: more strings are not counted */
	IOVECS_MAX = 32,      /* buffers of an iovec that are copied */
	MESSAGES_MAX = 8,     /* of an mmsghdr */
	NAME_MAX_BYTES = 128, /* struct sockaddr_storage */
	CONTROL_MAX_BYTES = 1024,
	CONTROL_PARTS = 4, /* of control data whose descriptors have files */
	PATH_MAX_BYTES = 4096,
	PAGE_BYTES = 4096,
	AREA_MAX_BYTES = 4096,
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2); /* two for each CPU: source.c sets it */
	__type(key, __u32);
	__type(value, struct trace_scratch);
} scratches SEC(".maps");

/* What a piece is: the first bytes of struct trace_piece, in their order. */
#define TAG(arg, copy, exit)  ((__u64)(arg) | (__u64)(copy) << 8 | (__u64)(exit) << 16)
#define TAG_PART(tag, part)   ((tag) | (__u64)(part) << 32)
#define TAG_INDEX(tag, index) ((tag) | (__u64)(index) << 40)

/* Pieces are 8-byte aligned: the head of three words. */
struct piece_words {
	__u64 tag; /* arg, copy, exit, flags, part, index, and len in the last two bytes */
	__u64 addr;
	__u64 full;
	__u8 data[];
};
#define TAG_FLAGS(flags) ((__u64)(flags) << 24)
#define TAG_LEN(len)	 ((__u64)(len) << 48)

/* A piece with its head, and no data yet; NULL: the record is full. */
static __always_inline struct piece_words *piece_begin(struct trace_scratch *s)
{
	__u32 at = s->len;

	if (s->rec.n_pieces >= TRACE_PIECES || at < sizeof(s->rec) ||
	    at > TRACE_RECORD_MAX - sizeof(struct piece_words))
		return 0;
	return (void *)&s->rec + at;
}

static __always_inline void piece_end(struct trace_scratch *s, struct piece_words *p, __u64 tag,
				      __u32 flags, __u64 addr, __u64 full, __u32 len)
{
	p->tag = tag | TAG_FLAGS(flags) | TAG_LEN(len);
	p->addr = addr;
	p->full = full;
	s->len += sizeof(*p) + ((len + 7) & ~7u);
	s->data += len;
	s->rec.n_pieces++;
}

/* Copies `full` bytes, at most `limit`. Returns 1 if nothing could be read. */
__attribute__((noinline)) int trace_copy_bytes(__u32 where, __u64 tag, __u64 addr, __u64 full,
					       __u32 limit)
{
	struct trace_scratch *s = bpf_map_lookup_elem(&scratches, &where);
	struct piece_words *p;
	__u32 len, flags = 0;

	if (!s || !addr || !full)
		return 0;
	p = piece_begin(s);
	if (!p)
		return 0;
	if (s->data > TRACE_DATA_MAX)
		return 0;
	len = TRACE_DATA_MAX - s->data;
	if (len > limit)
		len = limit;
	if (len < full)
		flags = TRACE_PIECE_CUT;
	else
		len = full;
	if (len) {
		__u64 *last;

		__u64 n = len;

		barrier_var(n);
		if (n > TRACE_DATA_MAX)
			return 0;
		/* the padding */
		last = (void *)p->data + (n & ~7ull);
		*last = 0;
		if (bpf_probe_read_user(p->data, n, (void *)addr)) {
			/* up to the end of the page at least */
			__u64 part = PAGE_BYTES - (addr & (PAGE_BYTES - 1));

			flags |= TRACE_PIECE_FAULT;
			if (part >= n)
				part = 0;
			barrier_var(part);
			if (part > PAGE_BYTES)
				part = 0;
			if (part && bpf_probe_read_user(p->data, part, (void *)addr))
				part = 0;
			len = part;
		}
	}
	if ((flags & TRACE_PIECE_FAULT) && !len && !((tag >> 16) & 1))
		return 1;
	piece_end(s, p, tag, flags, addr, full, len);
	return 0;
}

/* Copies a string of at most `limit` bytes. Returns 1 if it could not be read. */
__attribute__((noinline)) int trace_copy_string(__u32 where, __u64 tag, __u64 addr, __u32 limit)
{
	struct trace_scratch *s = bpf_map_lookup_elem(&scratches, &where);
	struct piece_words *p;
	__u32 room, flags = 0;
	__u64 size;
	long n;

	if (!s || !addr)
		return 0;
	p = piece_begin(s);
	if (!p || s->data > TRACE_DATA_MAX)
		return 0;
	room = TRACE_DATA_MAX - s->data;
	if (limit > room)
		limit = room;
	/* one more than the limit says whether there is more, and the last byte is a NUL */
	size = limit + 2;
	barrier_var(size);
	if (size > TRACE_DATA_MAX + 2)
		return 0;
	n = bpf_probe_read_user_str(p->data, size, (void *)addr);
	/* what follows the limit may be unreadable: then there is no NUL before it */
	if (n <= 0) {
		__u64 all = limit + 1;

		barrier_var(all);
		if (all <= TRACE_DATA_MAX + 1 && !bpf_probe_read_user(p->data, all, (void *)addr))
			n = all + 1;
	}
	if (n <= 0) {
		if (!((tag >> 16) & 1))
			return 1;
		flags = TRACE_PIECE_FAULT;
		n = 0;
	} else {
		n--;
	}
	if (n > limit) {
		n = limit;
		flags = TRACE_PIECE_CUT;
	}
	barrier_var(n);
	if (n < 0 || n > TRACE_DATA_MAX)
		return 0;
	if (n & 7) {
		__u64 *last = (void *)p->data + (n & ~7ul);

		*last &= ~0ull >> (64 - 8 * (n & 7));
	}
	piece_end(s, p, tag, flags, addr, 0, n);
	return 0;
}

/*
 * A pointer or size_t of the process. Functions that call others read it into the scratch: Linux
 * before 5.18 lets the call chain to trace_copy_bytes() have 512 bytes of stack, in steps of 32.
 */
static __always_inline long read_word(const struct trace_scratch *s, __u64 addr, __u64 *word)
{
	*word = 0;
	return bpf_probe_read_user(word, s->compat ? 4 : 8, (void *)addr);
}

/* Two words: an iovec. */
static __always_inline long read_words(struct trace_scratch *s, __u64 addr)
{
	if (!s->compat)
		return bpf_probe_read_user(s->words, 16, (void *)addr);
	if (bpf_probe_read_user(s->words, 8, (void *)addr))
		return 1;
	s->words[1] = s->words[0] >> 32;
	s->words[0] = (__u32)s->words[0];
	return 0;
}

static __always_inline __u32 word_size(const struct trace_scratch *s)
{
	return s->compat ? 4 : 8;
}

/*
 * The pointers of an array up to its NULL, at most STRINGS_CHUNK; -1 - n: the one behind the first
 * n cannot be read. Loops over strings call functions, since the verifier follows each turn of a
 * loop: what such a function does is checked once, instead of for each string.
 */
__attribute__((noinline)) int trace_count_strings(__u32 where, __u64 addr)
{
	struct trace_scratch *s = bpf_map_lookup_elem(&scratches, &where);
	__u64 word;
	__u32 size;

	if (!s)
		return 0;
	size = word_size(s);
	for (int i = 0; i < STRINGS_CHUNK; i++) {
		if (read_word(s, addr + i * size, &word))
			return -1 - i;
		if (!word)
			return i;
	}
	return STRINGS_CHUNK;
}

/* The string that a pointer of the process points to; 1: there is no such pointer. */
__attribute__((noinline)) int trace_copy_string_at(__u32 where, __u64 tag, __u64 addr, __u32 limit)
{
	struct trace_scratch *s = bpf_map_lookup_elem(&scratches, &where);
	__u64 word;

	if (!s || read_word(s, addr, &word))
		return 1;
	/* a string that faults has a piece all the same */
	if (trace_copy_string(where, tag, word, limit) == 1) {
		trace_copy_string(where, tag | 1 << 16, word, limit);
		s->strings_faulted = 1;
	}
	return 0;
}

/* An array of strings that ends with NULL. */
__attribute__((noinline)) int trace_copy_strings(__u32 where, __u64 tag, __u64 addr, __u32 max,
						 __u32 limit)
{
	struct trace_scratch *s = bpf_map_lookup_elem(&scratches, &where);
	struct piece_words *p;
	__u32 n = 0, flags = TRACE_PIECE_CUT, size;

	if (!s || !addr)
		return 0;
	p = piece_begin(s);
	if (!p)
		return 0;
	size = word_size(s);
	for (__u32 i = 0; i < STRINGS_CHUNKS; i++) {
		int got = trace_count_strings(where, addr + i * STRINGS_CHUNK * size);

		if (got < 0) {
			flags = TRACE_PIECE_FAULT;
			got = -1 - got;
		} else if (got < STRINGS_CHUNK) {
			flags = 0;
		}
		n += got;
		if (got < STRINGS_CHUNK)
			break;
	}
	if (!n && (flags & TRACE_PIECE_FAULT) && !((tag >> 16) & 1))
		return 1;
	piece_end(s, p, tag, flags, addr, n, 0);
	/* read back: the verifier would follow each number of strings by itself */
	n = *(volatile __u64 *)&p->full;
	for (__u32 i = 0; i < STRINGS_MAX && i < max && i < n; i++)
		if (trace_copy_string_at(where, TAG_INDEX(TAG_PART(tag, TRACE_PART_STRING), i),
					 addr + i * size, limit))
			break;
	return 0;
}

/* The buffers of iovecs. Those of a message have its index, others that of their iovec. */
__attribute__((noinline)) int trace_copy_buffers(__u32 where, __u64 tag, __u64 addr, __u32 count)
{
	struct trace_scratch *s = bpf_map_lookup_elem(&scratches, &where);
	__u64 step = (__u8)(tag >> 32) == TRACE_PART_IOVEC ? 0 : TAG_INDEX(0ull, 1);

	if (!s)
		return 0;
	tag = TAG_PART(tag & 0xff0000ffffffull, TRACE_PART_BUFFER);
	for (__u32 i = 0; i < IOVECS_MAX && i < count; i++) {
		__u64 len;

		if (read_words(s, addr))
			break;
		len = s->words[1];
		if (len > s->left)
			len = s->left;
		s->left -= len;
		if (trace_copy_bytes(where, tag, s->words[0], len, s->limit))
			s->buffer_faulted = 1;
		tag += step;
		addr += 2 * word_size(s);
	}
	return 0;
}

/* iovecs, and their buffers. */
__attribute__((noinline)) int trace_copy_iovecs(__u32 where, __u64 tag, __u64 addr, __u32 count)
{
	struct trace_scratch *s = bpf_map_lookup_elem(&scratches, &where);
	__u32 size;

	if (!s || !addr || !count)
		return 0;
	size = 2 * word_size(s);
	if (trace_copy_bytes(where, tag, addr, (__u64)count * size, IOVECS_MAX * size))
		return 1;
	return trace_copy_buffers(where, tag, addr, count);
}

int trace_copy_fd_array(__u32 where, __u64 tag, __u64 addr, __u32 count, __u32 step);

/*
 * The files of descriptors that a part of a message passes, if that is SCM_RIGHTS; the bytes to the
 * next part, 0: there is none.
 */
__attribute__((noinline)) int trace_copy_rights(__u32 where, __u64 tag, __u64 addr, __u64 size)
{
	struct trace_scratch *s = bpf_map_lookup_elem(&scratches, &where);
	__u32 level_and_type[2], word;
	__u64 len;

	if (!s || !addr)
		return 0;
	word = word_size(s);
	if (read_word(s, addr, &len) ||
	    bpf_probe_read_user(level_and_type, 8, (void *)(addr + word)))
		return 0;
	if (len > size || len < word + 8)
		return 0;
	/* SOL_SOCKET, SCM_RIGHTS */
	if (level_and_type[0] == 1 && level_and_type[1] == 1)
		trace_copy_fd_array(where, tag, addr + word + 8, (len - word - 8) / 4, 4);
	len = (len + word - 1) & ~((__u64)word - 1);
	return len < size && len < CONTROL_MAX_BYTES ? len : 0;
}

/* The members of a struct msghdr of user space, by their offsets. */
__attribute__((noinline)) int trace_copy_message(__u32 where, __u64 tag, __u64 addr, __u32 full)
{
	struct trace_scratch *s = bpf_map_lookup_elem(&scratches, &where);
	const volatile struct trace_config *cfg = &config;
	__u32 word;

	if (!s || !addr)
		return 0;
	word = word_size(s);
	if (trace_copy_bytes(where, tag, addr, full, full))
		return 1;
	s->words[1] = 0;
	if (read_word(s, addr, &s->words[0]) ||
	    bpf_probe_read_user(&s->words[1], 4, (void *)(addr + word)))
		return 0;
	trace_copy_bytes(where, TAG_PART(tag, TRACE_PART_NAME), s->words[0], s->words[1],
			 NAME_MAX_BYTES);
	if (read_word(s, addr + 2 * word, &s->words[0]) ||
	    read_word(s, addr + 3 * word, &s->words[1]))
		return 0;
	trace_copy_iovecs(where, TAG_PART(tag, TRACE_PART_IOVEC), s->words[0],
			  s->words[1] > 1024 ? 1024 : s->words[1]);
	if (read_word(s, addr + 4 * word, &s->words[0]) ||
	    read_word(s, addr + 5 * word, &s->words[1]))
		return 0;
	trace_copy_bytes(where, TAG_PART(tag, TRACE_PART_CONTROL), s->words[0], s->words[1],
			 CONTROL_MAX_BYTES);
	/* not a function: there is no room for one more frame above trace_path_step() */
	for (__u32 i = 0; cfg->fds && i < CONTROL_PARTS; i++) {
		int step = trace_copy_rights(where, tag & 0xff00ff, s->words[0], s->words[1]);

		if (step <= 0)
			break;
		s->words[0] += step;
		s->words[1] -= step;
	}
	return 0;
}

/* struct mmsghdr: a struct msghdr, and the bytes sent or received. */
__attribute__((noinline)) int trace_copy_messages(__u32 where, __u64 tag, __u64 addr, __u32 count,
						  __u32 by_ret)
{
	struct trace_scratch *s = bpf_map_lookup_elem(&scratches, &where);

	if (!s || !addr)
		return 0;
	for (__u32 i = 0; i < MESSAGES_MAX && i < count; i++) {
		s->left = ~0ull;
		s->words[0] = 0;
		if (by_ret &&
		    !bpf_probe_read_user(&s->words[0], 4, (void *)(addr + 7 * word_size(s))))
			s->left = s->words[0];
		if (trace_copy_message(where, tag, addr, 8 * word_size(s)))
			return !i;
		tag += TAG_INDEX(0ull, 1);
		addr += 8 * word_size(s);
	}
	return 0;
}

/* Bytes that pointer number `index` of a struct of the process points to. */
__attribute__((noinline)) int trace_copy_pointed(__u32 where, __u64 tag, __u64 addr, __u32 index,
						 __u32 size)
{
	struct trace_scratch *s = bpf_map_lookup_elem(&scratches, &where);
	__u64 pointer;

	if (!s || !addr || read_word(s, addr + index * word_size(s), &pointer))
		return 0;
	trace_copy_bytes(where, TAG_INDEX(TAG_PART(tag, TRACE_PART_POINTED), (__u64)index), pointer,
			 size, size);
	return 0;
}

/* The copy number `which` of the scratch's call. Returns 1 if it is to be tried again. */
__attribute__((noinline)) int trace_copy_one(__u32 where, __u32 which, __u32 exit)
{
	struct trace_scratch *s = bpf_map_lookup_elem(&scratches, &where);
	const volatile struct trace_config *cfg = &config;
	const struct trace_call *call;
	const struct trace_copy *copy;
	__u64 addr, count, tag;
	__u32 limit, kind, by_ret, size;

	if (!s || which >= TRACE_COPIES)
		return 0;
	call = bpf_map_lookup_elem(&calls, &s->index);
	if (!call)
		return 0;
	copy = &call->copies[which];
	if (copy->arg >= TRACE_ARGS || copy->count_arg >= TRACE_ARGS)
		return 0;
	if ((copy->flags & TRACE_COPY_IF_OK) && (__s64)s->ret < 0)
		return 0;
	kind = copy->kind;
	size = copy->size;
	addr = s->args[copy->arg];
	count = s->args[copy->count_arg];
	if (copy->flags & TRACE_COPY_COUNT_32)
		count = (__u32)count;
	limit = copy->flags & TRACE_COPY_LIMITED && !s->netlink ? cfg->string_size : TRACE_DATA_MAX;
	by_ret = copy->flags & TRACE_COPY_BY_RET;
	s->left = by_ret ? s->ret : ~0ull;
	s->limit = limit;
	tag = TAG(copy->arg, which, !!exit);
	if (kind == TRACE_COPY_STRING) {
		if (!size)
			size = PATH_MAX_BYTES;
		return trace_copy_string(where, tag, addr, size < limit ? size : limit);
	}
	if (kind == TRACE_COPY_BYTES)
		return trace_copy_bytes(where, tag, addr, size, limit);
	if (kind == TRACE_COPY_COUNT) {
		if (s->compat)
			count = (__u32)count;
		if ((copy->flags & TRACE_COPY_BITS) && count >> 31)
			return 0;
		if (copy->flags & TRACE_COPY_BITS)
			return trace_copy_bytes(where, tag, addr, (count + 63) / 64 * 8, size);
		/* no overflow: more than that is cut */
		if (count > 1ull << 31)
			count = 1ull << 31;
		count *= size;
		if (by_ret && count > s->ret)
			count = s->ret;
		return trace_copy_bytes(where, tag, addr, count, limit);
	}
	if (kind == TRACE_COPY_COUNT_PTR) {
		__u32 len = 0;

		if (!addr || !count || bpf_probe_read_user(&len, 4, (void *)count))
			return 0;
		if (size && size < limit)
			limit = size;
		return trace_copy_bytes(where, tag, addr, len, limit);
	}
	if (kind == TRACE_COPY_RET) {
		if ((__s64)s->ret <= 0)
			return 0;
		return trace_copy_bytes(where, tag, addr, s->ret * size, limit);
	}
	if (kind == TRACE_COPY_POINTED)
		return trace_copy_pointed(where, tag, addr, copy->count_arg, size);
	if (kind == TRACE_COPY_STRINGS) {
		if (trace_copy_strings(where, tag, addr, size, limit))
			return 1;
		return s->strings_faulted && !exit;
	}
	/* if a buffer could not be read, all is read again */
	s->buffer_faulted = 0;
	if (kind == TRACE_COPY_IOVEC) {
		if (trace_copy_iovecs(where, tag, addr, count > 1024 ? 1024 : count))
			return 1;
		return s->buffer_faulted;
	}
	if (kind == TRACE_COPY_MSGHDR) {
		if (trace_copy_message(where, tag, addr, 7 * word_size(s)))
			return 1;
		return s->buffer_faulted;
	}
	if (kind == TRACE_COPY_MMSGHDR) {
		if (exit)
			count = (__s64)s->ret > 0 ? s->ret : 0;
		if (trace_copy_messages(where, tag, addr, count > 1024 ? 1024 : count, by_ret))
			return 1;
		return s->buffer_faulted;
	}
	return 0;
}

/*
 * What execve(2) was given, from the memory of the new program: the kernel has put it there. The
 * old memory had it on pages that were not yet read from their file. The name is behind the
 * environment.
 */
__attribute__((noinline)) int trace_copy_exec(__u32 where)
{
	struct trace_scratch *s = bpf_map_lookup_elem(&scratches, &where);
	struct task_struct *task = (void *)bpf_get_current_task();
	const struct trace_call *call;
	struct mm_struct *mm;
	__u64 start;

	if (!s)
		return 0;
	call = bpf_map_lookup_elem(&calls, &s->index);
	mm = BPF_CORE_READ(task, mm);
	if (!call || !mm)
		return 0;
	start = BPF_CORE_READ(mm, arg_start);
	for (__u32 i = 0; i < TRACE_COPIES; i++) {
		const struct trace_copy *copy = &call->copies[i];

		if (copy->kind == TRACE_COPY_STRING)
			trace_copy_string(where, TAG(copy->arg, i, 1), BPF_CORE_READ(mm, env_end),
					  PATH_MAX_BYTES);
		if (copy->kind != TRACE_COPY_STRINGS)
			continue;
		trace_copy_bytes(where, TAG_PART(TAG(copy->arg, i, 1), TRACE_PART_AREA), start,
				 BPF_CORE_READ(mm, arg_end) - start, AREA_MAX_BYTES);
		break; /* the first one is argv */
	}
	return 0;
}

#endif
