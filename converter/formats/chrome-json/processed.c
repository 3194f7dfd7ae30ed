/* SPDX-License-Identifier: Apache-2.0 */
#include "processed.h"

const char *processed_by(const struct trace_text *key, const struct trace_value *value)
{
	static const char analyzer[] = "Acelyzer";

	if (trace_text_is(key, "flextrace") && value->kind == TRACE_JSON)
		return "flextrace";
	if (trace_text_is(key, "otherData") && value->kind == TRACE_JSON &&
	    memmem(value->text.bytes, value->text.length, analyzer, sizeof(analyzer) - 1))
		return "the AIU Trace Analyzer";
	return NULL;
}
