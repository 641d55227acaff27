// SPDX-License-Identifier: BSD-2-Clause
/*
 * USDT: notes in files made by hand, and every form of argument of every
 * machine. tests/cmd/test_usdt.sh has the compiler's.
 */
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "lib/attach/internal.h"
#include "lib/attach/usdt.h"
#include "tests/unit/usdt_image.h"

/* ---- arguments ---- */

static bool find(void *ctx, const char *name, size_t len, uint64_t *addr)
{
	if (len != 5 || memcmp(name, "count", 5))
		return false;
	*addr = 0x5000;
	return true;
}

static struct usdt_frame frame_of(uint16_t machine)
{
	return (struct usdt_frame){.machine = machine, .location = 0x1234, .symbol = find};
}

static void parses(uint16_t machine, bool fixed, const char *text, struct usdt_arg want)
{
	struct usdt_frame frame = frame_of(machine);
	struct usdt_arg args[USDT_ARGS_MAX];
	size_t n = 0;

	frame.fixed = fixed;
	struct error *err = usdt_args_parse(text, &frame, args, &n);
	if (err)
		fail_msg("%s: %s", text, err->msg);
	if (n != 1 || args[0].place != want.place || args[0].size != want.size ||
	    args[0].is_signed != want.is_signed || args[0].value != want.value ||
	    args[0].reg != want.reg || args[0].index != want.index || args[0].scale != want.scale)
		fail_msg("%s: %zu: place %d size %u signed %d value %lld reg %u index %u scale %u",
			 text, n, args[0].place, args[0].size, args[0].is_signed,
			 (long long)args[0].value, args[0].reg, args[0].index, args[0].scale);
}

static void refused(uint16_t machine, const char *text, const char *why)
{
	struct usdt_frame frame = frame_of(machine);
	struct usdt_arg args[USDT_ARGS_MAX];
	size_t n = 77;
	struct error *err = usdt_args_parse(text, &frame, args, &n);

	if (!err)
		fail_msg("%s is taken", text);
	if (!strstr(err->msg, why))
		fail_msg("%s: %s", text, err->msg);
	assert_int_equal(n, 77);
	error_free(err);
}

#define ARG(p, sz, sg, ...)                                                                        \
	((struct usdt_arg){.place = p, .size = sz, .is_signed = sg, __VA_ARGS__})
#define NEGATIVE(v) .value = (uint64_t) - (v)

