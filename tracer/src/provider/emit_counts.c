/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "emit_counts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <flextrace/flextrace.h>

#include "kernel_file.h"

#ifndef MADV_POPULATE_WRITE /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

#define SLOTS_OF_PAGE (EMIT_FILE_PAGE / (unsigned int)sizeof(struct emit_slot))

__thread struct emit_slot *emit_counts_own;

static struct {
	struct emit_file_head *head;  /* NULL: there is no memory at all */
	struct emit_file_head *shown; /* another view of the head of the last file; NULL: none */
	struct emit_file_head *elder; /* that, where the file is a parent's; NULL: none */
	char path[PATH_MAX];          /* "" = no file */
	struct wanted wanted;
	struct emit_slot last_resort;
} counts;

static struct emit_slot *slots(void)
{
	return (void *)((char *)counts.head + EMIT_FILE_PAGE);
}

/* -- the file -- */

/* Opens a directory that belongs to this user and is open to nobody else. */
static int open_dir(const char *path)
{
	struct stat st;
	int fd;

	if (mkdir(path, 0700)) {
		if (errno != EEXIST)
			return -1;
	} else if (chmod(path, 0700)) { /* whatever the umask is */
		return -1;
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & 077))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* A larger file than that would kill the process. */
static int is_allowed(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur >= EMIT_FILE_BYTES;
}

/*
 * Maps memory where such memory is already, if there is any: a handler may have interrupted an
 * addition there, forked, and come back to it in the child.
 */
static void *map_at(void *at, size_t n_bytes, int fd, int flags)
{
	return mmap(at, n_bytes, PROT_READ | PROT_WRITE, flags | (at ? MAP_FIXED : 0), fd, 0);
}

/* A child that cannot have a file has other counts in place of the head, and adds to its parent's
 * here. */
static struct emit_file_head *map_shown(int fd)
{
	void *at = map_at(counts.shown, EMIT_FILE_PAGE, fd, MAP_SHARED);

	return at == MAP_FAILED ? NULL : at;
}

/* The head and the first page of slots are there for certain: to write into what a full disk could
 * not give would kill the process, too. */
static void *map_file(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	void *at = MAP_FAILED;

	if (fd < 0)
		return MAP_FAILED;
	if (!fchmod(fd, 0600) && !posix_fallocate(fd, 0, 2 * EMIT_FILE_PAGE) &&
	    !ftruncate(fd, (off_t)EMIT_FILE_BYTES))
		at = map_at(counts.head, EMIT_FILE_BYTES, fd, MAP_SHARED);
	if (at == MAP_FAILED)
		unlinkat(dir, name, 0);
	else
		counts.shown = map_shown(fd);
	close(fd);
	return at;
}

static void *make_file(const char *root, uint64_t start_ns)
{
	char dir_path[PATH_MAX / 2], name[64];
	void *at;
	int dir;

	snprintf(dir_path, sizeof(dir_path), "%s/" EMIT_FILE_DIR, root, (unsigned int)geteuid());
	snprintf(name, sizeof(name), EMIT_FILE_NAME, (unsigned int)getpid(),
	         (unsigned long long)start_ns);
	dir = is_allowed() ? open_dir(dir_path) : -1;
	if (dir < 0)
		return MAP_FAILED;
	at = map_file(dir, name);
	close(dir);
	if (at != MAP_FAILED)
		snprintf(counts.path, sizeof(counts.path), "%s/%s", dir_path, name);
	return at;
}

void emit_counts_init(const struct wanted *wanted)
{
	counts.wanted = *wanted;
}

static void fill_head(struct emit_file_head *head, uint64_t start_ns)
{
	head->version = EMIT_FILE_VERSION;
	head->n_events = flextrace_i_n_events;
	head->pid = (uint32_t)getpid();
	head->pid_namespace = kernel_file_inode("/proc/self/ns/pid");
	head->start_ns = start_ns;
	_Static_assert(sizeof(head->session) == sizeof(counts.wanted.session) &&
	                       sizeof(head->home) == sizeof(counts.wanted.home),
	               "copied whole");
	memcpy(head->session, counts.wanted.session, sizeof(head->session));
	memcpy(head->home, counts.wanted.home, sizeof(head->home));
	snprintf(head->program, sizeof(head->program), "%s", program_invocation_short_name);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(head->magic, EMIT_FILE_MAGIC, sizeof(head->magic));
}

