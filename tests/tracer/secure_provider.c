/* SPDX-License-Identifier: Apache-2.0 */
/* secure_provider.c: a provider that only says that it was loaded, and its NAME. */
#include <stddef.h>
#include <stdio.h>

const void *flextrace_provider_2(void);

const void *flextrace_provider_2(void)
{
	puts("loaded " NAME);
	return NULL;
}
