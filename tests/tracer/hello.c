/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include <flextrace/flextrace.h>

int main(void)
{
	FLEXTRACE_SCOPE("hello");
	puts("hello");
	return 0;
}
