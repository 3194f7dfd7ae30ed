/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.c: a program that knows nothing of flextrace: host PLUGIN. It has a thread already when it
 * loads the plug-in, which brings libflextrace and so the provider; both threads record.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int go[2];
static void (*plugin_record)(void);

static void *wait_and_record(void *unused)
{
	char byte;

	if (read(go[0], &byte, 1) == 1)
		plugin_record();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	void *plugin;
	void *symbol;

	if (argc != 2 || pipe(go) || pthread_create(&thread, NULL, wait_and_record, NULL))
		return 2;
	plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	symbol = plugin ? dlsym(plugin, "plugin_record") : NULL;
	if (!symbol) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	memcpy(&plugin_record, &symbol, sizeof(symbol));
	plugin_record();
	return write(go[1], "g", 1) != 1 || pthread_join(thread, NULL);
}
