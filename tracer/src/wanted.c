/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "wanted.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "kernel_file.h"

#define N_WORDS     5
#define START_FIELD 20 /* of /proc/PID/stat, behind the name in parentheses and the state */

static void copy(char *to, size_t size, const char *from)
{
	size_t n = from ? strlen(from) : 0;

	if (n >= size)
		n = 0;
	if (n)
		memcpy(to, from, n);
	to[n] = '\0';
}

void flextrace_i_wanted_init(struct wanted *ret_wanted, char *(*get)(const char *name))
{
	const char *home = get("LTTNG_HOME");

	copy(ret_wanted->session, sizeof(ret_wanted->session), get("FLEXTRACE_SESSION"));
	copy(ret_wanted->home, sizeof(ret_wanted->home), home ? home : get("HOME"));
}

/* -- the daemon -- */

static uint64_t parse(const char *text)
{
	uint64_t n = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		n = n * 10 + (uint64_t)(*text - '0');
	return n;
}

/* In clock ticks since boot; 0 = there is no such process. */
static uint64_t start_ticks(uint64_t pid)
{
	char path[64] = "/proc/", text[1024], digits[24];
	size_t n = sizeof(digits) - 1;
	const char *field;
	int i;

	digits[n] = '\0';
	do
		digits[--n] = (char)('0' + pid % 10);
	while (pid /= 10);
	strcat(strcat(path, digits + n), "/stat");
	field = kernel_file_read(path, text, sizeof(text)) ? strrchr(text, ')') : NULL;
	for (i = 0; i < START_FIELD && field; i++)
		field = strchr(field + 1, ' ');
	return field ? parse(field + 1) : 0;
}

static int is_alive(const char *const words[N_WORDS])
{
	uint64_t pid = parse(words[0]), ns = parse(words[2]);

	if (!pid || !ns || kernel_file_inode("/proc/self/ns/pid") != ns)
		return 1;
	return start_ticks(pid) == parse(words[1]);
}

/* -- lines -- */

/* Ends each word of a line; 0: these are too few. */
static int split(char *line, const char *words[N_WORDS])
{
	int i;

	for (i = 0; i < N_WORDS; i++) {
		words[i] = line;
		line = strchr(line, ' ');
		if (!line)
			return i == N_WORDS - 1;
		*line++ = '\0';
	}
	return 0;
}

static int wants(const struct wanted *wanted, const char *const words[N_WORDS])
{
	if (!strcmp(words[3], WANTED_ALL))
		return 1;
	return !strcmp(words[3], WANTED_OWN) && wanted->session[0] &&
	       !strcmp(words[4], wanted->session);
}

int flextrace_i_is_wanted_by(const struct wanted *wanted, char *text)
{
	char *line = text, *end;

	for (; (end = strchr(line, '\n')); line = end + 1) {
		const char *words[N_WORDS];

		*end = '\0';
		if (split(line, words) && wants(wanted, words) && is_alive(words))
			return 1;
	}
	return 0;
}

static int is_wanted_in(const struct wanted *wanted, const char *run_dir)
{
	char path[sizeof(wanted->home) + 64], text[WANTED_BYTES];

	strcat(strcpy(path, run_dir), "/" WANTED_FILE);
	return kernel_file_read(path, text, sizeof(text)) && flextrace_i_is_wanted_by(wanted, text);
}

int flextrace_i_is_wanted(const struct wanted *wanted)
{
	char own[sizeof(wanted->home) + 16];
	int saved_errno = errno;
	int is_wanted;

	errno = 0;
	is_wanted = is_wanted_in(wanted, WANTED_RUN_DIR);
	if (!is_wanted && wanted->home[0] && geteuid() != 0) {
		strcat(strcpy(own, wanted->home), "/.lttng");
		is_wanted = is_wanted_in(wanted, own);
	}
	/* Without a descriptor nobody can know. */
	if (!is_wanted && (errno == EMFILE || errno == ENFILE))
		is_wanted = wanted->session[0] != '\0';
	errno = saved_errno;
	return is_wanted;
}