int emit_counts_open(const char *root, uint64_t start_ns)
{
	int saved_errno = errno;
	struct emit_file_head *head;
	void *at;

	counts.path[0] = '\0';
	at = make_file(root, start_ns);
	__atomic_store_n(&counts.elder, at == MAP_FAILED ? counts.shown : NULL, __ATOMIC_RELEASE);
	if (at == MAP_FAILED)
		at = map_at(counts.head, EMIT_FILE_BYTES, -1, MAP_PRIVATE | MAP_ANONYMOUS);
	emit_counts_own = NULL;
	head = at == MAP_FAILED ? NULL : at;
	if (head)
		fill_head(head, start_ns);
	__atomic_store_n(&counts.head, head, __ATOMIC_RELEASE);
	errno = saved_errno;
	return head != NULL;
}

void emit_counts_close(void)
{
	if (counts.path[0] && counts.head && counts.head->pid == (uint32_t)getpid() &&
	    !__atomic_load_n(&counts.head->n_taken, __ATOMIC_RELAXED) && !counts.head->is_late &&
	    !__atomic_load_n(&counts.head->n_unrecorded, __ATOMIC_RELAXED))
		unlink(counts.path);
}

/* -- what LTTng was not handed -- */

static struct emit_file_head *borrow_head(void)
{
	return __atomic_load_n(&counts.head, __ATOMIC_ACQUIRE);
}

void emit_counts_note_wait(uint64_t ms)
{
	if (borrow_head())
		borrow_head()->wait_ms = ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
}

void emit_counts_be_late(void)
{
	if (borrow_head())
		borrow_head()->is_late = 1;
}

/* Who is read by others: this process's head, or its parent's. */
static struct emit_file_head *borrow_shown(void)
{
	struct emit_file_head *elder = __atomic_load_n(&counts.elder, __ATOMIC_ACQUIRE);

	return elder ? elder : borrow_head();
}

void emit_counts_add_late(unsigned int event)
{
	struct emit_file_head *head = borrow_shown();

	if (head)
		__atomic_fetch_add(&head->late[event], 1, __ATOMIC_RELAXED);
}

void emit_counts_add_unrecorded(void)
{
	struct emit_file_head *head = borrow_shown();

	if (head)
		__atomic_fetch_add(&head->n_unrecorded, 1, __ATOMIC_RELAXED);
}

/* -- slots -- */

/* Makes sure that the page of a slot is there. */
static int is_there(unsigned int slot)
{
	unsigned int page = slot / SLOTS_OF_PAGE;

	return page == 0 || !counts.path[0] ||
	       !madvise((char *)counts.head + (1 + page) * EMIT_FILE_PAGE, EMIT_FILE_PAGE,
	                MADV_POPULATE_WRITE);
}

/*
 * A handler that interrupts this takes a slot of its own, which is given up when it returns: what
 * it counted there counts. The last slot of the first page is that of all who found none.
 */
void emit_counts_first(unsigned int event)
{
	struct emit_file_head *head = borrow_head();
	struct emit_slot *shared = head ? &slots()[SLOTS_OF_PAGE - 1] : &counts.last_resort;
	int saved_errno = errno;
	unsigned int i;

	if (head && __atomic_load_n(&head->n_taken, __ATOMIC_RELAXED) < EMIT_FILE_SLOTS) {
		i = __atomic_fetch_add(&head->n_taken, 1, __ATOMIC_RELAXED);
		i += i >= SLOTS_OF_PAGE - 1;
		if (i < EMIT_FILE_SLOTS && is_there(i))
			emit_counts_own = shared = &slots()[i];
	}
	__atomic_fetch_add(&shared->n[event], 1, __ATOMIC_RELAXED);
	errno = saved_errno;
}
