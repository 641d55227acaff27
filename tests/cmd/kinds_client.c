// SPDX-License-Identifier: BSD-2-Clause
/*
 * Attaches programs that are no tracing, by the public API, and does what they
 * are for: tests/cmd/test_kinds.sh and the guests of tests/vm run it.
 *
 *	kinds_client FILE KIND		0: it works; 77: "skip: WHY"; else what is wrong
 *
 * Each kind has a network namespace of its own, where lo is all there is, so
 * that nobody else's packets are counted or lost.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <bpf/perf_bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/netfilter.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(what)                                                                                \
	do {                                                                                       \
		if (!(what))                                                                       \
			wrong(__LINE__, #what);                                                    \
	} while (0)

static void __attribute__((noreturn)) wrong(int line, const char *what)
{
	const char *hint = perf_bpf_last_hint();

	printf("line %d: not so: %s (errno: %s)\nlast error: %s\n", line, what, strerror(errno),
	       perf_bpf_last_error());
	if (hint)
		printf("hint: %s\n", hint);
	exit(1);
}

static void __attribute__((noreturn)) skip(const char *why)
{
	printf("skip: %s\n", why);
	exit(77);
}

static char text[1 << 20]; /* what was read last */

/* ---- objects ---- */

struct globals {
	unsigned int *seen;
	int *verdict, *only_pid;
};

static const char *file;

static struct bpf_object *open_with(const char *name, struct bpf_program **prog)
{
	struct bpf_object *obj = bpf_object__open_file(file, NULL);

	CHECK(obj);
	*prog = bpf_object__find_program_by_name(obj, name);
	CHECK(*prog);
	CHECK(!bpf_program__set_autoload(*prog, true));
	return obj;
}

static void load(struct bpf_object *obj)
{
	const int err = bpf_object__load(obj);

	/* Where programs attach to code of the kernel or of others: lockdown, or ftrace is off. */
	if (err == -EPERM && !geteuid())
		skip("this kernel does not let itself be patched");
	CHECK(!err);
}

static struct bpf_object *load_with(const char *name, struct bpf_program **prog, struct globals *g)
{
	struct bpf_object *obj = open_with(name, prog);
	size_t size;

	load(obj);
	/* seen and only_pid in the order that the compiler gave them: told apart by what they hold.
	 */
	struct bpf_map *bss = bpf_object__find_map_by_name(obj, ".bss");
	struct bpf_map *data = bpf_object__find_map_by_name(obj, ".data");
	CHECK(bss && data);
	g->seen = bpf_map__initial_value(bss, &size);
	CHECK(g->seen && size == 8);
	g->only_pid = (int *)g->seen + 1;
	g->verdict = bpf_map__initial_value(data, &size);
	CHECK(g->verdict && size == 4);
	return obj;
}

/* ---- the network of its own ---- */

static void up(const char *name)
{
	struct ifreq req = {.ifr_flags = IFF_UP};
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", name);
	CHECK(fd >= 0 && !ioctl(fd, SIOCSIFFLAGS, &req));
	close(fd);
}

