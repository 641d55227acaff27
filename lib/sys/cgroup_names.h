/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the path of a cgroup shows: the systemd unit, the container and the pod of its processes.
 * Nobody keeps a list that is complete and trusted: container runtimes put ids into the names of
 * the cgroups that they make. These forms are known:
 *
 *	/docker/ID					Docker, cgroupfs driver
 *	/system.slice/docker-ID.scope			Docker, systemd driver
 *	/kubepods/burstable/podUID/ID			Kubernetes, cgroupfs driver
 *	/kubepods.slice/…-podU_I_D.slice/cri-containerd-ID.scope	and the systemd driver;
 *							crio-ID.scope, docker-ID.scope likewise
 *	/system.slice/containerd.service/kubepods-podU_I_D.slice:cri-containerd:ID
 *							a systemd name given to the cgroupfs driver
 *	/machine.slice/libpod-ID.scope			podman; in a pod of podman's own
 *							below machine-libpod_pod_ID.slice
 *	/machine.slice/machine-NAME.scope		systemd-nspawn, systemd-nspawn@NAME.service
 *	/lxc.payload.NAME, /lxc/NAME			LXC
 *
 * ID is 64 hexadecimal digits. The innermost one counts: of a container in a container, the inner
 * one. conmon, which watches a container of podman or CRI-O from outside, is not in it.
 *
 * Who may make cgroups may give them these names as well: what the path shows is no proof.
 */
#ifndef PB_SYS_CGROUP_NAMES_H
#define PB_SYS_CGROUP_NAMES_H

#include <stdbool.h>

/* Each is "" if the path does not show it. */
struct cgroup_names {
	char unit[256];	     /* "nginx.service", "session-1.scope" */
	char container[256]; /* the id, or of a machine of systemd or LXC its name */
	char pod[80];	     /* the uid with '-', or the id of a pod of podman */
	bool ends_container; /* the path's last component names the container: its own cgroup */
	bool ends_pod;	     /* likewise */
};

void cgroup_names_of(const char *path, struct cgroup_names *names);

/*
 * Whether the cgroup is one of a container whose id begins like this, or of a pod with this uid,
 * or of what is inside of one.
 */
bool cgroup_is_in_container(const char *path, const char *id_prefix);
bool cgroup_is_in_pod(const char *path, const char *uid);
/* Whether it is this cgroup or below it; both begin with '/'. */
bool cgroup_is_below(const char *path, const char *above);

#endif
