/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A record for each getppid(2) of the process whose pid is set, into each kind
 * of ring, and what found no room counted; samples of a user ring are added up.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct record {
	__u64 seq;
	__u64 check;
	__u8 rest[];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ring SEC(".maps"), second SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, 4);
	__uint(value_size, 4);
} perf SEC(".maps");

#ifdef USER
struct {
	__uint(type, BPF_MAP_TYPE_USER_RINGBUF);
	__uint(max_entries, 4096);
} user SEC(".maps");
#endif

__u32 pid = 0;
__u32 nr = 0;	/* getppid(2)'s number, as this machine has it */
__u32 mode = 0; /* 0: ring, 1: both rings in turn, 2: perf, 3: user, 4: every third discarded */
__u64 sent = 0, lost = 0;
__u64 user_count = 0, user_sum = 0;

static void emit(void *map, __u64 seq)
{
	struct record *r = bpf_ringbuf_reserve(map, 48, 0);

	if (!r) {
		lost++;
		return;
	}
	r->seq = seq;
	r->check = ~seq;
	if (mode == 4 && seq % 3 == 0)
		bpf_ringbuf_discard(r, 0);
	else
		bpf_ringbuf_submit(r, 0);
}

#ifdef USER
static long take(struct bpf_dynptr *ptr, void *ctx)
{
	const __u64 *value = bpf_dynptr_data(ptr, 0, sizeof(*value));

	if (value) {
		user_count++;
		user_sum += *value;
	}
	return 0;
}
#endif

SEC("raw_tp/sys_enter")
int on_enter(struct bpf_raw_tracepoint_args *ctx)
{
	if (ctx->args[1] != nr || bpf_get_current_pid_tgid() >> 32 != pid)
		return 0;
	__u64 seq = sent++;

#ifdef USER
	if (mode == 3) {
		bpf_user_ringbuf_drain(&user, take, 0, 0);
		return 0;
	}
#endif
	if (mode == 2) {
		__u64 data[5] = {seq, ~seq};

		if (bpf_perf_event_output(ctx, &perf, BPF_F_CURRENT_CPU, data, sizeof(data)))
			lost++;
	} else if (mode == 1 && seq % 2) {
		emit(&second, seq);
	} else {
		emit(&ring, seq);
	}
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