static struct sockaddr_in loopback(int port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons((unsigned short)port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* Sends a datagram to itself; whether it came. */
static int datagram_comes(void)
{
	const struct sockaddr_in at = loopback(7777);
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct pollfd ready = {.fd = fd, .events = POLLIN};

	CHECK(fd >= 0 && !bind(fd, (const struct sockaddr *)&at, sizeof(at)));
	if (sendto(fd, "x", 1, 0, (const struct sockaddr *)&at, sizeof(at)) != 1 && errno != EPERM)
		wrong(__LINE__, "sendto");
	/* Loopback delivers within sendto(); what is dropped never comes. */
	const int came = poll(&ready, 1, 50) == 1;
	close(fd);
	return came;
}

/* What a packet program does: pass while verdict is 1, drop while it is 0, and be gone. */
static void check_packets(struct globals *g, struct bpf_link *link)
{
	CHECK(link);
	CHECK(datagram_comes());
	CHECK(*g->seen >= 1);
	*g->verdict = 0;
	const unsigned int before = *g->seen;
	CHECK(!datagram_comes());
	CHECK(*g->seen > before);
	CHECK(!bpf_link__destroy(link));
	const unsigned int after = *g->seen;
	CHECK(datagram_comes());
	CHECK(*g->seen == after);
}

/* ---- the kinds ---- */

static int run(const struct bpf_program *prog)
{
	char packet[64] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet, .data_size_in = sizeof(packet));

	CHECK(!bpf_prog_test_run_opts(bpf_program__fd(prog), &opts));
	return (int)opts.retval;
}

static void kind_freplace(void)
{
	struct bpf_program *asks, *asks_too, *answers;
	struct globals g;
	struct bpf_object *first = load_with("asks", &asks, &g);
	struct bpf_object *second = load_with("asks", &asks_too, &g);

	struct bpf_object *obj = open_with("answers", &answers);
	CHECK(bpf_program__type(answers) == BPF_PROG_TYPE_EXT);
	CHECK(!bpf_program__set_attach_target(answers, bpf_program__fd(asks), "answer"));
	load(obj);

	CHECK(run(asks) == 1);
	struct bpf_link *link = bpf_program__attach(answers);
	CHECK(link);
	CHECK(run(asks) == 42 && run(asks_too) == 1);
	/* The same program for another one's function (5.10). */
	struct bpf_link *other =
		bpf_program__attach_freplace(answers, bpf_program__fd(asks_too), "answer");
	CHECK(other);
	CHECK(run(asks) == 42 && run(asks_too) == 42);
	CHECK(!bpf_link__destroy(link));
	CHECK(run(asks) == 1 && run(asks_too) == 42);
	CHECK(!bpf_link__destroy(other));
	CHECK(run(asks_too) == 1);

	CHECK(!bpf_program__attach_freplace(answers, bpf_program__fd(asks), "answr"));
	CHECK(errno == ENOENT && strstr(perf_bpf_last_error(), "has no function 'answr'"));
	CHECK(strstr(perf_bpf_last_hint(), "did you mean 'answer'"));
	CHECK(!bpf_program__attach_freplace(answers, 0, "answer") && errno == EINVAL);
	CHECK(!bpf_program__attach_freplace(asks, 0, NULL) && errno == EINVAL);
	bpf_object__close(obj);
	bpf_object__close(second);
	bpf_object__close(first);
}

/* Everything that a fresh descriptor of the iterator says. */
static const char *read_iterator(const struct bpf_link *link)
{
	const int fd = bpf_iter_create(bpf_link__fd(link));
	size_t n = 0;
	ssize_t got;

	CHECK(fd >= 0);
	while ((got = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	CHECK(!got);
	close(fd);
	text[n] = 0;
	return text;
}

static void kind_iter(void)
{
	struct bpf_program *prog;
	struct globals g;
	struct bpf_object *obj = load_with("tasks", &prog, &g);
	struct bpf_link *link = bpf_program__attach(prog);
	char line[32];

	CHECK(link);
	snprintf(line, sizeof(line), "pid %d\n", (int)getpid());
	CHECK(strstr(read_iterator(link), line));
	/* A second reader begins anew. */
	CHECK(strstr(read_iterator(link), line));
	CHECK(!bpf_link__destroy(link));
	bpf_object__close(obj);
}

static void kind_iter_of_a_map(void)
{
	struct bpf_program *prog;
	struct globals g;
	struct bpf_object *obj = load_with("elements", &prog, &g);
	struct bpf_map *map = bpf_object__find_map_by_name(obj, "numbers");
	union bpf_iter_link_info info = {.map.map_fd = (__u32)bpf_map__fd(map)};
	LIBBPF_OPTS(bpf_iter_attach_opts, opts, .link_info = &info, .link_info_len = sizeof(info));
	const long value = 4321;
	const int key = 7;

	CHECK(!bpf_map__update_elem(map, &key, sizeof(key), &value, sizeof(value), 0));
	struct bpf_link *link = bpf_program__attach_iter(prog, &opts);
	CHECK(link);
	CHECK(!strcmp(read_iterator(link), "7 is 4321\n"));
	CHECK(!bpf_link__destroy(link));
	/* Not told which map. */
	CHECK(!bpf_program__attach(prog));
	CHECK(strstr(perf_bpf_last_hint(), "link_info"));
	bpf_object__close(obj);
}

static void kind_lsm(void)
{
	struct bpf_program *prog;
	struct globals g;
	struct bpf_object *obj = load_with("ioctls", &prog, &g);

	*g.only_pid = (int)getpid();
	struct bpf_link *link = bpf_program__attach(prog);
	if (!link && (errno == EPERM || errno == EBUSY))
		skip("this kernel does not let itself be patched");
	CHECK(link);
	const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	CHECK(ioctl(fd, 0x12345678, 0) == -1);
	if (errno == ENOTTY && !*g.seen)
		skip("bpf is not among the security modules that are switched on (lsm=)");
	CHECK(errno == EOPNOTSUPP && *g.seen == 1);
	CHECK(!bpf_link__destroy(link));
	CHECK(ioctl(fd, 0x12345678, 0) == -1 && errno == ENOTTY && *g.seen == 1);
	link = bpf_program__attach_lsm(prog);
	CHECK(link);
	CHECK(ioctl(fd, 0x12345678, 0) == -1 && errno == EOPNOTSUPP && *g.seen == 2);
	CHECK(!bpf_link__destroy(link));
	close(fd);
	bpf_object__close(obj);
}

static void kind_xdp(void)
{
	struct bpf_program *prog;
	struct globals g;
	struct bpf_object *obj = load_with("on_xdp", &prog, &g);
	const int lo = (int)if_nametoindex("lo");

	struct bpf_link *link = bpf_program__attach_xdp(prog, lo);
	CHECK(link);
	CHECK(!bpf_program__attach_xdp(prog, lo) && errno == EBUSY);
	CHECK(strstr(perf_bpf_last_hint(), "lo has such a program"));
	check_packets(&g, link);
	CHECK(!bpf_program__attach_xdp(prog, 4321));
	CHECK(strstr(perf_bpf_last_hint(), "no interface with number 4321"));
	/* It does not attach by its section. */
	CHECK(!bpf_program__attach(prog) && errno == EOPNOTSUPP);
	bpf_object__close(obj);
}

static void kind_tcx(void)
{
	struct bpf_program *prog, *other;
	struct globals g, h;
	struct bpf_object *obj = load_with("on_tcx", &prog, &g);
	struct bpf_object *obj_too = load_with("on_tcx", &other, &h);
	const int lo = (int)if_nametoindex("lo");

	check_packets(&g, bpf_program__attach_tcx(prog, lo, NULL));

	/* One before the other: what the first drops, the second does not see. */
	struct bpf_link *second = bpf_program__attach_tcx(prog, lo, NULL);
	CHECK(second);
	LIBBPF_OPTS(bpf_tcx_opts, opts, .flags = 1 << 3 /* BPF_F_BEFORE */,
		    .relative_fd = (__u32)bpf_program__fd(prog));
	struct bpf_link *first = bpf_program__attach_tcx(other, lo, &opts);
	CHECK(first);
	*g.seen = *h.seen = 0;
	*h.verdict = 0;
	CHECK(!datagram_comes());
	CHECK(*h.seen >= 1 && !*g.seen);
	__u32 ids[4];
	LIBBPF_OPTS(bpf_prog_query_opts, query, .prog_ids = ids, .count = 4);
	CHECK(!bpf_prog_query_opts(lo, 46 /* BPF_TCX_INGRESS */, &query));
	CHECK(query.count == 2 && query.revision);
	/* The list changed since. */
	opts.expected_revision = query.revision - 1;
	CHECK(!bpf_program__attach_tcx(other, lo, &opts) && errno == ESTALE);
	opts.relative_id = 1;
	CHECK(!bpf_program__attach_tcx(other, lo, &opts) && errno == EINVAL);
	CHECK(!bpf_link__destroy(first));
	CHECK(!bpf_link__destroy(second));
	bpf_object__close(obj_too);
	bpf_object__close(obj);
}

/* ---- a message to rtnetlink: a pair of interfaces of a kind, named by the kernel ---- */

struct request {
	struct nlmsghdr head;
	struct ifinfomsg info;
	char attrs[256];
};

static struct rtattr *put(struct request *req, unsigned short type, const void *data, size_t size)
{
	struct rtattr *attr = (struct rtattr *)((char *)req + NLMSG_ALIGN(req->head.nlmsg_len));

	attr->rta_type = type;
	attr->rta_len = (unsigned short)RTA_LENGTH(size);
	if (size)
		memcpy(RTA_DATA(attr), data, size);
	req->head.nlmsg_len = NLMSG_ALIGN(req->head.nlmsg_len) + RTA_ALIGN(attr->rta_len);
	return attr;
}

static void put_end(struct request *req, struct rtattr *attr)
{
	attr->rta_len = (unsigned short)((char *)req + req->head.nlmsg_len - (char *)attr);
}

static int make_interface(const char *kind)
{
	struct request req = {
		.head.nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg)),
		.head.nlmsg_type = RTM_NEWLINK,
		.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK,
	};
	const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	struct {
		struct nlmsghdr head;
		struct nlmsgerr err;
		char rest[1024];
	} reply;

	struct rtattr *link = put(&req, IFLA_LINKINFO, NULL, 0);
	put(&req, IFLA_INFO_KIND, kind, strlen(kind));
	put_end(&req, link);
	CHECK(fd >= 0 && send(fd, &req, req.head.nlmsg_len, 0) == (ssize_t)req.head.nlmsg_len);
	CHECK(recv(fd, &reply, sizeof(reply), 0) > 0);
	CHECK(reply.head.nlmsg_type == NLMSG_ERROR);
	close(fd);
	return reply.err.error;
}

static void kind_netkit(void)
{
	struct bpf_program *prog;
	struct globals g;

	const int err = make_interface("netkit");
	if (err == -EOPNOTSUPP)
		skip("this kernel is built without netkit");
	errno = -err;
	CHECK(!err);
	struct bpf_object *obj = load_with("on_netkit", &prog, &g);
	/* The peer, which is made first, is nk0. */
	const int primary = (int)if_nametoindex("nk1");
	CHECK(primary);
	struct bpf_link *link = bpf_program__attach_netkit(prog, primary, NULL);
	CHECK(link);
	up("nk0");
	up("nk1");
	struct sockaddr_in at = loopback(7777);
	at.sin_addr.s_addr = htonl(0x0a000002);
	struct ifreq req = {.ifr_name = "nk1"};
	((struct sockaddr_in *)&req.ifr_addr)->sin_family = AF_INET;
	((struct sockaddr_in *)&req.ifr_addr)->sin_addr.s_addr = htonl(0x0a000001);
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK(fd >= 0 && !ioctl(fd, SIOCSIFADDR, &req));
	CHECK(sendto(fd, "x", 1, 0, (struct sockaddr *)&at, sizeof(at)) == 1);
	CHECK(*g.seen >= 1);
	CHECK(!bpf_link__destroy(link));
	const unsigned int seen = *g.seen;
	CHECK(sendto(fd, "x", 1, 0, (struct sockaddr *)&at, sizeof(at)) == 1);
	CHECK(*g.seen == seen);
	close(fd);
	CHECK(!bpf_program__attach_netkit(prog, (int)if_nametoindex("lo"), NULL));
	bpf_object__close(obj);
}

static void kind_netfilter(void)
{
	LIBBPF_OPTS(bpf_netfilter_opts, opts, .pf = NFPROTO_IPV4, .hooknum = NF_INET_LOCAL_IN,
		    .priority = -123);
	struct bpf_program *prog;
	struct globals g;
	struct bpf_object *obj = load_with("on_netfilter", &prog, &g);

	check_packets(&g, bpf_program__attach_netfilter(prog, &opts));
	opts.priority = INT32_MIN;
	CHECK(!bpf_program__attach_netfilter(prog, &opts));
	CHECK(strstr(perf_bpf_last_hint(), "priority"));
	bpf_object__close(obj);
}

static char cgroups[64]; /* where the tree is mounted */

/* A cgroup of the process's own, in a mount of its own; the process goes into it. */
static int enter_cgroup(char *path, size_t size)
{
	char procs[256];

	CHECK(!unshare(CLONE_NEWNS) && !mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL));
	snprintf(cgroups, sizeof(cgroups), "/tmp/kinds-cgroup-%d", (int)getpid());
	CHECK(!mkdir(cgroups, 0700) && !mount("none", cgroups, "cgroup2", 0, NULL));
	snprintf(path, size, "%s/perf-bpf-kinds-%d", cgroups, (int)getpid());
	CHECK(!mkdir(path, 0700));
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
	int fd = open(procs, O_WRONLY | O_CLOEXEC);
	CHECK(fd >= 0 && write(fd, "0", 1) == 1);
	close(fd);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(fd >= 0);
	return fd;
}

