/* SPDX-License-Identifier: Apache-2.0 */
/* A stream file and its index, as they are looked at before babeltrace2 opens them. */
#include "fuzz.h"

#include <stdio.h>
#include <sys/stat.h>

#include "formats/ctf/ctf_overwritten.h"
#include "formats/ctf/ctf_repair.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct ctf_fronts fronts = {0};
	struct ctf_dir dir;
	char index[512];
	size_t n_part;
	const uint8_t *part = fuzz_part(data, n, 1, &n_part);

	snprintf(index, sizeof(index), "%s/index", fuzz_dir());
	mkdir(index, 0700);
	if (part)
		fuzz_file_in_dir("index/stream.idx", part, n_part);
	else
		remove(fuzz_file_in_dir("index/stream.idx", NULL, 0));
	part = fuzz_part(data, n, 0, &n_part);
	fuzz_file_in_dir("stream", part, n_part);
	if (ctf_dir_scan(fuzz_dir(), &dir, NULL) < 0)
		fuzz_fail("a directory that is there cannot be read");
	for (uint32_t i = 0; i < dir.n_files; i++)
		if (dir.files[i].whole_bytes > dir.files[i].size_bytes)
			fuzz_fail("more whole packets than bytes");
	ctf_count_fronts(&dir, 1, &fronts);
	ctf_dir_release(&dir);
	return 0;
}
