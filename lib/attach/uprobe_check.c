// SPDX-License-Identifier: BSD-2-Clause
/*
 * Before a uprobe is attached: whether the kernel would place it on the instruction there. A file
 * that cannot be read, or is not ELF, is the kernel's affair alone.
 */
#include <elf.h>
#include <endian.h>
#include <unistd.h>

#include "lib/attach/internal.h"
#include "lib/attach/uprobe_insn.h"
#include "lib/sys/open_file.h"

void uprobe_code_open(const char *path, struct uprobe_code *code)
{
	Elf32_Ehdr header; /* as far as the machine, both classes are the same */

	*code = (struct uprobe_code){.fd = -1};
	struct error *err = open_regular(path, NULL, &code->fd);
	if (err) {
		error_free(err);
		return;
	}
	if (pread(code->fd, &header, sizeof(header), 0) == sizeof(header) &&
	    !memcmp(header.e_ident, ELFMAG, SELFMAG) && header.e_ident[EI_DATA] == ELFDATA2LSB)
		code->machine = le16toh(header.e_machine);
}

void uprobe_code_close(struct uprobe_code *code)
{
	closep(&code->fd);
}

struct error *uprobe_code_check(const struct uprobe_code *code, const char *where, uint64_t offset)
{
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
	uint8_t insn[UPROBE_INSN_MAX];

	if (!code->machine)
		return NULL;
	const ssize_t n = pread(code->fd, insn, sizeof(insn), (off_t)offset);
	const char *why = n > 0 ? uprobe_insn_obstacle(code->machine, insn, (size_t)n) : NULL;
	if (!why)
		return NULL;
	for (ssize_t i = 0; i < n && i < 4; i++)
		strbuf_addf(&bytes, "%s%02x", i ? " " : "", insn[i]);
	return error_hint(error_new(EOPNOTSUPP,
				    "cannot place a uprobe on the instruction at %s (%s): %s",
				    where, strbuf_str(&bytes), why),
			  "attach to the next instruction; jumps may reach it more often");
}