static void leave_cgroup(const char *path)
{
	char procs[128];

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", cgroups);
	const int fd = open(procs, O_WRONLY | O_CLOEXEC);
	CHECK(fd >= 0 && write(fd, "0", 1) == 1);
	close(fd);
	CHECK(!rmdir(path) && !umount2(cgroups, MNT_DETACH) && !rmdir(cgroups));
}

/* 0, or the errno of connect(2) of a datagram socket. */
static int connects(void)
{
	const struct sockaddr_in at = loopback(9);
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	const int err = connect(fd, (const struct sockaddr *)&at, sizeof(at)) ? errno : 0;

	close(fd);
	return err;
}

static void kind_cgroup(void)
{
	struct bpf_program *prog;
	struct globals g;
	struct bpf_object *obj = load_with("connects", &prog, &g);
	char path[128];
	const int cgroup = enter_cgroup(path, sizeof(path));

	CHECK(!connects());
	struct bpf_link *link = bpf_program__attach_cgroup(prog, cgroup);
	CHECK(link);
	CHECK(!connects() && *g.seen == 1);
	*g.verdict = 0;
	CHECK(connects() == EPERM && *g.seen == 2);
	CHECK(!bpf_link__destroy(link));
	CHECK(!connects() && *g.seen == 2);

	CHECK(!bpf_program__attach_cgroup(prog, open("/", O_RDONLY | O_CLOEXEC)));
	CHECK(strstr(perf_bpf_last_hint(), "cgroup version 2"));
	leave_cgroup(path);
	bpf_object__close(obj);
}

