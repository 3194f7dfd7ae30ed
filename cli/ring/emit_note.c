/* SPDX-License-Identifier: Apache-2.0 */
#include "emit_note.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <flextrace/flextrace.h>

#include "terminal/cli.h"
#include "tracer/src/emit_file.h"
#include "base/paths.h"
#include "process/process.h"

/* Events in the order of the counters. */
static const char *const event_names[] = {
#define NAME(event, payload) #event,
	FLEXTRACE_I_EVENTS(NAME)
#undef NAME
};
#define FIRST_PID_NAMESPACE UINT64_C(0xeffffffc) /* the kernel's PROC_PID_INIT_INO */
#define N_EVENTS            (sizeof(event_names) / sizeof(event_names[0]))

struct counts {
	struct emit_file_head head;
	uint64_t n[EMIT_FILE_CLASSES]; /* all slots */
};

/* -- files of processes ------------------------------------------------------------------------ */

static bool read_at(int fd, off_t at, void *to, size_t n_bytes)
{
	return pread(fd, to, n_bytes, at) == (ssize_t)n_bytes;
}

static bool read_slots(int fd, struct counts *counts)
{
	struct emit_slot slot;

	for (uint32_t i = 0; i <= counts->head.n_taken && i < EMIT_FILE_SLOTS; i++) {
		if (!read_at(fd, (off_t)(EMIT_FILE_PAGE + i * sizeof(slot)), &slot, sizeof(slot)))
			return false;
		for (uint32_t event = 0; event < EMIT_FILE_CLASSES; event++)
			counts->n[event] += slot.n[event];
	}
	return true;
}

/* Not by mapping it: a program that cuts its file short must not kill us. */
static bool read_counts(int dir, const char *name, struct counts *counts)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct emit_file_head *head = &counts->head;
	bool is_read;

	if (fd < 0)
		return false;
	memset(counts, 0, sizeof(*counts));
	is_read = read_at(fd, 0, head, sizeof(*head)) &&
	          !memcmp(head->magic, EMIT_FILE_MAGIC, sizeof(head->magic)) &&
	          head->version == EMIT_FILE_VERSION && read_slots(fd, counts);
	head->session[sizeof(head->session) - 1] = '\0';
	head->program[sizeof(head->program) - 1] = '\0';
	head->home[sizeof(head->home) - 1] = '\0';
	close(fd);
	return is_read;
}

/* One that somebody else has made, or a link, leads to files that are no counts: -1. */
static int open_dir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char own_path[64];
	struct stat status;

	if (fd < 0)
		return -1;
	if (fstat(fd, &status) == 0 && !(status.st_mode & 077)) {
		snprintf(own_path, sizeof(own_path), EMIT_FILE_ROOT "/" EMIT_FILE_DIR,
		         (unsigned int)status.st_uid);
		if (strcmp(path, own_path) == 0)
			return fd;
	}
	close(fd);
	return -1;
}

static int is_number(const struct dirent *entry)
{
	return entry->d_name[0] >= '0' && entry->d_name[0] <= '9';
}

typedef int take_counts(void *context, int dir, const char *name);

