// SPDX-License-Identifier: BSD-2-Clause
/*
 * Functions that begin with one instruction each, and what the kernel makes of a uprobe on it,
 * without perf-bpf: one of perf_event_open(2)'s PMU, on this process, which has mapped the file
 * already, so that the kernel looks at the instruction at once. A line each: its name, and
 *
 *	refused	  the event cannot be opened
 *	counted	  it was hit once, and the function did what it does without the probe
 *	changed	  it was hit more often, or the function did something else
 *	silent	  it was not hit
 *	absent	  this CPU does not have the instruction
 *
 * With a name, the function is called once, without any probe.
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define INSNS                                                                                      \
	I(mov, "mov %rsp, %rax; mov $5, %eax", "")                                                 \
	I(push, "push %rbp; pop %rbp", "")                                                         \
	I(push_r12, "push %r12; pop %r12", "")                                                     \
	I(endbr, "endbr64", "")                                                                    \
	I(nop5, ".byte 0x0f, 0x1f, 0x44, 0, 0", "")                                                \
	I(nop_word, ".byte 0x66, 0x90", "")                                                        \
	I(call, "call 1f; 1: pop %rax; xor %eax, %eax", "")                                        \
	I(jump, "jmp 1f; nop; 1:", "")                                                             \
	I(jump_if, "je 1f; nop; 1:", "")                                                           \
	I(jump_far_if, ".byte 0x0f, 0x84; .long 0", "")                                            \
	I(address, "lea 1f(%rip), %rax; 1:", "")                                                   \
	I(thread, "mov %fs:0, %rax", "")                                                           \
	I(exchange, "xchg %rax, -8(%rsp)", "")                                                     \
	I(string, "stosb", "")                                                                     \
	I(loop, "loop 1f; nop; 1: mov %ecx, %eax", "")                                             \
	I(repeat, "rep stosb", "")                                                                 \
	I(repeat_compare, "repne scasb", "")                                                       \
	I(flags, "pushf; pop %rax; and $0x100, %eax", "")                                          \
	I(system, "syscall", "")                                                                   \
	I(undefined, "ud2", "")                                                                    \
	I(sse_xor, "pxor %xmm1, %xmm0; movq %xmm0, %rax", "")                                      \
	I(sse_equal, "pcmpeqb %xmm1, %xmm0; movq %xmm0, %rax", "")                                 \
	I(locked, "lock orq $0, -8(%rsp)", "")                                                     \
	I(locked_inc, "lock incq -16(%rsp)", "")                                                   \
	I(repeat_locked, ".byte 0xf2; lock incq -16(%rsp)", "")                                    \
	I(notrack, ".byte 0x3e, 0xeb, 0", "")                                                      \
	I(segment_cs, ".byte 0x2e, 0x90", "")                                                      \
	I(segment_es, ".byte 0x26, 0x90", "")                                                      \
	I(segment_ss, ".byte 0x36, 0x90", "")                                                      \
	I(nop10, ".byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0", "")                          \
	I(word_jump, ".byte 0x66, 0xeb, 0", "")                                                    \
	I(word_jump_if, ".byte 0x66, 0x74, 0", "")                                                 \
	I(word_call, ".byte 0x66, 0x48, 0xe8; .long 0; pop %rax", "")                              \
	I(breakpoint, "int3", "")                                                                  \
	I(interrupt, "int $0x80", "")                                                              \
	I(debug, ".byte 0xf1", "")                                                                 \
	I(halt, "hlt", "")                                                                         \
	I(cli, "cli", "")                                                                          \
	I(sti, "sti", "")                                                                          \
	I(in, "in %dx, %al", "")                                                                   \
	I(in_port, "in $1, %al", "")                                                               \
	I(out, "out %al, %dx", "")                                                                 \
	I(in_string, "insb", "")                                                                   \
	I(out_string, "outsl", "")                                                                 \
	I(iret, "iretq", "")                                                                       \
	I(stack_segment, ".byte 0x8e, 0xd0", "")                                                   \
	I(invalid, ".byte 0x06", "")                                                               \
	I(avx_add, "vaddps %xmm1, %xmm0, %xmm0; vmovq %xmm0, %rax", "avx")                         \
	I(avx_xor, "vpxor %xmm1, %xmm0, %xmm0; vmovq %xmm0, %rax", "avx")                          \
	I(avx_load, "vmovdqa %xmm1, %xmm0; vmovq %xmm0, %rax", "avx")                              \
	I(avx_equal, "vpcmpeqb %xmm1, %xmm0, %xmm0; vmovq %xmm0, %rax", "avx")                     \
	I(avx_shuffle, "vpshufd $27, %xmm1, %xmm0; vmovq %xmm0, %rax", "avx")                      \
	I(avx_store, "vmovdqu %xmm1, -24(%rsp); mov -24(%rsp), %rax", "avx")                       \
	I(avx_upper, "vzeroupper", "avx")                                                          \
	I(avx_or, "vpor %xmm1, %xmm0, %xmm0; vmovq %xmm0, %rax", "avx")                            \
	I(avx_subtract, "vpsubsb %xmm1, %xmm0, %xmm0; vmovq %xmm0, %rax", "avx")                   \
	I(avx_subtract_words, "vpsubsw %xmm1, %xmm0, %xmm0; vmovq %xmm0, %rax", "avx")             \
	I(avx_compare, "vcmpeqps %xmm1, %xmm0, %xmm0; lea 1f(%rip), %rax; 1:", "avx")              \
	I(avx_fused, "vfnmadd132ss %xmm1, %xmm0, %xmm0; vmovq %xmm0, %rax", "fma")                 \
	I(avx_mask, "kmovw %k1, %k2; xor %eax, %eax", "avx512f")                                   \
	I(evex_add, "vaddps %zmm1, %zmm0, %zmm0; vmovq %xmm0, %rax", "avx512f")                    \
	I(evex_xor, "vpxorq %zmm1, %zmm0, %zmm0; vmovq %xmm0, %rax", "avx512f")

#define I(name, text, needs)                                                                       \
	__asm__(".text\n.p2align 5\n.globl begins_" #name "\n.type begins_" #name                  \
		", @function\nbegins_" #name ": " text "\n\tret\n.size begins_" #name              \
		", . - begins_" #name "\n");                                                       \
	extern const char begins_##name[];
INSNS
#undef I

/* The function gets 39 (getpid) in %rax and numbers in %xmm0 and %xmm1. */
__asm__(".text\n.globl call_it\n.type call_it, @function\n"
	"call_it: push %rbx; push %rbp; sub $40, %rsp\n"
	"\tmov %rdi, %rbx; movdqu (%rsi), %xmm0; movdqu 16(%rsi), %xmm1\n"
	"\tmovq $0, 8(%rsp); lea 8(%rsp), %rdi; mov $3, %ecx; mov $39, %eax; test %esp, %esp\n"
	"\tcall *%rbx; add $40, %rsp; pop %rbp; pop %rbx; ret\n");
