/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import: reads a file of events, takes all records and throws them away.
 *
 *   import FILE
 *
 * Prints what reading costs and what the importer held at most, besides what the program held
 * before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "formats/all/each_format.h"

static double cpu_s(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static double peak_mib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

int main(int argc, char **argv)
{
	const struct import_options options = {.paths = (const char *const *)argv + 1,
	                                       .n_paths = 1};
	const double before_s = cpu_s(), before_mib = peak_mib();
	struct flextrace_error error = {0};
	uint64_t n_records = 0;
	struct import *import;
	struct event event;
	struct stat status;
	uint32_t stream;
	int code;

	if (argc != 2 || stat(argv[1], &status) < 0 || import_open(&options, &import, &error) < 0) {
		fprintf(stderr, "import: cannot read %s: %s\n", argc == 2 ? argv[1] : "FILE",
		        error.message);
		return 1;
	}
	while ((code = import_next(import, &stream, &event)) > 0)
		n_records++;
	import_close(import);
	printf("importer: %.0f MB/s, %llu records, memory %.1f MiB  bar 32 %s\n",
	       (double)status.st_size / 1e6 / (cpu_s() - before_s), (unsigned long long)n_records,
	       peak_mib() - before_mib, peak_mib() - before_mib <= 32 ? "ok" : "MISSED");
	return code < 0;
}