static void x86(void **state)
{
	const uint16_t m = EM_X86_64;

	parses(m, false, "-4@$-9", ARG(USDT_CONST, 4, true, NEGATIVE(9)));
	parses(m, false, "8@$18446744073709551615", ARG(USDT_CONST, 8, false, .value = UINT64_MAX));
	parses(m, false, "4@$0x10", ARG(USDT_CONST, 4, false, .value = 16));
	parses(m, false, "-4@%edi", ARG(USDT_REG, 4, true, .reg = 112));
	parses(m, false, "  2@%r12w\t", ARG(USDT_REG, 2, false, .reg = 24));
	parses(m, false, "-1@%sil", ARG(USDT_REG, 1, true, .reg = 104));
	parses(m, false, "1@%ah", ARG(USDT_REG, 1, false, .reg = 81));
	parses(m, false, "-4@-1204(%rbp)", ARG(USDT_DEREF, 4, true, .reg = 32, NEGATIVE(1204)));
	parses(m, false, "8@(%r15)", ARG(USDT_DEREF, 8, false, .reg = 0));
	parses(m, false, "8@0x20(%rsp)", ARG(USDT_DEREF, 8, false, .reg = 152, .value = 32));
	parses(m, false, "8@16+8-4(%rsp)", ARG(USDT_DEREF, 8, false, .reg = 152, .value = 20));
	parses(m, false, "8@(%rdi,%rsi,8)",
	       ARG(USDT_SIB, 8, false, .reg = 112, .index = 104, .scale = 3));
	parses(m, false, "-8@-8(%rax, %rbx)",
	       ARG(USDT_SIB, 8, true, .reg = 80, .index = 40, NEGATIVE(8)));
	parses(m, false, "2@6(,%rbx)",
	       ARG(USDT_DEREF, 2, false, .reg = 40, .index = 40, .value = 6));
	parses(m, false, "2@6(,%rbx,2)",
	       ARG(USDT_SIB, 2, false, .reg = 40, .index = 40, .value = 6));
	parses(m, false, "-4@count(%rip)",
	       ARG(USDT_DEREF, 4, true, .reg = 128, .value = 0x5000 - 0x1234));
	parses(m, false, "-4@4+count(%rip)",
	       ARG(USDT_DEREF, 4, true, .reg = 128, .value = 0x5004 - 0x1234));
	parses(m, false, "-4@count",
	       ARG(USDT_DEREF, 4, true, .reg = 128, .value = 0x5000 - 0x1234));
	parses(m, true, "8@$count+1", ARG(USDT_CONST, 8, false, .value = 0x5001));
	parses(m, true, "8@count(,%rax,2)",
	       ARG(USDT_SIB, 8, false, .reg = 80, .index = 80, .value = 0x5000));
	parses(m, true, "8@0x6000",
	       ARG(USDT_DEREF, 8, false, .reg = 128, .value = 0x6000 - 0x1234));
	parses(m, false, "8f@-16(%rbp)", ARG(USDT_DEREF, 8, false, .reg = 32, NEGATIVE(16)));
	parses(m, false, "-8f@(%rbp)", ARG(USDT_DEREF, 8, false, .reg = 32));

	refused(m, "8f@%xmm0", "argument 1, '8f@%xmm0': a floating-point register");
	refused(m, "4@%edi 8@%zax", "argument 2, '8@%zax': unknown register");
	refused(m, "8@%fs:-8", "thread-local");
	refused(m, "16@%rax", "only 1, 2, 4 and 8 bytes");
	refused(m, "0@%rax", "only 1, 2, 4 and 8 bytes");
	refused(m, "%rax", "must begin with its size");
	refused(m, "4%eax", "'@' is missing");
	refused(m, "4@", "neither a number nor a name");
	refused(m, "4@$", "neither a number nor a name");
	refused(m, "4@$18446744073709551616", "more than 64 bits");
	refused(m, "4@%eax,", "unexpected text at the end");
	refused(m, "4@8(%rbp", "the closing parenthesis is missing");
	refused(m, "4@8()", "expected a register between");
	refused(m, "4@(%rax,%rbx,3)", "scale");
	refused(m, "4@(%rax,%rbx,16)", "scale");
	refused(m, "4@(,%rbx,4)", "index register without a base");
	refused(m, "4@other(%rip)", "symbol tables do not contain");
	refused(m, "4@-count(%rip)", "subtracted");
	refused(m, "8@$count", "differs from process to process");
	refused(m, "8@count(%rax)", "differs from process to process");
	refused(m, "8@0x6000", "differs from process to process");
	refused(m, "1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1",
		"more than 12 arguments");
}

#if defined(__x86_64__)
/* What the kernel's struct pt_regs has in common with ptrace's. */
static void x86_registers_are_where_ptrace_has_them(void **state)
{
	static const struct {
		const char *names;
		size_t at;
	} regs[] = {
#define REG(name, names) {names, offsetof(struct user_regs_struct, name)}
		REG(r15, "8@%r15 4@%r15d 2@%r15w 1@%r15b"),
		REG(r14, "8@%r14 4@%r14d"),
		REG(r13, "8@%r13 4@%r13d"),
		REG(r12, "8@%r12 1@%r12b"),
		REG(rbp, "8@%rbp 4@%ebp 2@%bp 1@%bpl"),
		REG(rbx, "8@%rbx 4@%ebx 2@%bx 1@%bl"),
		REG(r11, "8@%r11"),
		REG(r10, "8@%r10"),
		REG(r9, "8@%r9"),
		REG(r8, "8@%r8"),
		REG(rax, "8@%rax 4@%eax 2@%ax 1@%al"),
		REG(rcx, "8@%rcx 4@%ecx 2@%cx 1@%cl"),
		REG(rdx, "8@%rdx 4@%edx 2@%dx 1@%dl"),
		REG(rsi, "8@%rsi 4@%esi 2@%si 1@%sil"),
		REG(rdi, "8@%rdi 4@%edi 2@%di 1@%dil"),
		REG(rip, "8@%rip"),
		REG(rsp, "8@%rsp 4@%esp 2@%sp 1@%spl"),
	};
	struct usdt_frame frame = frame_of(EM_X86_64);
	struct usdt_arg args[USDT_ARGS_MAX];
	size_t n;

	for (size_t i = 0; i < ARRAY_SIZE(regs); i++) {
		assert_null(usdt_args_parse(regs[i].names, &frame, args, &n));
		assert_true(n >= 1);
		for (size_t a = 0; a < n; a++)
			assert_int_equal(args[a].reg, regs[i].at);
	}
}
#endif

