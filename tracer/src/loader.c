/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "wanted.h"

#define TIMEOUT_NAME  "LTTNG_UST_REGISTER_TIMEOUT"
#define TIMEOUT_SHORT "100" /* ms; LTTng's own is what a stopped daemon would cost */
#define TIMEOUT_LTTNG "3000"
#define MS_NS         UINT64_C(1000000)

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

/* How long LTTng waited for its daemon while it was loaded, and how long it would have. */
struct lttng_wait {
	uint64_t waited_ns, limit_ns;
	int is_short; /* as nobody wants this process */
	int may_wait; /* longer than that: the user has not said how long */
	int may_tell; /* there is a standard error */
};

static struct lttng_wait choose_wait(void)
{
	const char *given = getenv(TIMEOUT_NAME);
	struct lttng_wait wait = {.may_wait = !given};
	struct wanted wanted;

	flextrace_i_wanted_init(&wanted, secure_getenv);
	wait.is_short = IS_SINGLE_THREADED && !given && !flextrace_i_is_wanted(&wanted);
	wait.may_tell = fcntl(STDERR_FILENO, F_GETFD) >= 0;
	wait.limit_ns = MS_NS * strtoul(given           ? given
	                                : wait.is_short ? TIMEOUT_SHORT
	                                                : TIMEOUT_LTTNG,
	                                NULL, 10);
	return wait;
}

/* Loads `path`. LTTng waits for its daemon meanwhile. */
static void *load(const char *path, const struct environment *env, struct lttng_wait *wait)
{
	uint64_t begun_ns = flextrace_now_ns();
	void *handle;

	if (wait->is_short)
		setenv(TIMEOUT_NAME, TIMEOUT_SHORT, 0);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (wait->is_short)
		unsetenv(TIMEOUT_NAME);
	wait->waited_ns = flextrace_now_ns() - begun_ns;
	if (!handle && env->verbose)
		fprintf(stderr, "flextrace: No provider: path=%s, reason=%s\n", path, dlerror());
	return handle;
}

static void *search(const struct environment *env, struct lttng_wait *wait)
{
	void *handle = NULL;

	if (env->provider)
		return load(env->provider, env, wait);
#ifdef FLEXTRACE_PROVIDER_DIR
	handle = load(FLEXTRACE_PROVIDER_DIR "/" PROVIDER_SONAME, env, wait);
#endif
	return handle ? handle : load(PROVIDER_SONAME, env, wait);
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

static void *find(const struct environment *env, struct lttng_wait *wait)
{
	if (!is_static_program())
		return search(env, wait);
	if (env->verbose)
		fputs("flextrace: No provider: the program is linked statically\n", stderr);
	return NULL;
}

const struct flextrace_i_api *
flextrace_i_loader_open(const struct environment *env,
                        const struct flextrace_i_services **ret_services)
{
	int saved_errno = errno;
	struct lttng_wait wait = choose_wait();
	void *handle = find(env, &wait);
	const struct flextrace_i_api *api = handle ? ask(handle, PROVIDER_SYMBOL) : NULL;
	Dl_info info;

	if (handle && (!api || api->size < sizeof(*api))) {
		if (!getauxval(AT_SECURE)) /* nothing is said with the rights of another */
			fputs("flextrace: Nothing is recorded: the provider (" PROVIDER_SONAME
			      ") is older than this program. Install the one of its version\n",
			      stderr);
		api = NULL;
	}
	if (api && env->verbose && dladdr(api, &info))
		fprintf(stderr, "flextrace: Provider loaded: path=%s\n", info.dli_fname);
	*ret_services = api ? ask(handle, SERVICES_SYMBOL) : NULL;
	if (*ret_services && (*ret_services)->size >= sizeof(**ret_services))
		(*ret_services)
			->registered(wait.waited_ns, wait.limit_ns, wait.may_wait, wait.may_tell);
	errno = saved_errno;
	return api;
}
