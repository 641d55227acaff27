/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of kinds_client share. */
#ifndef TESTS_KINDS_H
#define TESTS_KINDS_H

#include <bpf/libbpf.h>
#include <bpf/perf_bpf.h>
#include <netinet/in.h>

#define CHECK(what)                                                                                \
	do {                                                                                       \
		if (!(what))                                                                       \
			wrong(__LINE__, #what);                                                    \
	} while (0)

void wrong(int line, const char *what) __attribute__((noreturn));
/* Ends the test: it cannot run here. */
void skip(const char *why) __attribute__((noreturn));

/* The object that is tested. */
extern const char *file;

/* What the programs of tests/vm/attach.bpf.c and its like count and are told. */
struct globals {
	unsigned int *seen;
	int *verdict, *only_pid;
};

/* The object with that program alone switched on; loaded, or the test is skipped. */
struct bpf_object *open_with(const char *name, struct bpf_program **prog);
void load(struct bpf_object *obj);
struct bpf_object *load_with(const char *name, struct bpf_program **prog, struct globals *g);

/* Runs it once, by BPF_PROG_TEST_RUN; what it returned. */
int run(const struct bpf_program *prog);

/* The network of the process's own. */
void up(const char *name);
struct sockaddr_in loopback(int port);

void kind_xdp(void);
void kind_tcx(void);
void kind_netkit(void);
void kind_netfilter(void);
void kind_cgroup(void);
void kind_cgroup_in_order(void);
void kind_lsm_cgroup(void);
void kind_netns(void);
void kind_sockmap(void);
void kind_token(void);
void kind_struct_ops(void);
void kind_struct_ops_link(void);

#endif
