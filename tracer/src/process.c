/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "kernel_file.h"

static struct self {
	uint32_t pid;
	uint64_t time_namespace;
	char boot_id[40];
	char program[64];
	char session[128];
	struct utsname uts;
} self;

/* Until the provider has one. */
static struct flextrace_i_identity own_identity = {0,    0,   FLEXTRACE_RANK_UNKNOWN, 0, NULL,
                                                   NULL, NULL};
static struct flextrace_i_identity *identity = &own_identity;

/* Strings given to an identity live on: somebody may be reading them. */
static struct kept {
	struct kept *next;
	char text[];
} * all_kept;

/* Reads the first line of a file of the kernel, "" if there is none. */
static void read_line(const char *path, char *line, size_t size)
{
	kernel_file_read(path, line, size);
	line[strcspn(line, "\n")] = '\0';
}

void flextrace_i_process_forked(void)
{
	self.pid = (uint32_t)getpid();
	self.time_namespace = kernel_file_inode("/proc/self/ns/time");
	read_line("/proc/self/comm", self.program, sizeof(self.program));
}

void flextrace_i_process_init(int32_t rank, int32_t world_size, const char *session)
{
	int saved_errno = errno;

	read_line("/proc/sys/kernel/random/boot_id", self.boot_id, sizeof(self.boot_id));
	snprintf(self.session, sizeof(self.session), "%s", session);
	if (uname(&self.uts))
		memset(&self.uts, 0, sizeof(self.uts));
	flextrace_i_process_forked();
	identity = &own_identity;
	own_identity.rank = rank;
	own_identity.world_size = world_size;
	errno = saved_errno;
}

static struct flextrace_i_identity *borrow_identity(void)
{
	return __atomic_load_n(&identity, __ATOMIC_ACQUIRE);
}

void flextrace_i_process_share(struct flextrace_i_identity *shared)
{
	const struct flextrace_i_identity *own = &own_identity;
	const char *runtime = __atomic_load_n(&own->runtime, __ATOMIC_ACQUIRE);
	const char *version = __atomic_load_n(&own->version, __ATOMIC_ACQUIRE);
	const char *dialect = __atomic_load_n(&own->dialect, __ATOMIC_ACQUIRE);

	if (__atomic_load_n(&shared->rank, __ATOMIC_RELAXED) == FLEXTRACE_RANK_UNKNOWN)
		__atomic_store_n(&shared->rank, __atomic_load_n(&own->rank, __ATOMIC_RELAXED),
		                 __ATOMIC_RELAXED);
	if (!__atomic_load_n(&shared->world_size, __ATOMIC_RELAXED))
		__atomic_store_n(&shared->world_size,
		                 __atomic_load_n(&own->world_size, __ATOMIC_RELAXED),
		                 __ATOMIC_RELAXED);
	if (runtime)
		__atomic_store_n(&shared->runtime, runtime, __ATOMIC_RELEASE);
	if (version)
		__atomic_store_n(&shared->version, version, __ATOMIC_RELEASE);
	if (dialect)
		__atomic_store_n(&shared->dialect, dialect, __ATOMIC_RELEASE);
	__atomic_store_n(&identity, shared, __ATOMIC_RELEASE);
}

/*
 * Returns a copy of `text` that is never freed, the same one for the same text. Without a lock,
 * which a thread that a fork left behind might hold: two threads at once may keep a text twice.
 */
static const char *keep(const char *text)
{
	struct kept *first = __atomic_load_n(&all_kept, __ATOMIC_ACQUIRE);
	struct kept *kept;
	size_t n = strlen(text) + 1;

	for (kept = first; kept; kept = kept->next)
		if (!strcmp(kept->text, text))
			return kept->text;
	kept = malloc(sizeof(*kept) + n);
	if (!kept)
		return "";
	memcpy(kept->text, text, n);
	kept->next = first;
	while (!__atomic_compare_exchange_n(&all_kept, &kept->next, kept, 0, __ATOMIC_RELEASE,
	                                    __ATOMIC_RELAXED))
		;
	return kept->text;
}

void flextrace_i_process_emit(void)
{
	struct flextrace_i_identity *id = borrow_identity();
	struct flextrace_process process;

	if (!flextrace_i_is_on(flextrace_i_event_process))
		return;
	process.size = sizeof(process);
	process.rank = __atomic_load_n(&id->rank, __ATOMIC_RELAXED);
	process.world_size = __atomic_load_n(&id->world_size, __ATOMIC_RELAXED);
	process.pid = self.pid;
	process.start_ns = __atomic_load_n(&id->start_ns, __ATOMIC_RELAXED);
	process.time_ns = flextrace_now_ns();
	process.boot_id = self.boot_id;
	process.time_namespace = self.time_namespace;
	process.host = self.uts.nodename;
	process.program = self.program;
	process.runtime = __atomic_load_n(&id->runtime, __ATOMIC_ACQUIRE);
	process.version = __atomic_load_n(&id->version, __ATOMIC_ACQUIRE);
	process.session = self.session;
	process.real_ns = 0; /* the provider reads it */
	process.dialect = __atomic_load_n(&id->dialect, __ATOMIC_ACQUIRE);
	if (!process.dialect)
		process.dialect = "neutral";
	FLEXTRACE_I_SEND(process, &process);
}

void flextrace_define_process(const char *runtime, const char *version)
{
	struct flextrace_i_identity *id = borrow_identity();

	__atomic_store_n(&id->runtime, keep(runtime ? runtime : ""), __ATOMIC_RELEASE);
	__atomic_store_n(&id->version, keep(version ? version : ""), __ATOMIC_RELEASE);
	flextrace_i_process_emit();
}

void flextrace_set_dialect(const char *dialect)
{
	struct flextrace_i_identity *id = borrow_identity();

	__atomic_store_n(&id->dialect, dialect && *dialect ? keep(dialect) : NULL,
	                 __ATOMIC_RELEASE);
	flextrace_i_process_emit();
}

void flextrace_set_rank(int rank, int world_size)
{
	struct flextrace_i_identity *id = borrow_identity();

	__atomic_store_n(&id->rank, rank, __ATOMIC_RELAXED);
	__atomic_store_n(&id->world_size, world_size, __ATOMIC_RELAXED);
	flextrace_i_process_emit();
}

uint64_t flextrace_next_correlations(uint32_t n)
{
	uint64_t last = __atomic_fetch_add(&borrow_identity()->next_correlation, n,
	                                   __ATOMIC_RELAXED);

	return (UINT64_C(1) << 48) + last + 1;
}
