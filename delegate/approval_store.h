/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What root has approved: which object, for whom, for which processes, at what cost. An approval is
 * a file ID.approval in the store, a directory that only root can write to, and the object is
 * OBJECT.o beside it, named by the SHA-256 of its bytes. ID is the beginning of the SHA-256 of the
 * approval's own text, so that the same approval twice is one.
 */
#ifndef PB_DELEGATE_APPROVAL_STORE_H
#define PB_DELEGATE_APPROVAL_STORE_H

#include <sys/types.h>

#include "delegate/delegate_message.h"
#include "lib/base/error.h"
#include "lib/base/strbuf.h"
#include "lib/base/vec.h"

#define APPROVAL_STORE "/var/lib/perf-bpf/approved"

enum approval_target {
	APPROVAL_OWN,	 /* processes of the user who asks */
	APPROVAL_CGROUP, /* processes of the cgroup of the process that asks */
	APPROVAL_ALL,
	APPROVAL_TARGETS,
};

struct approval {
	char id[DELEGATE_ID];
	uint8_t object[SHA256_BYTES];
	char name[DELEGATE_NAME];
	bool for_group;
	uint32_t who; /* a gid or uid */
	enum delegate_command command;
	enum approval_target target;
	double max_share; /* of all CPUs' time */
	uint64_t max_ms;
	VEC(char *) sets; /* "NAME=VALUE", owned */
};

struct approvals {
	struct approval *v;
	size_t n, cap;
};

void approval_deinit(struct approval *a);
void approvals_deinit(struct approvals *list);
#define _cleanup_approval_  _cleanup_(approval_deinit)
#define _cleanup_approvals_ _cleanup_(approvals_deinit)

const char *approval_target_text(enum approval_target target);
bool approval_target_parse(const char *text, enum approval_target *target);

/* The approval as the text of its file, and back. EBADMSG: it is not one. */
void approval_write_text(const struct approval *a, struct strbuf *text);
struct error *approval_parse(const char *text, size_t size, struct approval *out);

/* Stores it with the object's bytes; sets a->object and a->id. */
struct error *approval_add(const char *store, const void *image, size_t size, struct approval *a);
/* ENOENT: there is none of this id. An object that no other approval has is removed, too. */
struct error *approval_revoke(const char *store, const char *id);

/*
 * All approvals, sorted by name; none where the store does not exist. EPERM: others than root can
 * write to the store.
 */
struct error *approvals_read(const char *store, struct approvals *out);

/*
 * The approval that a user with these groups has for an object; NULL: none, and *why says so. Of
 * several, the one for more processes, then the one for more CPU time.
 */
const struct approval *approvals_find(const struct approvals *list,
				      const struct delegate_request *request, uint32_t uid,
				      const uint32_t *gids, size_t n_gids,
				      enum delegate_status *why);

/*
 * *fd becomes readable when something is removed from the store. ENOENT: the approval itself is not
 * there any more.
 */
struct error *approval_watch(const char *store, const struct approval *a, int *fd);
/* Reads what became readable: was it this approval? Also true if that cannot be known. */
bool approval_is_gone(int fd, const struct approval *a);

/* The path of an approval's object, the caller's. EBADMSG: the bytes are not the approved ones. */
struct error *approval_object(const char *store, const struct approval *a, char **path);

#endif
