// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <flextrace/flextrace.h>

int main()
{
	FLEXTRACE_SCOPE_ARGS("hello", "from=%s", "C++");
	std::puts("hello");
}
