/* SPDX-License-Identifier: Apache-2.0 */
#include <flextrace/flextrace.h>

int main(void)
{
	for (int i = 0; i < 1000; i++) {
		FLEXTRACE_SCOPE_WITH("iteration", FLEXTRACE_ARG("number", i));
		FLEXTRACE_COUNTER_IN("left", "iterations", 1000 - i);
	}
}