static void other_machines(void **state)
{
	parses(EM_AARCH64, false, "-4@-9", ARG(USDT_CONST, 4, true, NEGATIVE(9)));
	parses(EM_AARCH64, false, "4@#9", ARG(USDT_CONST, 4, false, .value = 9));
	parses(EM_AARCH64, false, "8@x30", ARG(USDT_REG, 8, false, .reg = 240));
	parses(EM_AARCH64, false, "-4@w1", ARG(USDT_REG, 4, true, .reg = 8));
	parses(EM_AARCH64, false, "8@sp", ARG(USDT_REG, 8, false, .reg = 248));
	parses(EM_AARCH64, false, "8@[sp]", ARG(USDT_DEREF, 8, false, .reg = 248));
	parses(EM_AARCH64, false, "-8@[x29, -16]",
	       ARG(USDT_DEREF, 8, true, .reg = 232, NEGATIVE(16)));
	refused(EM_AARCH64, "8@x31", "unknown register");
	refused(EM_AARCH64, "8@x01", "unknown register");
	refused(EM_AARCH64, "8@d0", "unknown register");
	refused(EM_AARCH64, "8@[x1, x2]", "the offset is not a number");
	refused(EM_AARCH64, "8@[sp, 16", "the closing bracket is missing");

	parses(EM_ARM, false, "-4@#-7", ARG(USDT_CONST, 4, true, NEGATIVE(7)));
	parses(EM_ARM, false, "4@r2", ARG(USDT_REG, 4, false, .reg = 8));
	parses(EM_ARM, false, "4@fp", ARG(USDT_REG, 4, false, .reg = 44));
	parses(EM_ARM, false, "4@[r7, #4]", ARG(USDT_DEREF, 4, false, .reg = 28, .value = 4));

	parses(EM_S390, false, "-4@-7", ARG(USDT_CONST, 4, true, NEGATIVE(7)));
	parses(EM_S390, false, "8@%r2", ARG(USDT_REG, 8, false, .reg = 40));
	parses(EM_S390, false, "-8@164(%r15)", ARG(USDT_DEREF, 8, true, .reg = 144, .value = 164));
	parses(EM_S390, false, "8@0(%r1,%r15)", ARG(USDT_SIB, 8, false, .reg = 32, .index = 144));
	refused(EM_S390, "8@%f0", "floating-point");
	refused(EM_S390, "8@%r16", "unknown register");

	parses(EM_RISCV, false, "-4@-7", ARG(USDT_CONST, 4, true, NEGATIVE(7)));
	parses(EM_RISCV, false, "8@a5", ARG(USDT_REG, 8, false, .reg = 120));
	parses(EM_RISCV, false, "8@s11", ARG(USDT_REG, 8, false, .reg = 216));
	parses(EM_RISCV, false, "-4@-20(s0)", ARG(USDT_DEREF, 4, true, .reg = 64, NEGATIVE(20)));
	refused(EM_RISCV, "8@x0", "unknown register");
	refused(EM_RISCV, "8@fa0", "unknown register");

	refused(EM_PARISC, "4@1", "machine 15");
}

static void several_arguments(void **state)
{
	struct usdt_frame frame = frame_of(EM_AARCH64);
	struct usdt_arg args[USDT_ARGS_MAX];
	size_t n = 1;

	/* An operand may hold a blank. */
	assert_null(usdt_args_parse("8@[sp, 8] -4@x1 1@5", &frame, args, &n));
	assert_int_equal(n, 3);
	assert_int_equal(args[0].value, 8);
	assert_int_equal(args[1].reg, 8);
	assert_int_equal(args[2].value, 5);
	assert_null(usdt_args_parse("", &frame, args, &n));
	assert_int_equal(n, 0);
	assert_null(usdt_args_parse(" ", &frame, args, &n));
	assert_int_equal(n, 0);
}

/* ---- notes ---- */

static struct error *count_notes(const struct image *file, size_t *n, struct usdt_note *last)
{
	_cleanup_elf_ struct elf_file *elf = NULL;
	struct usdt_notes notes;
	bool more;

	TRY(pb_elf_file_open_mem(file->sb.str, file->sb.len, "file", &elf));
	TRY(usdt_notes_open(elf, &notes));
	for (*n = 0;; ++*n) {
		TRY(usdt_notes_next(&notes, last, &more));
		if (!more)
			return NULL;
	}
}

