/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#define TIMEOUT_NAME    "LTTNG_UST_REGISTER_TIMEOUT"
#define TIMEOUT_DEFAULT "100" /* ms; LTTng's own 3000 is what a stopped daemon would cost */

/* Changing the environment while other threads may read it is not safe. */
#if defined(__has_include)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define IS_SINGLE_THREADED __libc_single_threaded
#endif
#endif
#ifndef IS_SINGLE_THREADED
#define IS_SINGLE_THREADED 0
#endif

/* Loads `path` with LTTng waiting for its daemon no longer than TIMEOUT_DEFAULT. */
static void *load(const char *path, const struct environment *env)
{
	int shorten = IS_SINGLE_THREADED && !getenv(TIMEOUT_NAME);
	void *handle;

	if (shorten)
		setenv(TIMEOUT_NAME, TIMEOUT_DEFAULT, 0);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (shorten)
		unsetenv(TIMEOUT_NAME);
	if (!handle && env->verbose)
		fprintf(stderr, "flextrace: No provider: path=%s, reason=%s\n", path, dlerror());
	return handle;
}

static void *search(const struct environment *env)
{
	void *handle = NULL;

	if (env->provider)
		return load(env->provider, env);
#ifdef FLEXTRACE_PROVIDER_DIR
	handle = load(FLEXTRACE_PROVIDER_DIR "/" PROVIDER_SONAME, env);
#endif
	return handle ? handle : load(PROVIDER_SONAME, env);
}

/* ISO C knows no conversion from an object pointer to a function pointer; POSIX does. */
static const void *ask(void *handle, const char *name)
{
	const void *(*get)(void);
	void *symbol = dlsym(handle, name);

	memcpy(&get, &symbol, sizeof(get));
	return symbol ? get() : NULL;
}

/* A program that names no loader: what it opened would bring a second C library, and crash. */
static int is_static_program(void)
{
	const ElfW(Phdr) *headers = NULL;
	unsigned long address = getauxval(AT_PHDR);
	unsigned long i;

	memcpy(&headers, &address, sizeof(headers));
	for (i = 0; headers && i < getauxval(AT_PHNUM); i++)
		if (headers[i].p_type == PT_INTERP)
			return 0;
	return headers != NULL;
}

static void *find(const struct environment *env)
{
	if (!is_static_program())
		return search(env);
	if (env->verbose)
		fputs("flextrace: No provider: the program is linked statically\n", stderr);
	return NULL;
}

const struct flextrace_i_api *
flextrace_i_loader_open(const struct environment *env,
                        const struct flextrace_i_services **ret_services)
{
	int saved_errno = errno;
	void *handle = find(env);
	const struct flextrace_i_api *api = handle ? ask(handle, PROVIDER_SYMBOL) : NULL;
	Dl_info info;

	if (handle && (!api || api->size < sizeof(*api))) {
		if (env->verbose)
			fprintf(stderr, "flextrace: The provider is older than this program\n");
		api = NULL;
	}
	if (api && env->verbose && dladdr(api, &info))
		fprintf(stderr, "flextrace: Provider loaded: path=%s\n", info.dli_fname);
	*ret_services = api ? ask(handle, SERVICES_SYMBOL) : NULL;
	errno = saved_errno;
	return api;
}
