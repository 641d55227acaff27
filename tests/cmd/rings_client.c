// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rings with tests/bpf/rings.bpf.c: calls getppid(2) so often as it is told,
 * itself, and says what came of it. Uses the public headers only, so that it
 * compiles against libbpf too.
 *
 *	rings_client OBJECT WHAT CALLS
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As the program has them, in the order of the file. */
struct bss {
	__u32 pid, nr, mode;
	__u64 sent, lost;
	__u64 user_count, user_sum;
};

struct seen {
	unsigned long long records, wrong, last, lost;
	int ring; /* which of two */
	size_t size;
};

static struct bpf_object *obj;
static volatile struct bss *bss;
static int calls;

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static int say(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return level == LIBBPF_DEBUG ? 0 : vfprintf(stderr, fmt, ap);
}

static int map_fd(const char *name)
{
	return bpf_object__find_map_fd_by_name(obj, name);
}

static void work(int n)
{
	while (n--)
		syscall(SYS_getppid);
}

/* A perf sample's payload begins 4 bytes past a multiple of 8, so it is copied. */
static void check(struct seen *s, const void *data, size_t size)
{
	__u64 words[2] = {0};

	memcpy(words, data, size < sizeof(words) ? size : sizeof(words));
	if (size < 16 || words[1] != ~words[0] || (s->records && words[0] <= s->last))
		s->wrong++;
	s->last = words[0];
	s->size = size;
	s->records++;
}

static int on_record(void *ctx, void *data, size_t size)
{
	check(ctx, data, size);
	return 0;
}

static int stop_at_third(void *ctx, void *data, size_t size)
{
	struct seen *s = ctx;

	check(s, data, size);
	return s->records == 3 ? -77 : 0;
}

static void on_sample(void *ctx, int cpu, void *data, __u32 size)
{
	check(ctx, data, size);
}

static void on_lost(void *ctx, int cpu, __u64 n)
{
	((struct seen *)ctx)->lost += n;
}

static enum bpf_perf_event_ret on_event(void *ctx, int cpu, struct perf_event_header *event)
{
	if (event->type == PERF_RECORD_SAMPLE)
		check(ctx, (void *)((char *)event + 12), 16);
	return LIBBPF_PERF_EVENT_CONT;
}

static void refuses(const char *what, void *result)
{
	printf("%s: %s errno %d\n", what, result ? "made" : "refused", errno);
	errno = 0;
}

static void report(const struct seen *s)
{
	printf("sent %llu kernel-lost %llu records %llu wrong %llu lost %llu size %zu\n",
	       (unsigned long long)bss->sent, (unsigned long long)bss->lost, s->records, s->wrong,
	       s->lost, s->size);
}

/* As many rounds as the ring needs: 40 records of 56 bytes are less than 4096. */
static void in_rounds(struct ring_buffer *rb)
{
	int got = 0, n;

	for (int left = calls; left; left -= n) {
		n = left < 40 ? left : 40;
		work(n);
		/* The wake-up is an interrupt of its own: the data is there before it. */
		int ret = ring_buffer__poll(rb, 1000);
		if (ret < 0)
			die("poll");
		got += ret;
		ret = ring_buffer__consume(rb);
		if (ret < 0)
			die("consume");
		got += ret;
	}
	printf("returned %d\n", got);
}

static void ring(const char *what)
{
	struct seen s = {0}, other = {.ring = 1};
	struct ring_buffer *rb = ring_buffer__new(
		map_fd("ring"), !strcmp(what, "stop") ? stop_at_third : on_record, &s, NULL);
	if (!rb)
		die("ring_buffer__new");
	if (!strcmp(what, "two")) {
		bss->mode = 1;
		if (ring_buffer__add(rb, map_fd("second"), on_record, &other))
			die("ring_buffer__add");
		in_rounds(rb);
		printf("second %llu wrong %llu\n", other.records, other.wrong);
	} else if (!strcmp(what, "full") || !strcmp(what, "stop")) {
		work(calls);
		printf("consumed %d\n", ring_buffer__consume(rb));
		printf("again %d\n", ring_buffer__consume(rb));
	} else {
		if (!strcmp(what, "discard"))
			bss->mode = 4;
		in_rounds(rb);
	}
	report(&s);
	ring_buffer__free(rb);
}

#ifdef PERF_BPF_LIBBPF_H /* newer than Debian's libbpf */
static void accessors(void)
{
	struct seen s = {0};
	struct ring_buffer *rb = ring_buffer__new(map_fd("ring"), on_record, &s, NULL);
	struct ring *r = rb ? ring_buffer__ring(rb, 0) : NULL;

	if (!r)
		die("ring_buffer__ring");
	errno = 0;
	refuses("beyond", ring_buffer__ring(rb, 1));
	work(calls);
	printf("map %d size %zu avail %zu\n", ring__map_fd(r) == map_fd("ring"), ring__size(r),
	       ring__avail_data_size(r));
	printf("two %d\n", ring__consume_n(r, 2));
	printf("positions %lu %lu\n", ring__consumer_pos(r), ring__producer_pos(r));
	printf("three %d\n", ring_buffer__consume_n(rb, 3));
	printf("rest %d\n", ring__consume(r));
	report(&s);
	ring_buffer__free(rb);
}
#endif

