/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.c: a shared object with a libflextrace of its own, which the scenario loads and unloads. */
#include <flextrace/flextrace.h>

__attribute__((visibility("default"))) void plugin_record(void);

void plugin_record(void)
{
	FLEXTRACE_THREAD_NAME("named by the plugin");
	FLEXTRACE_INSTANT("in the plugin");
}
