// SPDX-License-Identifier: BSD-2-Clause
/*
 * USDT: "a" and a machine's letter, then the text of arguments; anything else
 * is a file with notes, whose arguments are parsed too.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/attach/usdt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool symbol(void *ctx, const char *name, size_t len, uint64_t *addr)
{
	if (!len || strnlen(name, len) != len)
		__builtin_trap();
	*addr = len << 12;
	return name[0] < 'n';
}

static void arguments(const char *text, uint16_t machine, bool fixed)
{
	const struct usdt_frame frame = {
		.machine = machine, .location = 0x1000, .fixed = fixed, .symbol = symbol};
	struct usdt_arg args[USDT_ARGS_MAX];
	size_t n;
	struct error *err = usdt_args_parse(text, &frame, args, &n);

	if (!err) {
		if (n > USDT_ARGS_MAX)
			__builtin_trap();
		for (size_t i = 0; i < n; i++) {
			const struct usdt_arg *a = &args[i];

			if (a->place > USDT_SIB || !a->size || a->size > 8 || a->scale > 3 ||
			    a->reg > 512 || a->index > 512)
				__builtin_trap();
		}
	}
	error_free(err);
}

static struct error *file(const uint8_t *data, size_t size)
{
	_cleanup_elf_ struct elf_file *elf = NULL;
	struct usdt_notes notes;
	struct usdt_note note;
	size_t n = 0;
	bool more;

	TRY(pb_elf_file_open_mem(data, size, "fuzz", &elf));
	TRY(usdt_notes_open(elf, &notes));
	for (;;) {
		TRY(usdt_notes_next(&notes, &note, &more));
		if (!more)
			return NULL;
		if (++n > size || strlen(note.provider) + strlen(note.name) > size)
			__builtin_trap();
		arguments(note.args, pb_elf_file_machine(elf), pb_elf_file_type(elf) == ET_EXEC);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t machines[] = {EM_X86_64, EM_AARCH64, EM_ARM, EM_S390, EM_RISCV};

	if (size < 2 || data[0] != 'a') {
		error_free(file(data, size));
		return 0;
	}
	char *text = malloc(size);
	if (!text)
		return 0;
	memcpy(text, data + 2, size - 2);
	text[size - 2] = 0;
	arguments(text, machines[data[1] % ARRAY_SIZE(machines)], data[1] & 0x20);
	free(text);
	return 0;
}
