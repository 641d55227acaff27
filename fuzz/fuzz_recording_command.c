// SPDX-License-Identifier: BSD-2-Clause
/* Commands that read recordings, with a recording from anybody. */
#include "cmd/cmd.h"
#include "fuzz/command.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Files that the recording names are not there. */
#define FILES "--symfs", "@/", "--kallsyms", "@k"

static const struct command_line lines[] = {
	{cmd_script, {"-f", "-i", "@", FILES}},
	{cmd_script, {"-f", "-i", "@", FILES, "--json", "--inline"}},
	{cmd_script, {"-f", "-i", "@", "-D"}},
	{cmd_script,
	 {"-f", "-i", "@", "-I", "--header", "--show-task-events", "--show-mmap-events",
	  "--show-bpf-events", "--show-switch-events", "--show-lost-events"}},
	{cmd_script, {"-f", "-i", "@", FILES, "--perfetto", "/dev/null"}},
	{cmd_script, {"-f", "-i", "@", FILES, "--firefox", "/dev/null"}},
	{cmd_report, {"-f", "-i", "@", FILES, "--stdio", "--children"}},
	{cmd_report, {"-f", "-i", "@", FILES, "--stdio", "-s", "comm,dso,sym,cpu", "--hierarchy"}},
	{cmd_report, {"-f", "-i", "@", FILES, "--json", "-g", "caller"}},
	{cmd_report, {"-f", "-i", "@", FILES, "--csv", "-s", "pid,comm,trace"}},
	{cmd_report, {"-f", "-i", "@", FILES, "--stdio", "--html", "/dev/null"}},
	{cmd_report, {"-f", "-i", "@", FILES, "--stdio", "--pprof", "/dev/null"}},
	{cmd_report, {"-f", "-i", "@", FILES, "--folded"}},
	{cmd_report, {"-f", "-i", "@", "--stats"}},
	{cmd_report, {"-f", "-i", "@", "--tasks"}},
	{cmd_report, {"-f", "-i", "@", "--mmaps"}},
	{cmd_report, {"-f", "-i", "@", "--stdio", "--header", "-I", "-T"}},
	{cmd_annotate, {"-f", "-i", "@", FILES, "--stdio"}},
	{cmd_diff, {"-f", FILES, "@", "@"}},
	{cmd_diff, {"-f", FILES, "-c", "wdiff:1,2", "--json", "@", "@"}},
	{cmd_trace, {"-i", "@", "--log", "/dev/null", "-S"}},
	{cmd_trace, {"-i", "@", "--strace", "--log", "/dev/null"}},
	{cmd_trace, {"-i", "@", "--json", "--log", "/dev/null"}},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return run_command_line(lines, sizeof(lines) / sizeof(*lines), data, size);
}
