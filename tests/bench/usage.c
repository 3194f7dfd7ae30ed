/* SPDX-License-Identifier: Apache-2.0 */
#include "usage.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

double usage_cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double usage_kernel_s(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
}

double usage_resident_bytes(void)
{
	unsigned long pages = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%lu %lu", &pages, &resident) != 2)
		resident = 0;
	if (file)
		fclose(file);
	return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

double usage_peak_bytes(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss * 1024;
}

int usage_measure(void (*measure)(const void *input, void *result), const void *input, void *result,
                  size_t result_bytes)
{
	int ends[2], status;
	pid_t pid;

	if (pipe(ends) < 0 || (pid = fork()) < 0)
		return -1;
	if (pid == 0) {
		measure(input, result);
		_exit(write(ends[1], result, result_bytes) == (ssize_t)result_bytes ? 0 : 1);
	}
	close(ends[1]);
	status = read(ends[0], result, result_bytes) == (ssize_t)result_bytes ? 0 : -1;
	close(ends[0]);
	return waitpid(pid, NULL, 0) < 0 ? -1 : status;
}
