// SPDX-License-Identifier: BSD-2-Clause
/* Programs on packets, sockets and cgroups: see kinds_client.c. */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kinds.h"

/* ---- the network of its own ---- */

void up(const char *name)
{
	struct ifreq req = {.ifr_flags = IFF_UP};
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", name);
	CHECK(fd >= 0 && !ioctl(fd, SIOCSIFFLAGS, &req));
	close(fd);
}

struct sockaddr_in loopback(int port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons((unsigned short)port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/*
 * Sends a datagram to itself; whether it came. Loopback delivers within
 * sendto(), or a little later on a busy machine: what is wanted is waited for,
 * and what is not until the program was seen to run.
 */
static int datagram_comes(const unsigned int *seen, int wanted)
{
	const unsigned int before = *(const volatile unsigned int *)seen;
	const struct sockaddr_in at = loopback(7777);
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct pollfd ready = {.fd = fd, .events = POLLIN};

	CHECK(fd >= 0 && !bind(fd, (const struct sockaddr *)&at, sizeof(at)));
	if (sendto(fd, "x", 1, 0, (const struct sockaddr *)&at, sizeof(at)) != 1 && errno != EPERM)
		wrong(__LINE__, "sendto");
	int came = 0;
	for (int i = 0; i < 200 && !came && *(const volatile unsigned int *)seen == before; i++)
		came = poll(&ready, 1, 50) == 1;
	if (!came)
		came = poll(&ready, 1, wanted ? 60000 : 200) == 1;
	close(fd);
	return came;
}

/* What a packet program does: pass while verdict is 1, drop while it is 0, and be gone. */
static void check_packets(struct globals *g, struct bpf_link *link)
{
	CHECK(link);
	CHECK(datagram_comes(g->seen, 1));
	CHECK(*g->seen >= 1);
	*g->verdict = 0;
	const unsigned int before = *g->seen;
	CHECK(!datagram_comes(g->seen, 0));
	CHECK(*g->seen > before);
	CHECK(!bpf_link__destroy(link));
	const unsigned int after = *g->seen;
	CHECK(datagram_comes(g->seen, 1));
	CHECK(*g->seen == after);
}

void kind_xdp(void)
{
	struct bpf_program *prog;
	struct globals g;
	struct bpf_object *obj = load_with("on_xdp", &prog, &g);
	const int lo = (int)if_nametoindex("lo");

	struct bpf_link *link = bpf_program__attach_xdp(prog, lo);
	CHECK(link);
	CHECK(!bpf_program__attach_xdp(prog, lo) && errno == EBUSY);
	CHECK(strstr(perf_bpf_last_hint(), "lo already has a program of this type"));
	check_packets(&g, link);
	CHECK(!bpf_program__attach_xdp(prog, 4321));
	CHECK(strstr(perf_bpf_last_hint(), "no interface has the index 4321"));
	/* It does not attach by its section. */
	CHECK(!bpf_program__attach(prog) && errno == EOPNOTSUPP);
	bpf_object__close(obj);
}

void kind_tcx(void)
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
	CHECK(!datagram_comes(h.seen, 0));
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

void kind_netkit(void)
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

void kind_netfilter(void)
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

void kind_cgroup(void)
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
	CHECK(strstr(perf_bpf_last_hint(), "cgroup v2"));
	leave_cgroup(path);
	bpf_object__close(obj);
}

void kind_cgroup_in_order(void)
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

void kind_lsm_cgroup(void)
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
		skip("bpf is not among the enabled security modules (lsm=)");
	}
	CHECK(*g.seen == 1 && errno == EPERM);
	CHECK(!bpf_link__destroy(link));
	CHECK(!bind(fd, (const struct sockaddr *)&at, sizeof(at)) && *g.seen == 1);
	close(fd);
	leave_cgroup(path);
	bpf_object__close(obj);
}

void kind_netns(void)
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

void kind_sockmap(void)
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
	CHECK(write(ends[0], "x", 1) == 1 && poll(&ready, 1, 60000) == 1);
	CHECK(read(ends[1], &byte, 1) == 1 && *g.seen == 1);
	CHECK(!bpf_link__destroy(link));
	close(ends[0]);
	close(ends[1]);
	CHECK(!bpf_program__attach_sockmap(
		prog, bpf_map__fd(bpf_object__find_map_by_name(obj, "numbers"))));
	bpf_object__close(obj);
}
