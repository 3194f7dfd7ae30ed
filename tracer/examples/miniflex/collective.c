/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All-reduce over memory or a file that the ranks share: each adds its part under a lock, the
 * last to come opens the gate. Two generations of sums alternate, so that a fast rank cannot
 * overwrite what a slow one still reads.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "miniflex.h"

struct collective {
	pthread_mutex_t lock;
	pthread_cond_t gate;
	uint32_t n_ranks;
	uint32_t n_arrived;
	uint64_t generation;
	int64_t sums[2][COLLECTIVE_WORDS];
};

static struct collective *map(int flags, int fd)
{
	void *memory = mmap(NULL, sizeof(struct collective), PROT_READ | PROT_WRITE,
	                    MAP_SHARED | flags, fd, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

static void init(struct collective *self, uint32_t n_ranks)
{
	pthread_mutexattr_t lock_shared;
	pthread_mutexattr_init(&lock_shared);
	pthread_mutexattr_setpshared(&lock_shared, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&self->lock, &lock_shared);
	pthread_mutexattr_destroy(&lock_shared);
	pthread_condattr_t gate_shared;
	pthread_condattr_init(&gate_shared);
	pthread_condattr_setpshared(&gate_shared, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&self->gate, &gate_shared);
	pthread_condattr_destroy(&gate_shared);
	self->n_ranks = n_ranks;
}

struct collective *collective_new(uint32_t n_ranks)
{
	struct collective *self = map(MAP_ANONYMOUS, -1);
	if (self)
		init(self, n_ranks);
	return self;
}

/* Called with the file locked. */
static struct collective *join(int fd, uint32_t n_ranks)
{
	struct stat file;
	if (fstat(fd, &file))
		return NULL;
	if (file.st_size && file.st_size != sizeof(struct collective)) {
		errno = EINVAL;
		return NULL;
	}
	if (!file.st_size && ftruncate(fd, sizeof(struct collective)))
		return NULL;
	struct collective *self = map(0, fd);
	if (self && !file.st_size)
		init(self, n_ranks);
	return self;
}

struct collective *collective_join(const char *path, uint32_t n_ranks)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return NULL;
	struct collective *self = flock(fd, LOCK_EX) ? NULL : join(fd, n_ranks);
	int why = errno;
	flock(fd, LOCK_UN); /* the mapping would keep it locked */
	close(fd);
	errno = why;
	return self;
}

void collective_free(struct collective *self)
{
	if (self)
		munmap(self, sizeof(*self));
}

/* Called with the lock held. */
static void open_gate(struct collective *self)
{
	self->n_arrived = 0;
	self->generation++;
	memset(self->sums[self->generation % 2], 0, sizeof(self->sums[0]));
	pthread_cond_broadcast(&self->gate);
}

static void all_reduce(struct collective *self, int64_t *values)
{
	pthread_mutex_lock(&self->lock);
	const uint64_t generation = self->generation;
	int64_t *sums = self->sums[generation % 2];
	for (uint32_t i = 0; i < COLLECTIVE_WORDS; i++)
		sums[i] += values[i];
	if (++self->n_arrived >= self->n_ranks)
		open_gate(self);
	while (self->generation == generation)
		pthread_cond_wait(&self->gate, &self->lock);
	memcpy(values, sums, sizeof(self->sums[0]));
	pthread_mutex_unlock(&self->lock);
}

void collective_all_reduce(struct collective *self, int64_t *values)
{
	static uint64_t seq;
	const uint64_t bytes = COLLECTIVE_WORDS * sizeof(*values);
	FLEXTRACE_COLLECTIVE_ENTER("world", seq, "all_reduce", bytes, "");
	all_reduce(self, values);
	FLEXTRACE_COLLECTIVE_EXIT("world", seq, "all_reduce", bytes, "");
	seq++;
}

void collective_leave(struct collective *self)
{
	if (!self)
		return;
	pthread_mutex_lock(&self->lock);
	self->n_ranks--;
	if (self->n_ranks && self->n_arrived >= self->n_ranks)
		open_gate(self);
	pthread_mutex_unlock(&self->lock);
}