static void kind_cgroup_in_order(void)
{
	struct bpf_program *prog, *too;
	struct globals g, h;
	struct bpf_object *obj = load_with("connects", &prog, &g);
	struct bpf_object *obj_too = load_with("connects_too", &too, &h);
	char path[128];
	const int cgroup = enter_cgroup(path, sizeof(path));
	struct bpf_link *second = bpf_program__attach_cgroup(prog, cgroup);

	CHECK(second);
	LIBBPF_OPTS(bpf_cgroup_opts, opts, .flags = 1 << 3 | 1 << 13 /* BPF_F_BEFORE, …LINK */,
		    .relative_fd = (__u32)bpf_link__fd(second));
	struct bpf_link *first = bpf_program__attach_cgroup_opts(too, cgroup, &opts);
	CHECK(first);
	/* All run, whatever they say; in this order. */
	__u32 ids[2] = {0};
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);
	LIBBPF_OPTS(bpf_prog_query_opts, query, .prog_ids = ids, .count = 2);
	CHECK(!bpf_prog_query_opts(cgroup, BPF_CGROUP_INET4_CONNECT, &query) && query.count == 2);
	CHECK(!bpf_prog_get_info_by_fd(bpf_program__fd(too), &info, &len));
	CHECK(ids[0] == info.id);
	CHECK(!connects() && *g.seen == 1 && *h.seen == 100);
	CHECK(!bpf_link__destroy(first));
	CHECK(!bpf_link__destroy(second));
	leave_cgroup(path);
	bpf_object__close(obj_too);
	bpf_object__close(obj);
}

static void kind_lsm_cgroup(void)
{
	const struct sockaddr_in at = loopback(0);
	struct bpf_program *prog;
	struct globals g;
	struct bpf_object *obj = load_with("binds", &prog, &g);
	char path[128];
	const int cgroup = enter_cgroup(path, sizeof(path));
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct bpf_link *link = bpf_program__attach_cgroup(prog, cgroup);

	if (!link && (errno == EPERM || errno == EBUSY)) {
		leave_cgroup(path);
		skip("this kernel does not let itself be patched");
	}
	CHECK(link);
	*g.verdict = 0;
	if (!bind(fd, (const struct sockaddr *)&at, sizeof(at)) && !*g.seen) {
		leave_cgroup(path);
		skip("bpf is not among the security modules that are switched on (lsm=)");
	}
	CHECK(*g.seen == 1 && errno == EPERM);
	CHECK(!bpf_link__destroy(link));
	CHECK(!bind(fd, (const struct sockaddr *)&at, sizeof(at)) && *g.seen == 1);
	close(fd);
	leave_cgroup(path);
	bpf_object__close(obj);
}

static void kind_netns(void)
{
	struct bpf_program *prog;
	struct globals g;
	struct bpf_object *obj = load_with("on_lookup", &prog, &g);
	const int netns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	check_packets(&g, bpf_program__attach_netns(prog, netns));
	CHECK(!bpf_program__attach_netns(prog, open("/", O_RDONLY | O_CLOEXEC)));
	CHECK(strstr(perf_bpf_last_hint(), "/proc/PID/ns/net"));
	bpf_object__close(obj);
}