static int for_each_in(const char *path, take_counts *take, void *context)
{
	int dir = open_dir(path), n, code = 0;
	struct dirent **entries;

	n = dir < 0 ? -1 : scandirat(dir, ".", &entries, is_number, alphasort);
	for (int i = 0; i < n; i++) {
		if (code == 0)
			code = take(context, dir, entries[i]->d_name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	descriptor_close(dir);
	return code;
}

/* Calls `take` for the file of each process; its failure ends that. */
static int for_each(take_counts *take, void *context)
{
	char own[64];
	glob_t found;
	int code = 0;

	snprintf(own, sizeof(own), EMIT_FILE_ROOT "/" EMIT_FILE_DIR, (unsigned int)geteuid());
	if (geteuid() != 0)
		return for_each_in(own, take, context);
	if (glob(EMIT_FILE_ROOT "/flextrace.*", 0, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc && code == 0; i++)
		code = for_each_in(found.gl_pathv[i], take, context);
	globfree(&found);
	return code;
}

/* -- the file of the recording ----------------------------------------------------------------- */

struct note {
	FILE *file;
	const struct emit_wish *wish;
	const char *when, *home;
};

/* Whether the recording is this process's own. */
static bool is_own(const struct note *note, const struct emit_file_head *head)
{
	return (head->session[0] && strcmp(head->session, note->wish->session) == 0) ||
	       (note->wish->pid && head->pid == note->wish->pid);
}

/* Whether a process that no other recording started registers with this user's session daemon; all
 * do with root's. */
static bool is_here(const struct note *note, const struct emit_file_head *head)
{
	if (head->session[0] && strcmp(head->session, note->wish->session) != 0)
		return false;
	return geteuid() == 0 || (note->home && strcmp(head->home, note->home) == 0);
}

/* Text of a program's own choice, quoted. */
static void write_text(FILE *file, const char *text)
{
	fputs(",\"", file);
	for (; *text; text++)
		fprintf(file, *text == '"' ? "\"\"" : "%c", *text);
	fputc('"', file);
}

static int write_line(void *context, int dir, const char *name)
{
	const struct note *note = context;
	struct counts counts;
	const struct emit_file_head *head = &counts.head;

	if (!read_counts(dir, name, &counts))
		return 0;
	fprintf(note->file, "%s,%" PRIu32 ",%" PRIu64 ",%d,%d", note->when, head->pid,
	        head->start_ns, is_own(note, head), is_here(note, head));
	write_text(note->file, head->program);
	fprintf(note->file, ",%" PRIu32 ",%u", head->wait_ms,
	        process_count((pid_t)head->pid, "task"));
	for (size_t i = 0; i < N_EVENTS; i++)
		fprintf(note->file, ",%" PRIu64 ",%" PRIu64, counts.n[i], head->late[i]);
	fprintf(note->file, ",%" PRIu64 "\n", head->n_unrecorded);
	return 0;
}

static void write_beginning(FILE *file, bool wants_all)
{
	fputs("when,pid,start_ns,own,here,program,wait_ms,threads", file);
	for (size_t i = 0; i < N_EVENTS; i++)
		fprintf(file, ",%s," EMITTED_LATE "%s", event_names[i], event_names[i]);
	fputs("," EMITTED_UNRECORDED "\n", file);
	if (wants_all)
		fputs(EMITTED_ALL "\n", file);
}

static void warn_failed(const char *path)
{
	cli_warn("Cannot note what programs emitted: path=%s, reason=%s", path, strerror(errno));
}

void emit_note(const char *path, const struct emit_wish *wish, enum emitted_time time)
{
	const char *home = getenv("LTTNG_HOME");
	struct note note = {.wish = wish,
	                    .when = emitted_time_name(time),
	                    .home = home ? home : getenv("HOME")};
	int fd, failed;

	if (time == EMITTED_STARTING)
		unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	note.file = fd < 0 ? NULL : fdopen(fd, "a");
	if (!note.file) {
		warn_failed(path);
		return;
	}
	if (time == EMITTED_STARTING)
		write_beginning(note.file, wish->wants_all);
	for_each(write_line, &note);
	if (wish->n_discarded)
		fprintf(note.file, EMITTED_LTTNG ",%" PRIu64 "\n", *wish->n_discarded);
	fprintf(note.file, "%s\n", note.when); /* also where nobody was */
	failed = ferror(note.file);
	if (fclose(note.file) != 0 || failed)
		warn_failed(path);
}

void emit_note_copy(const char *from, const char *to)
{
	if (!path_copy(from, to))
		warn_failed(to);
}

/* Whether any process that we see is in a pid namespace. */
static bool has_namespace(uint64_t inode)
{
	bool is_there = false;
	glob_t found;

	if (glob("/proc/[0-9]*/ns/pid", 0, NULL, &found) != 0)
		return true;
	for (size_t i = 0; i < found.gl_pathc && !is_there; i++)
		is_there = process_inode_of(found.gl_pathv[i]) == inode;
	globfree(&found);
	return is_there;
}

/* Of another pid namespace only who is in the first one sees whether its processes live. */
static bool has_ended(const struct emit_file_head *head)
{
	uint64_t own = process_inode_of("/proc/self/ns/pid");

	if (!head->pid_namespace || head->pid_namespace == own)
		return kill((pid_t)head->pid, 0) != 0 && errno == ESRCH;
	return own == FIRST_PID_NAMESPACE && !has_namespace(head->pid_namespace);
}

/* One that cannot be read may be about to be filled in, by the process that its name tells. */
static int remove_stale(void *context, int dir, const char *name)
{
	const struct emit_file_head named = {.pid = (uint32_t)strtoul(name, NULL, 10)};
	struct counts counts;

	(void)context;
	if (has_ended(read_counts(dir, name, &counts) ? &counts.head : &named))
		unlinkat(dir, name, 0);
	return 0;
}

void emit_forget(void)
{
	for_each(remove_stale, NULL);
}
