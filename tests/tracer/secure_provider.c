/* SPDX-License-Identifier: Apache-2.0 */
/* secure_provider.c: a provider that only says that it was loaded, and its NAME. */
#include <stddef.h>
#include <stdio.h>

const void *flextrace_provider_1(void);

const void *flextrace_provider_1(void)
{
	puts("loaded " NAME);
	return NULL;
}
