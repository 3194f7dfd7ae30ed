/* SPDX-License-Identifier: Apache-2.0 */
#include "relay_watch.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "terminal/cli.h"
#include "consumers.h"
#include "process/process.h"

#define TCP_ESTABLISHED    1
#define SILENT_RETRANSMITS 4 /* some 3 s after the first time */

/* A row of /proc/PID/net/tcp. */
struct connection {
	uint64_t inode;
	unsigned state, n_retransmits;
};

typedef void visit_connection(void *context, const struct connection *connection);

static bool visit_file(pid_t pid, const char *file, visit_connection *visit, void *context)
{
	FILE *rows = process_fopen(pid, file);
	struct connection row;
	size_t n_bytes = 0;
	char *line = NULL;

	while (rows && getline(&line, &n_bytes, rows) > 0)
		if (sscanf(line, " %*d: %*s %*s %x %*s %*s %x %*u %*u %" SCNu64, &row.state,
		           &row.n_retransmits, &row.inode) == 3)
			visit(context, &row);
	free(line);
	if (rows)
		fclose(rows);
	return rows != NULL;
}

/* Visits all TCP connections where the process is. False: they cannot be read. */
static bool visit_connections(pid_t pid, visit_connection *visit, void *context)
{
	bool has_read = visit_file(pid, "net/tcp", visit, context);

	return visit_file(pid, "net/tcp6", visit, context) || has_read;
}

static bool is_among(const uint64_t *inodes, uint32_t n, uint64_t inode)
{
	for (uint32_t i = 0; i < n; i++)
		if (inodes[i] == inode)
			return true;
	return false;
}

/* -- whose they are ---------------------------------------------------------------------------- */

struct sockets {
	uint64_t *inodes; /* owned: all of a process */
	uint32_t n;
	struct relay_watch *found;
};

static void list_sockets(pid_t pid, struct sockets *sockets)
{
	DIR *dir = process_opendir(pid, "fd");
	struct dirent *entry;
	char target[64];
	uint64_t inode;

	while (dir && (entry = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		target[n > 0 ? n : 0] = '\0';
		if (sscanf(target, "socket:[%" SCNu64, &inode) == 1 &&
		    array_make_room(&sockets->inodes, sockets->n, sizeof(inode)) == FLEXTRACE_OK)
			sockets->inodes[sockets->n++] = inode;
	}
	if (dir)
		closedir(dir);
}

static void add_found(void *context, const struct connection *connection)
{
	struct sockets *sockets = context;
	struct relay_watch *found = sockets->found;

	if (connection->state == TCP_ESTABLISHED && found->n < RELAY_WATCH_MAX &&
	    is_among(sockets->inodes, sockets->n, connection->inode))
		found->inodes[found->n++] = connection->inode;
}

/* Stores the connections of the consumer daemon, if there is one. */
static void find(struct relay_watch *ret_found)
{
	struct sockets sockets = {.found = ret_found};
	int pidfd;

	*ret_found = (struct relay_watch){.is_wanted = true};
	pidfd = consumers_find_own(&ret_found->consumer);
	if (pidfd < 0)
		return;
	ret_found->consumer_start_ticks = process_start_ticks(ret_found->consumer);
	list_sockets(ret_found->consumer, &sockets);
	visit_connections(ret_found->consumer, add_found, &sockets);
	free(sockets.inodes);
	close(pidfd);
}

void relay_watch_before(struct relay_watch *watch, bool is_wanted)
{
	*watch = (struct relay_watch){.is_wanted = is_wanted};
	if (is_wanted)
		find(watch);
}

void relay_watch_after(struct relay_watch *watch)
{
	struct relay_watch before = *watch;
	uint32_t n_kept = 0;

	if (!before.is_wanted)
		return;
	find(watch);
	for (uint32_t i = 0; i < watch->n; i++)
		if (!is_among(before.inodes, before.n, watch->inodes[i]))
			watch->inodes[n_kept++] = watch->inodes[i];
	watch->n = n_kept;
}

/* -- how they are ------------------------------------------------------------------------------ */

struct count {
	const struct relay_watch *watch;
	uint32_t n_established, n_silent;
};

static void count(void *context, const struct connection *connection)
{
	struct count *counted = context;

	if (connection->state != TCP_ESTABLISHED ||
	    !is_among(counted->watch->inodes, counted->watch->n, connection->inode))
		return;
	counted->n_established++;
	counted->n_silent += connection->n_retransmits >= SILENT_RETRANSMITS;
}

void relay_watch_look(struct relay_watch *watch)
{
	struct count counted = {.watch = watch};

	if (!watch->n || watch->has_reported_broken ||
	    !visit_connections(watch->consumer, count, &counted) ||
	    process_start_ticks(watch->consumer) != watch->consumer_start_ticks)
		return;
	if (counted.n_established < watch->n) {
		cli_error("lttng-relayd closed the connection: it ended, or its disk is full. What "
		          "is recorded from here on is lost");
		watch->has_reported_broken = true;
	} else if (counted.n_silent && !watch->has_reported_silent) {
		cli_warn("The host of lttng-relayd does not answer: is the network broken? What is "
		         "recorded is lost, if it stays so");
		watch->has_reported_silent = true;
	}
}
