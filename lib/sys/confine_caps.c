// SPDX-License-Identifier: BSD-2-Clause
/*
 * capset(2) with the kernel's own struct: the C library has no function for it, and libcap would
 * be one more library in a privileged process. See capabilities(7).
 *
 * The order matters: to empty the bounding set CAP_SETPCAP must still be there. Without it (another
 * user's process) it stays, which means nothing any more: with no_new_privs no execve(2) adds
 * capabilities.
 */
#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/sys/confine_internal.h"

/* By number, as capabilities(7) names them. */
static const char *const names[] = {
	"chown",
	"dac_override",
	"dac_read_search",
	"fowner",
	"fsetid",
	"kill",
	"setgid",
	"setuid",
	"setpcap",
	"linux_immutable",
	"net_bind_service",
	"net_broadcast",
	"net_admin",
	"net_raw",
	"ipc_lock",
	"ipc_owner",
	"sys_module",
	"sys_rawio",
	"sys_chroot",
	"sys_ptrace",
	"sys_pacct",
	"sys_admin",
	"sys_boot",
	"sys_nice",
	"sys_resource",
	"sys_time",
	"sys_tty_config",
	"mknod",
	"lease",
	"audit_write",
	"audit_control",
	"setfcap",
	"mac_override",
	"mac_admin",
	"syslog",
	"wake_alarm",
	"block_suspend",
	"audit_read",
	"perfmon",
	"bpf",
	"checkpoint_restore",
};

void capabilities_text(uint64_t caps, struct strbuf *out)
{
	const char *comma = "";

	for (unsigned i = 0; i < 64; i++) {
		if (!(caps >> i & 1))
			continue;
		if (i < ARRAY_SIZE(names))
			strbuf_addf(out, "%s%s", comma, names[i]);
		else
			strbuf_addf(out, "%s%u", comma, i);
		comma = ", ";
	}
}

typedef struct __user_cap_data_struct cap_sets[_LINUX_CAPABILITY_U32S_3];

static uint64_t joined(uint32_t low, uint32_t high)
{
	return low | (uint64_t)high << 32;
}

/* The kernel's highest capability is where it says EINVAL. */
static struct error *empty_bounding_set(void)
{
	for (unsigned i = 0; i < 64; i++) {
		const int has = prctl(PR_CAPBSET_READ, i, 0, 0, 0);

		if (has < 0)
			break;
		if (has && prctl(PR_CAPBSET_DROP, i, 0, 0, 0))
			return error_errno(errno, "cannot drop capability %u", i);
	}
	return NULL;
}

struct error *confine_capabilities(uint64_t keep, struct confined *done)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	cap_sets sets = {{0}};

	if (syscall(SYS_capget, &header, sets))
		return error_errno(errno, "cannot read the capabilities");
	done->had = joined(sets[0].permitted, sets[1].permitted);
	done->kept = done->had & keep;
	if (joined(sets[0].effective, sets[1].effective) >> CAP_SETPCAP & 1)
		TRY(empty_bounding_set());
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return error_errno(errno, "cannot set no_new_privs");
	/* EINVAL: before 4.3 there were none */
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) && errno != EINVAL)
		return error_errno(errno, "cannot clear the ambient capabilities");
	for (unsigned i = 0; i < ARRAY_SIZE(sets); i++) {
		const uint32_t kept = (uint32_t)(done->kept >> (32 * i));

		sets[i].effective &= kept;
		sets[i].permitted = kept;
		sets[i].inheritable = 0;
	}
	if (syscall(SYS_capset, &header, sets))
		return error_errno(errno, "cannot drop capabilities");
	return NULL;
}
