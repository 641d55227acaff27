/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that the kernel refused; see refusal.c. Private to the room, and for its tests. */
#ifndef PB_OBJECT_REFUSAL_H
#define PB_OBJECT_REFUSAL_H

#include "lib/object/prepare.h"
#include "lib/verifier/verifier.h"

struct load_refusal;

/* What is known of the program; it borrows prog and log. */
struct error *refusal_new(const struct bpf_program *prog, int code, const char *log,
			  struct load_refusal **out);
void refusal_free(struct load_refusal *r);
DEFINE_FREEP(struct load_refusal, refusal_free)
struct verifier_input *refusal_input(struct load_refusal *r);

/* Why the kernel gave code (positive) for the program; its log may be "". */
struct error *program_refused(const struct bpf_program *prog, int code, const char *log);

#endif
