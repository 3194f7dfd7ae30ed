/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario.c: what provider.sh runs: scenario fork|late|windows|steps, or plugin PATH.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <flextrace/flextrace.h>

static void define(void)
{
	struct flextrace_device device;

	memset(&device, 0, sizeof(device));
	device.device = 1;
	device.uuid = "serial 1";
	device.name = "first name";
	flextrace_device(&device);
	device.name = "second name";
	flextrace_device(&device);
	FLEXTRACE_QUEUE_NAME(1, 0, "queue");
	FLEXTRACE_THREAD_NAME("main thread");
}

/* A rank that is forked is its own process, with the definitions of its parent. */
static int run_fork(void)
{
	int status = 1;
	pid_t child;

	define();
	flextrace_set_rank(4, 8);
	FLEXTRACE_INSTANT("in parent");
	child = fork();
	if (child == 0) {
		flextrace_set_rank(5, 8);
		FLEXTRACE_INSTANT("in child");
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	FLEXTRACE_INSTANT("in parent again");
	return status;
}

/* Says when it has defined, then waits to be told to end: a session starts meanwhile. */
static int run_late(void)
{
	char byte;

	define();
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 1;
	return read(STDIN_FILENO, &byte, 1) != 1;
}

static int run_windows(void)
{
	FLEXTRACE_INSTANT("before");
	flextrace_window_begin("w");
	FLEXTRACE_INSTANT("inside");
	flextrace_window_end("w");
	FLEXTRACE_INSTANT("after");
	return 0;
}

static int run_steps(void)
{
	char name[16];
	int i;

	for (i = 0; i < 10; i++) {
		FLEXTRACE_STEP(i);
		snprintf(name, sizeof(name), "work %d", i);
		FLEXTRACE_INSTANT(name);
	}
	return 0;
}

/* Two copies of libflextrace are one process with one rank and one set of windows. */
static int run_plugin(const char *path)
{
	void (*plugin_record)(void);
	void *plugin;
	void *symbol;

	flextrace_set_rank(6, 8);
	plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	symbol = plugin ? dlsym(plugin, "plugin_record") : NULL;
	if (!symbol) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	memcpy(&plugin_record, &symbol, sizeof(symbol));
	plugin_record(); /* outside the window */
	flextrace_window_begin("of the program");
	plugin_record();
	flextrace_window_end("of the program");
	dlclose(plugin);
	return run_fork(); /* nobody calls into what was unloaded */
}

int main(int argc, char **argv)
{
	const char *name = argc >= 2 ? argv[1] : "";

	if (!strcmp(name, "fork"))
		return run_fork();
	if (!strcmp(name, "late"))
		return run_late();
	if (!strcmp(name, "windows"))
		return run_windows();
	if (!strcmp(name, "steps"))
		return run_steps();
	if (!strcmp(name, "plugin") && argc == 3)
		return run_plugin(argv[2]);
	return 2;
}
