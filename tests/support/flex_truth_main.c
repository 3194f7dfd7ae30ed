/* SPDX-License-Identifier: Apache-2.0 */
/* flex-truth SEED OUT.json OUT.truth: a Flex trace and what really was, see flex_truth.h. */
#include <stdio.h>
#include <stdlib.h>

#include "flex_truth.h"

static bool write_file(const struct flex_truth *truth, const char *path, bool is_truth)
{
	FILE *file = fopen(path, "w");
	bool is_good;

	if (!file)
		return false;
	is_good = is_truth ? flex_truth_write_truth(truth, file)
	                   : flex_truth_write_json(truth, -1, file);
	return !fclose(file) && is_good;
}

int main(int argc, char **argv)
{
	struct flex_scene scene;
	struct flex_truth truth;
	bool is_good;

	if (argc != 4) {
		fputs("usage: flex-truth SEED OUT.json OUT.truth\n", stderr);
		return 1;
	}
	scene = flex_scene_of(strtoull(argv[1], NULL, 0));
	is_good = flex_truth_init(&truth, &scene) && write_file(&truth, argv[2], false) &&
	          write_file(&truth, argv[3], true);
	flex_truth_release(&truth);
	if (!is_good)
		perror("flex-truth");
	return is_good ? 0 : 4;
}