/* Two ends of a TCP connection. */
static void connection(int ends[2])
{
	struct sockaddr_in at = loopback(0);
	socklen_t len = sizeof(at);
	const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ends[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(!bind(listener, (struct sockaddr *)&at, sizeof(at)) && !listen(listener, 1));
	CHECK(!getsockname(listener, (struct sockaddr *)&at, &len));
	CHECK(!connect(ends[0], (struct sockaddr *)&at, sizeof(at)));
	ends[1] = accept(listener, NULL, NULL);
	CHECK(ends[1] >= 0);
	close(listener);
}

static void kind_sockmap(void)
{
	struct bpf_program *prog;
	struct globals g;
	struct bpf_object *obj = load_with("on_stream", &prog, &g);
	struct bpf_map *map = bpf_object__find_map_by_name(obj, "sockets");
	struct bpf_link *link = bpf_program__attach_sockmap(prog, bpf_map__fd(map));
	const int key = 0;
	int ends[2];
	char byte;

	CHECK(link);
	connection(ends);
	CHECK(!bpf_map_update_elem(bpf_map__fd(map), &key, &ends[1], 0));
	struct pollfd ready = {.fd = ends[1], .events = POLLIN};
	CHECK(write(ends[0], "x", 1) == 1 && poll(&ready, 1, 10000) == 1);
	CHECK(read(ends[1], &byte, 1) == 1 && *g.seen == 1);
	CHECK(!bpf_link__destroy(link));
	close(ends[0]);
	close(ends[1]);
	CHECK(!bpf_program__attach_sockmap(
		prog, bpf_map__fd(bpf_object__find_map_by_name(obj, "numbers"))));
	bpf_object__close(obj);
}

/* ---- sections of one's own ---- */

static long setups, loads, attaches;

static int on_setup(struct bpf_program *prog, long cookie)
{
	setups += cookie;
	return bpf_program__set_autoload(prog, cookie == 1);
}

static int on_load(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	loads += cookie;
	CHECK(!opts->prog_flags && opts->func_info_cnt == bpf_program__func_info_cnt(prog));
	return 0;
}

static int on_attach(const struct bpf_program *prog, long cookie, struct bpf_link **link)
{
	attaches += cookie;
	*link = cookie == 1 ? bpf_program__attach_raw_tracepoint(prog, "sys_enter") : NULL;
	return cookie == 1 && !*link ? -errno : 0;
}

static void kind_handlers(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .cookie = 1, .prog_setup_fn = on_setup,
		    .prog_prepare_load_fn = on_load, .prog_attach_fn = on_attach);
	const int own =
		libbpf_register_prog_handler("own+", BPF_PROG_TYPE_RAW_TRACEPOINT, 0, &opts);
	opts.cookie = 100;
	const int rest = libbpf_register_prog_handler(NULL, BPF_PROG_TYPE_RAW_TRACEPOINT, 0, &opts);
	struct bpf_program *prog, *nobodys;
	enum bpf_attach_type attach_type;
	enum bpf_prog_type type;
	struct globals g;

	CHECK(own > 0 && rest > 0 && own != rest);
	CHECK(libbpf_register_prog_handler(NULL, BPF_PROG_TYPE_XDP, 0, NULL) == -EBUSY);
	CHECK(!libbpf_prog_type_by_name("own/any", &type, &attach_type));
	CHECK(type == BPF_PROG_TYPE_RAW_TRACEPOINT);
	CHECK(libbpf_prog_type_by_name("ownother", &type, &attach_type) == -ESRCH);

	struct bpf_object *obj = load_with("first", &prog, &g);
	CHECK(setups == 101 && loads == 1);
	nobodys = bpf_object__find_program_by_name(obj, "nobodys");
	CHECK(bpf_program__type(nobodys) == BPF_PROG_TYPE_RAW_TRACEPOINT);
	/* What the kernel was told of functions and lines. */
	CHECK(bpf_program__func_info_cnt(prog) == 1 && !bpf_program__func_info(prog)->insn_off);
	CHECK(bpf_program__line_info_cnt(prog) > 1 && !bpf_program__line_info(prog)->insn_off);
	CHECK(!bpf_program__func_info(nobodys) && !bpf_program__line_info_cnt(nobodys));

	/* The object keeps the handlers it was opened with. */
	CHECK(!libbpf_unregister_prog_handler(own) && !libbpf_unregister_prog_handler(rest));
	CHECK(libbpf_unregister_prog_handler(own) == -ENOENT);
	*g.only_pid = (int)getpid();
	struct bpf_link *link = bpf_program__attach(prog);
	CHECK(link && attaches == 1);
	getppid();
	CHECK(*g.seen >= 1);
	CHECK(!bpf_link__destroy(link));
	CHECK(!bpf_program__attach(nobodys) && errno == EOPNOTSUPP && attaches == 101);
	bpf_object__close(obj);
	obj = open_with("first", &prog);
	CHECK(bpf_program__type(prog) == BPF_PROG_TYPE_UNSPEC && bpf_object__load(obj) == -EINVAL);
	bpf_object__close(obj);
}

/* ---- maps for one program ---- */

static int load_exclusive(const char *name, struct bpf_object **obj, struct bpf_program **prog)
{
	*obj = open_with(name, prog);
	struct bpf_program *owner = bpf_object__find_program_by_name(*obj, "owner");
	struct bpf_map *map = bpf_object__find_map_by_name(*obj, "numbers");

	CHECK(!bpf_map__exclusive_program(map));
	CHECK(!bpf_map__set_exclusive_program(map, owner));
	CHECK(bpf_map__exclusive_program(map) == owner);
	const int err = bpf_object__load(*obj);
	if (!err)
		CHECK(bpf_map__set_exclusive_program(map, NULL) == -EINVAL);
	return err;
}

static void kind_exclusive(void)
{
	struct bpf_program *prog;
	struct bpf_object *obj;
	const long value = 43;
	const int key = 7;

	CHECK(!load_exclusive("owner", &obj, &prog));
	CHECK(!bpf_map_update_elem(bpf_object__find_map_fd_by_name(obj, "numbers"), &key, &value,
				   0));
	CHECK(run(prog) == 43);
	bpf_object__close(obj);
	CHECK(load_exclusive("intruder", &obj, &prog) == -EACCES);
	bpf_object__close(obj);
}

/* ---- global data of another size ---- */

