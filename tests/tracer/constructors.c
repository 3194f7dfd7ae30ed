/* SPDX-License-Identifier: Apache-2.0 */
/* constructors.c: a program whose static constructors and destructors record. */
#include <flextrace/flextrace.h>

__attribute__((constructor(102))) static void construct_early(void)
{
	FLEXTRACE_SCOPE("early constructor");
}

__attribute__((constructor)) static void construct(void)
{
	FLEXTRACE_SCOPE("constructor");
}

__attribute__((destructor)) static void destruct(void)
{
	FLEXTRACE_SCOPE("destructor");
}

int main(void)
{
	FLEXTRACE_SCOPE("main");
	return 0;
}
