/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.c: a shared object with a libflextrace of its own, loaded and unloaded by scenario.c. */
#include <flextrace/flextrace.h>

__attribute__((visibility("default"))) void plugin_record(void);

void plugin_record(void)
{
	FLEXTRACE_THREAD_NAME("named by the plugin");
	FLEXTRACE_INSTANT("in the plugin");
}