static void kind_larger_data(void)
{
	struct bpf_map_info info = {0};
	__u32 len = sizeof(info);
	struct bpf_program *prog;
	struct bpf_object *obj = open_with("grows", &prog);
	struct bpf_map *map = bpf_object__find_map_by_name(obj, ".data.grown");
	const __u32 id = bpf_map__btf_value_type_id(map);
	size_t size;

	CHECK(id && bpf_map__value_size(map) == 12);
	CHECK(!bpf_map__set_value_size(map, 4 + 16 * 4));
	CHECK(bpf_map__btf_value_type_id(map) == id);
	int *ints = bpf_map__initial_value(map, &size);
	CHECK(ints && size == 68 && ints[0] == 1 && ints[1] == 5 && ints[2] == 6 && !ints[16]);
	ints[16] = 70;
	CHECK(!bpf_object__load(obj) && run(prog) == 77);
	CHECK(!bpf_map_get_info_by_fd(bpf_map__fd(map), &info, &len));
	CHECK(info.value_size == 68 && info.btf_value_type_id);
	CHECK(bpf_map__set_value_size(map, 12) == -EBUSY);
	bpf_object__close(obj);

	obj = open_with("grows", &prog);
	map = bpf_object__find_map_by_name(obj, ".data.grown");
	/* Not a whole number of elements; and one whose last variable is no array. */
	CHECK(!bpf_map__set_value_size(map, 70) && !bpf_map__btf_value_type_id(map));
	map = bpf_object__find_map_by_name(obj, ".bss");
	CHECK(!bpf_map__set_value_size(map, 80) && !bpf_map__btf_value_type_id(map));
	CHECK(bpf_map__set_value_size(map, 0) == -EINVAL);
	CHECK(!bpf_object__load(obj) && run(prog) == 7);
	bpf_object__close(obj);
}

/* ---- modules: nf_conntrack's functions, wherever this kernel has them ---- */

static void kind_kfunc_of_a_module(void)
{
	const int is_built_in = libbpf_find_vmlinux_btf_id("bpf_skb_ct_lookup", 0) > 0;
	const int is_loaded = !access("/sys/kernel/btf/nf_conntrack", R_OK);
	struct bpf_program *prog;
	struct globals g;
	struct bpf_object *obj = load_with("of_a_module", &prog, &g);

	/* There is no such connection; without the function, its address is 0. */
	const int got = run(prog), want = is_built_in || is_loaded ? ENOENT : 100;
	if (got != want)
		printf("got %d, wanted %d\n", got, want);
	CHECK(got == want);
	bpf_object__close(obj);
}

static void kind_fentry_of_a_module(void)
{
	struct bpf_program *prog;
	struct globals g;

	if (access("/sys/kernel/btf/nf_conntrack", R_OK))
		skip("nf_conntrack is no module that is loaded");
	struct bpf_object *obj = load_with("into_a_module", &prog, &g);
	struct bpf_link *link = bpf_program__attach(prog);
	CHECK(link);
	CHECK(!bpf_link__destroy(link));
	bpf_object__close(obj);
}

/* ---- arenas: tests/bpf/arena.bpf.c ---- */

struct shared {
	int first, second;
	long *page; /* at the same address as for the program */
};

static void kind_arena(void)
{
	struct bpf_object *obj = bpf_object__open_file(file, NULL);
	struct bpf_map *map = bpf_object__find_map_by_name(obj, "arena");
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	size_t size = 0;

	CHECK(obj && map);
	const struct bpf_program *prog = bpf_object__find_program_by_name(obj, "count");
	struct shared *shared = bpf_map__initial_value(map, &size);
	CHECK(shared && size == sizeof(*shared) && shared->first == 41);
	shared->first = 100;
	const int err = bpf_object__load(obj);
	/* Debian's 7.2, emulated, has none of any size; 'perf-bpf features map.arena' says so. */
	if (err == -ENOMEM)
		skip("this kernel has no memory for an arena");
	CHECK(!err);
	shared = bpf_map__initial_value(map, &size);
	CHECK(shared && size == sizeof(*shared) && shared->first == 100);
	if (bpf_map__map_extra(map))
		CHECK((__u64)(unsigned long)shared == bpf_map__map_extra(map));
	CHECK(!bpf_prog_test_run_opts(bpf_program__fd(prog), &opts) && opts.retval == 101);
	CHECK(shared->first == 101 && shared->second == 202);
	CHECK((char *)shared->page > (char *)shared && shared->page[1] == 4321);
	shared->first = 7;
	CHECK(!bpf_prog_test_run_opts(bpf_program__fd(prog), &opts) && opts.retval == 8);
	bpf_object__close(obj);
}

/* ---- tokens: root of a user namespace, to which a BPF file system delegates ---- */

/* A descriptor over the pair of sockets, from the one process to the other. */
static void send_fd(int to, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec byte = {.iov_base = "x", .iov_len = 1};
	struct msghdr msg = {.msg_iov = &byte,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	struct cmsghdr *head = CMSG_FIRSTHDR(&msg);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	CHECK(sendmsg(to, &msg, 0) == 1);
}

static int receive_fd(int from)
{
	char control[CMSG_SPACE(sizeof(int))] = {0}, byte;
	struct iovec into = {.iov_base = &byte, .iov_len = 1};
	struct msghdr msg = {.msg_iov = &into,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	int fd;

	CHECK(recvmsg(from, &msg, 0) == 1 && CMSG_FIRSTHDR(&msg));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

static void write_file(int pid, const char *name, const char *data)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	const int fd = open(path, O_WRONLY | O_CLOEXEC);
	CHECK(fd >= 0 && write(fd, data, strlen(data)) == (ssize_t)strlen(data));
	close(fd);
}

static int load_with_token(const char *token)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .bpf_token_path = token);
	struct bpf_object *obj = bpf_object__open_file(file, &opts);
	struct bpf_program *prog = bpf_object__find_program_by_name(obj, "asks");

	CHECK(prog && !bpf_program__set_autoload(prog, true));
	CHECK(bpf_object__token_fd(obj) == -1);
	const int err = bpf_object__load(obj);
	if (!err) {
		CHECK(bpf_object__token_fd(obj) >= 0 && bpf_object__btf_fd(obj) >= 0);
		CHECK(run(prog) == 1);
	}
	bpf_object__close(obj);
	return err;
}

