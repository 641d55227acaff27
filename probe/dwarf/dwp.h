/* SPDX-License-Identifier: BSD-2-Clause */
/* Packages of split units (.dwp); private to probe/dwarf/. */
#ifndef PB_PROBE_DWARF_DWP_H
#define PB_PROBE_DWARF_DWP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/cursor.h"
#include "lib/base/error.h"
#include "lib/base/strbuf.h"

enum dwp_part {
	DWP_INFO,
	DWP_ABBREV,
	DWP_LINE,
	DWP_LOC, /* .debug_loc.dwo, with DWARF 5 .debug_loclists.dwo */
	DWP_STR_OFFSETS,
	DWP_RNGLISTS,
	DWP_PARTS,
};

/* A unit's part of each section; size 0: none. */
struct dwp_unit {
	unsigned int version; /* of the index: 2 with DWARF 4, 5 */
	struct {
		uint32_t offset, size;
	} part[DWP_PARTS];
};

/* Looks the unit up in .debug_cu_index. EBADMSG: damaged; of a version that is not known. */
struct error *dwp_index_find(struct cursor index, uint64_t id, struct dwp_unit *unit, bool *found);

/*
 * A unit's offsets into .debug_str.dwo, and the strings that they lead to, as a table and a
 * section of their own. EBADMSG: one leads elsewhere.
 */
struct error *dwp_strings(struct cursor offsets, const struct cursor *strings, unsigned int version,
			  struct strbuf *table, struct strbuf *text);

struct dwp;
/* ENOENT: there is no such file. */
struct error *dwp_open(const char *path, struct dwp **out);
void dwp_free(struct dwp *dwp);
DEFINE_FREEP(struct dwp, dwp_free)
const char *dwp_path(const struct dwp *dwp);
uid_t dwp_owner(const struct dwp *dwp); /* of the file */
/*
 * Writes the unit as a .dwo of its own; *found false: the package does not have it. The version is
 * that of the skeleton's DWARF: clang gives units of the same source the same id, whichever it is.
 */
struct error *dwp_write_unit(struct dwp *dwp, uint64_t id, unsigned int version, const char *path,
			     bool *found);

#endif
