// SPDX-License-Identifier: BSD-2-Clause
/* Which event it is, is the command line's matter; nobody is asked about. */
#define ANY_EVENT
#include "run_samples_faults.bpf.c"