static void perf(const char *what)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_type = PERF_SAMPLE_RAW,
		.sample_period = 1,
		.wakeup_events = 1,
	};
	struct seen s = {0};
	cpu_set_t one;
	int cpus[1] = {0}, keys[1] = {0}, n;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		die("sched_setaffinity");
	bss->mode = 2;
	LIBBPF_OPTS(perf_buffer_raw_opts, opts, .cpu_cnt = 1, .cpus = cpus, .map_keys = keys);
	struct perf_buffer *pb =
		!strcmp(what, "raw")
			? perf_buffer__new_raw(map_fd("perf"), 1, &attr, on_event, &s, &opts)
			: perf_buffer__new(map_fd("perf"), 1, on_sample, on_lost, &s, NULL);
	if (!pb)
		die("perf_buffer__new");
	if (!strcmp(what, "perf-full")) {
		work(calls);
		perf_buffer__consume(pb);
		work(1); /* only the next that finds room tells of those that did not */
		perf_buffer__consume_buffer(pb, 0);
	} else {
		for (int left = calls; left; left -= n) {
			n = left < 40 ? left : 40;
			work(n);
			if (perf_buffer__poll(pb, 1000) < 0)
				die("poll");
		}
		perf_buffer__consume(pb);
	}
	void *base = NULL;
	size_t size = 0;
	perf_buffer__buffer(pb, 0, &base, &size);
	printf("buffers %zu size %zu fd %d\n", perf_buffer__buffer_cnt(pb), size,
	       perf_buffer__buffer_fd(pb, 0) > 2);
	printf("beyond %d\n", perf_buffer__consume_buffer(pb, 4096));
	report(&s);
	perf_buffer__free(pb);
}

static void user(void)
{
	struct user_ring_buffer *rb = user_ring_buffer__new(map_fd("user"), NULL);
	unsigned long long sum = 0;
	int full = 0;

	if (!rb)
		die("user_ring_buffer__new");
	bss->mode = 3;
	errno = 0;
	refuses("too big", user_ring_buffer__reserve(rb, 4096));
	for (int i = 0; i < calls; i++) {
		__u64 *p = user_ring_buffer__reserve(rb, 40);

		if (!p && errno == ENOSPC) {
			full++;
			if (full == 1) {
				p = user_ring_buffer__reserve_blocking(rb, 40, 20);
				refuses("blocked", p);
			}
			work(1); /* drains */
			p = user_ring_buffer__reserve_blocking(rb, 40, 1000);
		}
		if (!p)
			die("reserve");
		*p = i;
		if (i % 5 == 0) {
			user_ring_buffer__discard(rb, p);
		} else {
			user_ring_buffer__submit(rb, p);
			sum += i;
		}
	}
	work(1);
	printf("full %d count %llu sum %s\n", full, (unsigned long long)bss->user_count,
	       sum == bss->user_sum ? "same" : "other");
	user_ring_buffer__free(rb);
}

static void refused(void)
{
	int fds[] = {map_fd("perf"), map_fd("ring"), 9999};

	errno = 0;
	refuses("ring of perf", ring_buffer__new(fds[0], on_record, NULL, NULL));
	refuses("perf of ring", perf_buffer__new(fds[1], 1, on_sample, NULL, NULL, NULL));
	refuses("user of ring", user_ring_buffer__new(fds[1], NULL));
	refuses("three pages", perf_buffer__new(fds[0], 3, on_sample, NULL, NULL, NULL));
	refuses("no descriptor", ring_buffer__new(fds[2], on_record, NULL, NULL));
	ring_buffer__free(NULL);
	perf_buffer__free(NULL);
	user_ring_buffer__free(NULL);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	calls = atoi(argv[3]);
	libbpf_set_print(say);
	obj = bpf_object__open(argv[1]);
	if (!obj || bpf_object__load(obj))
		die(argv[1]);
	/* Mapped by hand: libbpf does so for skeletons only. */
	void *data =
		mmap(NULL, sizeof(*bss), PROT_READ | PROT_WRITE, MAP_SHARED, map_fd(".bss"), 0);
	if (data == MAP_FAILED)
		die(".bss");
	bss = data;
	struct bpf_link *link =
		bpf_program__attach(bpf_object__find_program_by_name(obj, "on_enter"));
	if (!link)
		die("attach");
	bss->nr = SYS_getppid;
	bss->pid = getpid();
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);

	if (!strcmp(argv[2], "user"))
		user();
	else if (!strcmp(argv[2], "refused"))
		refused();
#ifdef PERF_BPF_LIBBPF_H
	else if (!strcmp(argv[2], "accessors"))
		accessors();
#endif
	else if (!strncmp(argv[2], "perf", 4) || !strcmp(argv[2], "raw"))
		perf(argv[2]);
	else
		ring(argv[2]);
	bss->pid = 0;
	bpf_link__destroy(link);
	bpf_object__close(obj);
	return 0;
}
