/* SPDX-License-Identifier: Apache-2.0 */
/*
 * constructors.c: a program and a shared library (IS_LIBRARY) whose static constructors and
 * destructors record, also before flextrace's own constructor has run. The program prints how many
 * records were left out.
 */
#include <stdio.h>

#include <flextrace/flextrace.h>

/* The program's, called by the library, which is constructed before the program. */
__attribute__((visibility("default"))) void program_called(void);
__attribute__((visibility("default"))) void library_record(void);

__attribute__((destructor)) static void destruct(void)
{
	FLEXTRACE_SCOPE("destructor");
}

#ifdef IS_LIBRARY
__attribute__((constructor(102))) static void construct_early(void)
{
	FLEXTRACE_SCOPE("library: early constructor");
	program_called();
}

__attribute__((constructor)) static void construct(void)
{
	FLEXTRACE_SCOPE("library: constructor");
}

void library_record(void)
{
	FLEXTRACE_SCOPE("library");
}
#else
/* The C library is not there yet. */
__attribute__((no_sanitize_address)) static void construct_first(void)
{
	FLEXTRACE_SCOPE("left out");
	FLEXTRACE_HANDLER_INSTANT("left out");
}

static void construct_before_flextrace(void)
{
	FLEXTRACE_SCOPE("constructor before flextrace");
}

__attribute__((section(".preinit_array"), used)) static void (*preinit)(void) = construct_first;
__attribute__((section(".init_array.00050"),
               used)) static void (*init)(void) = construct_before_flextrace;

void program_called(void)
{
	FLEXTRACE_SCOPE("called while a library is constructed");
	FLEXTRACE_INSTANT("called while a library is constructed");
}

__attribute__((constructor(102))) static void construct_early(void)
{
	FLEXTRACE_SCOPE("early constructor");
}

__attribute__((constructor)) static void construct(void)
{
	FLEXTRACE_SCOPE("constructor");
}

int main(void)
{
	{
		FLEXTRACE_SCOPE("main");
		library_record();
	}
	return printf("%u left out\n", (unsigned int)flextrace_n_unrecorded()) < 0;
}
#endif
