// SPDX-License-Identifier: Apache-2.0
#include "every_macro.h"

namespace
{
template <typename T> int record_in_template(T value)
{
	FLEXTRACE_SCOPE("template");
	FLEXTRACE_COUNTER("value", value);
	auto scoped = [](int n) {
		FLEXTRACE_SCOPE_ARGS("lambda", "n=%d", n);
		return n;
	};
	return scoped(1);
}
} // namespace

int main()
{
	return record_all() < 0 || record_in_template(1.5f) < 0;
}