/* In the user namespace; the other process holds the rights. */
static void inside(int other)
{
	char path[64];

	CHECK(!unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET));
	CHECK(write(other, "x", 1) == 1 && read(other, path, 1) == 1);
	const int context = (int)syscall(SYS_fsopen, "bpf", 0);
	CHECK(context >= 0);
	send_fd(other, context);
	CHECK(read(other, path, 1) == 1);
	const int mount = (int)syscall(SYS_fsmount, context, 0, 0);
	CHECK(mount >= 0);

	CHECK(load_with_token("") == -EPERM);
	CHECK(load_with_token(NULL) == -EPERM);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", mount);
	CHECK(!load_with_token(path));
	CHECK(!setenv("LIBBPF_BPF_TOKEN_PATH", path, 1));
	CHECK(!load_with_token(NULL));
	CHECK(load_with_token("") == -EPERM);
	CHECK(load_with_token("/nowhere") == -ENOENT);
	CHECK(strstr(perf_bpf_last_error(), "cannot open '/nowhere' for a BPF token"));
	CHECK(load_with_token("/proc") < 0);
	CHECK(strstr(perf_bpf_last_hint(), "a BPF file system is mounted on"));
	exit(0);
}

static void kind_token(void)
{
	static const char *const delegate[] = {"delegate_cmds", "delegate_maps", "delegate_progs",
					       "delegate_attachs"};
	int pair[2], status;
	char byte;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	fflush(stdout);
	const pid_t child = fork();
	CHECK(child >= 0);
	if (!child)
		inside(pair[1]);
	close(pair[1]);
	CHECK(read(pair[0], &byte, 1) == 1);
	write_file(child, "setgroups", "deny");
	write_file(child, "uid_map", "0 0 1");
	write_file(child, "gid_map", "0 0 1");
	CHECK(write(pair[0], "x", 1) == 1);
	const int context = receive_fd(pair[0]);
	/* A kernel that does not know the options takes no notice of them. */
	for (int i = 0; i < 4; i++)
		CHECK(!syscall(SYS_fsconfig, context, 1 /* FSCONFIG_SET_STRING */, delegate[i],
			       "any", 0));
	if (syscall(SYS_fsconfig, context, 6 /* FSCONFIG_CMD_CREATE */, NULL, NULL, 0)) {
		/* An older kernel makes none for a namespace; nor tokens, which it says. */
		LIBBPF_OPTS(bpf_object_open_opts, opts, .bpf_token_path = "/sys/fs/bpf");
		CHECK(bpf_object__load(bpf_object__open_file(file, &opts)) < 0);
		CHECK(strstr(perf_bpf_last_error(), "cannot create a BPF token of '/sys/fs/bpf'"));
		wrong(__LINE__, "the kernel delegates");
	}
	CHECK(write(pair[0], "x", 1) == 1);
	CHECK(waitpid(child, &status, 0) == child);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		exit(1);
}

/* ---- struct_ops: tests/bpf/struct_ops.bpf.c ---- */

/* As the object declares it, with programs where functions are. */
struct control {
	struct bpf_program *init;
	char name[16];
	int no_such_number;
	struct bpf_program *no_such_function, *undo_cwnd, *ssthresh, *cong_avoid;
};

static struct control *control_of(struct bpf_object *obj, const char *name, struct bpf_map **map)
{
	size_t size;

	*map = bpf_object__find_map_by_name(obj, name);
	CHECK(*map && bpf_map__type(*map) == BPF_MAP_TYPE_STRUCT_OPS);
	CHECK(!bpf_map__is_internal(*map) && bpf_map__autoattach(*map));
	struct control *control = bpf_map__initial_value(*map, &size);
	CHECK(control && size == sizeof(*control));
	/* The names are the whole machine's. */
	snprintf(control->name, sizeof(control->name), "pb_cc_%d", (int)getpid() % 1000000);
	return control;
}

static int is_registered(const char *name)
{
	const int fd =
		open("/proc/sys/net/ipv4/tcp_available_congestion_control", O_RDONLY | O_CLOEXEC);
	const ssize_t n = read(fd, text, sizeof(text) - 1);

	CHECK(n > 0);
	text[n] = 0;
	close(fd);
	return strstr(text, name) != NULL;
}

/* A connection that is controlled by it: init() is called for the socket that chooses it. */
static void use(const char *name)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in at = loopback(0);
	socklen_t len = sizeof(at);
	const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char chosen[16] = "";
	socklen_t chosen_len = sizeof(chosen);

	CHECK(!bind(listener, (struct sockaddr *)&at, sizeof(at)) && !listen(listener, 1));
	CHECK(!getsockname(listener, (struct sockaddr *)&at, &len));
	CHECK(!setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)));
	CHECK(!getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, chosen, &chosen_len));
	CHECK(!strcmp(chosen, name));
	CHECK(!connect(fd, (struct sockaddr *)&at, sizeof(at)));
	CHECK(write(fd, "x", 1) == 1);
	close(fd);
	close(listener);
}