uint64_t call_it(const void *function, const void *numbers);

static const struct {
	const char *name, *needs;
	const char *code;
} insns[] = {
#define I(name, text, needs) {#name, needs, begins_##name},
	INSNS
#undef I
};

static sigjmp_buf back;

static void on_signal(int sig)
{
	siglongjmp(back, sig);
}

/* What it returned, or the signal that it got. */
static uint64_t run(const char *code)
{
	static const uint8_t numbers[32] __attribute__((aligned(16))) = {
		1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0, 0, 0, 0, 17, 0, 19, 0, 5, 0, 7, 0, 1, 2};
	const int sig = sigsetjmp(back, 1);

	return sig ? (uint64_t)sig << 56 : call_it(code, numbers);
}

static void catch_signals(void)
{
	static char stack[65536];
	const stack_t own = {.ss_sp = stack, .ss_size = sizeof(stack)};
	const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	sigaltstack(&own, NULL);
	for (const int *sig = (const int[]){SIGILL, SIGSEGV, SIGBUS, SIGTRAP, SIGFPE, SIGSYS, 0};
	     *sig; sig++)
		sigaction(*sig, &action, NULL);
}

static bool cpu_has(const char *needs)
{
	if (!strcmp(needs, "avx"))
		return __builtin_cpu_supports("avx");
	if (!strcmp(needs, "fma"))
		return __builtin_cpu_supports("fma");
	if (!strcmp(needs, "avx512f"))
		return __builtin_cpu_supports("avx512f");
	return true;
}

static uint32_t pmu_type(void)
{
	FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "r");
	unsigned type = 0;

	if (!f || fscanf(f, "%u", &type) != 1)
		exit(3);
	fclose(f);
	return type;
}

/* The code's offset in the file, whose text segment is that of the executable. */
static int find_offset(struct dl_phdr_info *info, size_t size, void *ctx)
{
	uint64_t *at = ctx;

	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		const uint64_t from = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_LOAD && *at >= from && *at - from < ph->p_filesz) {
			*at = *at - from + ph->p_offset;
			return 1;
		}
	}
	return 0;
}

static const char *verdict(const char *code, uint32_t type, const char *path)
{
	uint64_t offset = (uintptr_t)code, hits = 0;

	dl_iterate_phdr(find_offset, &offset);
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config1 = (uintptr_t)path,
		.config2 = offset,
	};
	const int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return "refused";
	const uint64_t with = run(code);
	if (read(fd, &hits, sizeof(hits)) != sizeof(hits))
		return "unreadable";
	close(fd);
	if (!hits)
		return "silent";
	return hits == 1 && run(code) == with ? "counted" : "changed";
}

int main(int argc, char **argv)
{
	char path[4096];
	const ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (len < 0)
		return 3;
	path[len] = 0;
	catch_signals();
	for (size_t i = 0; i < sizeof(insns) / sizeof(*insns); i++) {
		if (argc > 1) {
			if (!strcmp(argv[1], insns[i].name))
				run(insns[i].code);
			continue;
		}
		if (!cpu_has(insns[i].needs)) {
			printf("%s absent\n", insns[i].name);
			continue;
		}
		fflush(stdout);
		const pid_t pid = fork();
		if (!pid) {
			printf("%s %s\n", insns[i].name, verdict(insns[i].code, pmu_type(), path));
			fflush(stdout);
			_exit(0);
		}
		int status;
		if (waitpid(pid, &status, 0) != pid)
			return 3;
		if (status)
			printf("%s changed\n", insns[i].name);
	}
	return 0;
}
