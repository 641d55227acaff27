// SPDX-License-Identifier: BSD-2-Clause
/* Commands that read binaries, with ELF, DWARF and BTF from anybody. */
#include "cmd/cmd.h"
#include "fuzz/command.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct command_line lines[] = {
	{cmd_probe, {"-x", "@", "-F"}},
	{cmd_probe, {"-x", "@", "-V", "order_place"}},
	{cmd_probe, {"-x", "@", "-L", "order_place"}},
	{cmd_probe, {"-x", "@", "-D", "order_place $params"}},
	{cmd_probe, {"-x", "@", "-D", "order_place%return $retval"}},
	{cmd_list, {"@"}},
	{cmd_list, {"@", "-v"}},
	{cmd_list, {"@", "-v", "--json"}},
	{cmd_btf, {"dump", "file", "@"}},
	{cmd_btf, {"dump", "file", "@", "--format", "c"}},
	{cmd_btf, {"dump", "file", "@", "--json"}},
	{cmd_gen, {"skeleton", "@"}},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return run_command_line(lines, sizeof(lines) / sizeof(*lines), data, size);
}