static void notes_of_both_byte_orders(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct image body = {.swap = swap}, file = {.swap = swap};
		const struct probe first = {"libc", "setjmp", "8@%rdi -4@%esi", 0x1000, 0x9000, 0};
		const struct probe last = {"p", "q", "", 0x2000, 0x9000, 0x7000};
		struct usdt_note note;
		size_t n;

		put_note(&body, &first);
		/* Another owner's note, and another type. */
		image_u32(&body, 4);
		image_u32(&body, 5);
		image_u32(&body, 3);
		strbuf_add(&body.sb, "GNU\0hello\0\0\0", 12);
		put_note(&body, &last);
		/* prelink moved the file by 0x500 */
		make_file(&file, ET_DYN, body.sb.str, body.sb.len, SHT_NOTE, 0x9500);
		assert_null(count_notes(&file, &n, &note));
		assert_int_equal(n, 2);
		assert_int_equal(note.location, 0x2500);
		assert_int_equal(note.semaphore, 0x7500);

		_cleanup_elf_ struct elf_file *elf = NULL;
		struct usdt_notes notes;
		bool more = false;
		assert_null(pb_elf_file_open_mem(file.sb.str, file.sb.len, "file", &elf));
		assert_null(usdt_notes_open(elf, &notes));
		assert_null(usdt_notes_next(&notes, &note, &more));
		assert_true(more);
		assert_string_equal(note.provider, "libc");
		assert_string_equal(note.name, "setjmp");
		assert_string_equal(note.args, "8@%rdi -4@%esi");
		assert_int_equal(note.location, 0x1500);
		assert_int_equal(note.semaphore, 0);
		strbuf_deinit(&body.sb);
		strbuf_deinit(&file.sb);
	}
}

/* Cut off anywhere, and every byte of the sizes changed: an error or fewer notes, no more. */
static void broken_notes_are_errors(void **state)
{
	const struct probe probe = {"provider", "name", "8@%rdi", 0x1000, 0, 0};
	struct image body = {0};
	struct usdt_note note;
	size_t n, failed = 0;

	put_note(&body, &probe);
	put_note(&body, &probe);
	for (size_t size = 0; size <= body.sb.len; size++) {
		struct image file = {0};

		make_file(&file, ET_DYN, body.sb.str, size, SHT_NOTE, 0);
		struct error *err = count_notes(&file, &n, &note);
		if (err) {
			assert_int_equal(err->code, EBADMSG);
			assert_non_null(strstr(err->where, "section .note.stapsdt: offset 0x"));
			failed++;
		} else {
			assert_true(size == 0 || size + 4 > body.sb.len / 2);
		}
		error_free(err);
		strbuf_deinit(&file.sb);
	}
	assert_true(failed >= body.sb.len - 8);
	for (size_t i = 0; i < 12; i++) {
		for (int v = 0; v < 256; v++) {
			struct image file = {0};
			char was = body.sb.str[i];

			body.sb.str[i] = (char)v;
			make_file(&file, ET_DYN, body.sb.str, body.sb.len, SHT_NOTE, 0);
			error_free(count_notes(&file, &n, &note));
			body.sb.str[i] = was;
			strbuf_deinit(&file.sb);
		}
	}
	strbuf_deinit(&body.sb);
}

static void a_file_without_probes_says_so(void **state)
{
	struct image file = {0};
	struct usdt_note note;
	size_t n;

	make_file(&file, ET_DYN, "", 0, SHT_PROGBITS, 0);
	struct error *err = count_notes(&file, &n, &note);
	assert_int_equal(err->code, EBADMSG);
	error_free(err);
	file.sb.str[NOTES_AT + 2] = 'x'; /* the section's name: there are no notes before it */
	err = count_notes(&file, &n, &note);
	assert_int_equal(err->code, ENOENT);
	assert_string_equal(err->msg, "file has no USDT probes (no section .note.stapsdt)");
	assert_non_null(strstr(err->hint, "readelf -n"));
	error_free(err);
	strbuf_deinit(&file.sb);
}

static void sections_name_binary_provider_and_probe(void **state)
{
	char *binary = NULL, *provider = NULL, *name = NULL;

	assert_null(usdt_section_split("/a:b/libc.so.6:libc:setjmp", &binary, &provider, &name));
	assert_string_equal(binary, "/a:b/libc.so.6");
	assert_string_equal(provider, "libc");
	assert_string_equal(name, "setjmp");
	free(binary);
	free(provider);
	free(name);
	static const char *const bad[] = {"libc", "libc:setjmp", ":libc:setjmp", "x::setjmp",
					  "x:y:"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct error *err = usdt_section_split(bad[i], &binary, &provider, &name);

		assert_non_null(err);
		assert_int_equal(err->code, EINVAL);
		error_free(err);
	}
	struct error *err = usdt_section_split("", &binary, &provider, &name);
	assert_int_equal(err->code, EOPNOTSUPP);
	error_free(err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86),
#if defined(__x86_64__)
		cmocka_unit_test(x86_registers_are_where_ptrace_has_them),
#endif
		cmocka_unit_test(other_machines),
		cmocka_unit_test(several_arguments),
		cmocka_unit_test(notes_of_both_byte_orders),
		cmocka_unit_test(broken_notes_are_errors),
		cmocka_unit_test(a_file_without_probes_says_so),
		cmocka_unit_test(sections_name_binary_provider_and_probe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
