// SPDX-License-Identifier: BSD-2-Clause
/*
 * Demangling by libiberty, as perf does it: every style it finds out by
 * itself (Itanium C++, both of Rust's), names without parameters.
 */
#include "sym/internal.h"

#ifdef HAVE_LIBIBERTY
#include <libiberty/demangle.h>

char *symbol_demangle(const char *name)
{
	return name_may_be_mangled(name) ? cplus_demangle(name, DMGL_NO_OPTS) : NULL;
}

char *symbol_demangle_full(const char *name)
{
	return name_may_be_mangled(name) ? cplus_demangle(name, DMGL_PARAMS | DMGL_ANSI) : NULL;
}
#else
char *symbol_demangle(const char *name)
{
	return NULL;
}

char *symbol_demangle_full(const char *name)
{
	return NULL;
}
#endif
