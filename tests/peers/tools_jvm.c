// SPDX-License-Identifier: BSD-2-Clause
/*
 * What BCC's javagc looks for in a Java machine: libjvm.so with HotSpot's
 * probes at the beginning and the end of a collection. A probe is a nop, and a
 * note (SystemTap's UserSpaceProbeImplementation): three addresses (probe, base
 * to tell prelinking by, semaphore), the provider, the name, the arguments.
 */
#define PROBE(name)                                                                                \
	__asm__ volatile(                                                                          \
		"990: nop\n"                                                                       \
		".pushsection .note.stapsdt, \"\", \"note\"\n"                                     \
		".balign 4\n"                                                                      \
		".4byte 992f - 991f, 994f - 993f, 3\n"                                             \
		"991: .asciz \"stapsdt\"\n"                                                        \
		"992: .balign 4\n"                                                                 \
		"993: .8byte 990b, _.stapsdt.base, 0\n"                                            \
		".asciz \"hotspot\"\n"                                                             \
		".asciz \"" #name "\"\n"                                                           \
		".asciz \"\"\n"                                                                    \
		"994: .balign 4\n"                                                                 \
		".popsection\n"                                                                    \
		".ifndef _.stapsdt.base\n"                                                         \
		".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"        \
		".weak _.stapsdt.base\n"                                                           \
		".hidden _.stapsdt.base\n"                                                         \
		"_.stapsdt.base: .space 1\n"                                                       \
		".size _.stapsdt.base, 1\n"                                                        \
		".popsection\n"                                                                    \
		".endif\n")

void collect_garbage(void);

void collect_garbage(void)
{
	PROBE(gc__begin);
	for (volatile int i = 0; i < 100000; i++)
		;
	PROBE(gc__end);
	PROBE(mem__pool__gc__begin);
	PROBE(mem__pool__gc__end);
}
