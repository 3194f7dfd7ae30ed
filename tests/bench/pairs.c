/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs: runs two commands in turn and prints the ratio of their CPU times, wall times and peak
 * memory.
 *
 *   pairs -n 7 [--cpu-bar X] [--wall-bar X] [--empty DIR] LABEL -- COMMAND_A ... -- COMMAND_B ...
 *
 * Output of the commands is discarded. A command that fails ends the bench. With --empty, files in
 * DIR are removed before each command, outside what is measured: what one run wrote is no work of
 * the next one.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ratio.h"

struct figures {
	double cpu_s, wall_s, rss_mib;
};

static double seconds(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void exec_quietly(char **argv)
{
	int null = open("/dev/null", O_RDWR);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	execvp(argv[0], argv);
	perror(argv[0]);
	_exit(127);
}

static void remove_files(const char *directory)
{
	DIR *files = opendir(directory);
	struct dirent *file;

	while (files && (file = readdir(files)))
		unlinkat(dirfd(files), file->d_name, 0); /* not "." and ".." */
	if (files)
		closedir(files);
}

static int measure(const char *empty, char **argv, struct figures *figures)
{
	struct rusage usage;
	double start_s;
	int status;
	pid_t pid;

	if (empty)
		remove_files(empty);
	start_s = now_s();
	pid = fork();
	if (pid == 0)
		exec_quietly(argv);
	if (pid < 0 || wait4(pid, &status, 0, &usage) < 0 || !WIFEXITED(status) ||
	    WEXITSTATUS(status)) {
		fprintf(stderr, "pairs: %s failed\n", argv[0]);
		return -1;
	}
	figures->wall_s = now_s() - start_s;
	figures->cpu_s = seconds(&usage.ru_utime) + seconds(&usage.ru_stime);
	figures->rss_mib = (double)usage.ru_maxrss / 1024;
	return 0;
}

/* Ends the words of a command at "--" and returns the place behind it. */
static int split(int argc, char **argv, int from)
{
	for (int i = from; i < argc; i++) {
		if (!strcmp(argv[i], "--")) {
			argv[i] = NULL;
			return i + 1;
		}
	}
	return argc;
}

struct pairs {
	struct ratio cpu, wall, rss;
};

static int run(struct pairs *pairs, const char *empty, char **a, char **b, int n)
{
	struct figures fa, fb;
	if (measure(empty, a, &fa) || measure(empty, b, &fb)) /* warm the caches */
		return -1;
	for (int i = 0; i < n; i++) {
		if (measure(empty, a, &fa) || measure(empty, b, &fb))
			return -1;
		ratio_add(&pairs->cpu, fa.cpu_s, fb.cpu_s);
		ratio_add(&pairs->wall, fa.wall_s, fb.wall_s);
		ratio_add(&pairs->rss, fa.rss_mib, fb.rss_mib);
	}
	return 0;
}

static void print(const struct pairs *pairs, const char *label, double cpu_bar, double wall_bar)
{
	char line[128];
	snprintf(line, sizeof(line), "%s: CPU", label);
	ratio_print(&pairs->cpu, line, "s", cpu_bar);
	snprintf(line, sizeof(line), "%s: wall", label);
	ratio_print(&pairs->wall, line, "s", wall_bar);
	snprintf(line, sizeof(line), "%s: peak memory", label);
	ratio_print(&pairs->rss, line, "MiB", 0);
}

int main(int argc, char **argv)
{
	static struct pairs pairs;
	double cpu_bar = 0, wall_bar = 0;
	const char *empty = NULL;
	int n = 7, i = 1;
	for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
		if (!strcmp(argv[i], "-n"))
			n = atoi(argv[i + 1]);
		else if (!strcmp(argv[i], "--cpu-bar"))
			cpu_bar = atof(argv[i + 1]);
		else if (!strcmp(argv[i], "--wall-bar"))
			wall_bar = atof(argv[i + 1]);
		else if (!strcmp(argv[i], "--empty"))
			empty = argv[i + 1];
		else
			break;
	}
	const char *label = i < argc ? argv[i] : "";
	int a = i + 2;
	int b = a < argc && !strcmp(argv[i + 1], "--") ? split(argc, argv, a) : argc;
	if (b >= argc) {
		fputs("usage: pairs [-n N] [--cpu-bar X] [--wall-bar X] [--empty DIR] LABEL -- "
		      "A... "
		      "-- B...\n",
		      stderr);
		return 2;
	}
	if (run(&pairs, empty, argv + a, argv + b, n))
		return 1;
	print(&pairs, label, cpu_bar, wall_bar);
	return 0;
}
