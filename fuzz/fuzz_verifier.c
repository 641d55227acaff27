// SPDX-License-Identifier: BSD-2-Clause
/*
 * The verifier's log and what the loader says of the program, both from the
 * input, as tests/unit/verifier_case.h has them.
 */
#include "tests/unit/verifier_case.h"

/* Tables that ascend are the loader's promise; what it does not promise is the log. */
static bool ascends(const struct refused_program *p)
{
	for (size_t i = 1; i < p->lines.n; i++)
		if (p->lines.v[i].insn < p->lines.v[i - 1].insn)
			return false;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *at = text;
	struct refused_program program;
	struct refused_case refused;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	if (program_read(&at, &program) && ascends(&program) && case_read(&at, &refused)) {
		const struct verifier_input in = case_input(&program, &refused);
		struct error *err = verifier_explain(&in);
		struct strbuf sb = STRBUF_INIT;

		error_text(err, &sb);
		error_json(err, &sb);
		strbuf_deinit(&sb);
		error_free(err);
		verifier_log_has_words(refused.log);
	}
	program_deinit(&program);
	free(text);
	return 0;
}