/* Sockets that were controlled by it go after a while, and only then does it. */
static int goes(const char *name)
{
	for (int i = 0; i < 100; i++) {
		if (!is_registered(name))
			return 1;
		usleep(100000);
	}
	return 0;
}

static unsigned int *counters_of(struct bpf_object *obj)
{
	size_t size;
	unsigned int *counters =
		bpf_map__initial_value(bpf_object__find_map_by_name(obj, ".bss"), &size);

	CHECK(counters && size == 8);
	return counters;
}

static void kind_struct_ops(void)
{
	struct bpf_object *obj = bpf_object__open_file(file, NULL);
	struct bpf_map *map;

	CHECK(obj);
	struct control *control = control_of(obj, "plain", &map);
	struct bpf_program *never = bpf_object__find_program_by_name(obj, "never");
	CHECK(control->init == bpf_object__find_program_by_name(obj, "on_init"));
	CHECK(control->no_such_function == never);
	/* What this kernel does not have must be zero. */
	CHECK(bpf_object__load(obj) == -ENOTSUP);
	CHECK(strstr(perf_bpf_last_error(), "no member 'no_such_function'"));
	bpf_object__close(obj);

	obj = bpf_object__open_file(file, NULL);
	CHECK(obj);
	control = control_of(obj, "plain", &map);
	never = bpf_object__find_program_by_name(obj, "never");
	control->no_such_function = NULL;
	control->no_such_number = 0;
	CHECK(!bpf_object__load(obj));
	/* Not loaded: what only a struct that is not created has, and what none has any more. */
	CHECK(bpf_program__fd(never) < 0 && !bpf_program__autoload(never));
	CHECK(bpf_program__fd(bpf_object__find_program_by_name(obj, "on_init_of_second")) < 0);
	CHECK(bpf_map__fd(bpf_object__find_map_by_name(obj, "first")) < 0);

	CHECK(!is_registered(control->name));
	struct bpf_link *link = bpf_map__attach_struct_ops(map);
	CHECK(link);
	CHECK(is_registered(control->name));
	use(control->name);
	CHECK(counters_of(obj)[0] + counters_of(obj)[1] == 1);
	CHECK(bpf_link__update_map(link, map) < 0);
	CHECK(!bpf_link__destroy(link));
	CHECK(goes(control->name));
	CHECK(!bpf_map__attach_struct_ops(bpf_object__find_map_by_name(obj, ".bss")));
	CHECK(errno == EINVAL);
	CHECK(!bpf_map__attach_struct_ops(bpf_object__find_map_by_name(obj, "first")));
	CHECK(errno == EINVAL && strstr(perf_bpf_last_hint(), "bpf_map__set_autocreate"));
	bpf_object__close(obj);
}

static void kind_struct_ops_link(void)
{
	struct bpf_object *obj = bpf_object__open_file(file, NULL);
	struct bpf_map *plain, *first, *second;

	CHECK(obj);
	control_of(obj, "plain", &plain);
	struct control *control = control_of(obj, "first", &first);
	control_of(obj, "second", &second);
	CHECK(bpf_map__autocreate(plain) && !bpf_map__autocreate(first));
	CHECK(!bpf_map__set_autocreate(plain, false) && !bpf_map__set_autocreate(first, true) &&
	      !bpf_map__set_autocreate(second, true));
	CHECK(!bpf_object__load(obj));
	CHECK(bpf_map__fd(plain) < 0 && bpf_map__fd(first) >= 0);

	struct bpf_link *link = bpf_map__attach_struct_ops(first);
	CHECK(link);
	/* The same name again. */
	CHECK(!bpf_map__attach_struct_ops(second));
	CHECK(is_registered(control->name));
	use(control->name);
	const unsigned int *counters = counters_of(obj);
	const int one = counters[0] == 1 ? 0 : 1;
	CHECK(counters[one] == 1 && !counters[!one]);
	CHECK(!bpf_link__update_map(link, second));
	use(control->name);
	CHECK(counters[one] == 1 && counters[!one] == 1);
	CHECK(!bpf_link__destroy(link));
	CHECK(goes(control->name));
	bpf_object__close(obj);
}

static const struct {
	const char *name;
	void (*run)(void);
} kinds[] = {
	{"arena", kind_arena},
	{"cgroup", kind_cgroup},
	{"cgroup_in_order", kind_cgroup_in_order},
	{"exclusive", kind_exclusive},
	{"fentry_of_a_module", kind_fentry_of_a_module},
	{"freplace", kind_freplace},
	{"handlers", kind_handlers},
	{"iter", kind_iter},
	{"iter_of_a_map", kind_iter_of_a_map},
	{"kfunc_of_a_module", kind_kfunc_of_a_module},
	{"larger_data", kind_larger_data},
	{"lsm", kind_lsm},
	{"lsm_cgroup", kind_lsm_cgroup},
	{"netfilter", kind_netfilter},
	{"netkit", kind_netkit},
	{"netns", kind_netns},
	{"sockmap", kind_sockmap},
	{"struct_ops", kind_struct_ops},
	{"struct_ops_link", kind_struct_ops_link},
	{"tcx", kind_tcx},
	{"token", kind_token},
	{"xdp", kind_xdp},
};

int main(int argc, char **argv)
{
	file = argc == 3 ? argv[1] : "";
	for (size_t i = 0; argc == 3 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, argv[2]))
			continue;
		CHECK(!unshare(CLONE_NEWNET));
		up("lo");
		kinds[i].run();
		return 0;
	}
	fprintf(stderr, "usage: %s FILE KIND\n", argv[0]);
	return 2;
}
