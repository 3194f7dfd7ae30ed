// SPDX-License-Identifier: Apache-2.0
#include "work_class.h"

#include <string.h>

#include "model/model.h"

const char *work_class_name(uint8_t class)
{
	static const char *const names[WORK_CLASS_COUNT] = {"compute", "communication", "memory",
	                                                    "prepare"};

	return names[class];
}

enum work_class work_class_of_kind(uint8_t row_kind)
{
	static const uint8_t classes[ROW_STATE] = {
		[ROW_DMA_IN] = WORK_MEMORY,      [ROW_PREP] = WORK_PREPARE,
		[ROW_EXEC] = WORK_COMPUTE,       [ROW_DMA_OUT] = WORK_MEMORY,
		[ROW_MEMCPY_HTOD] = WORK_MEMORY, [ROW_MEMCPY_DTOH] = WORK_MEMORY,
		[ROW_MEMCPY_DTOD] = WORK_MEMORY, [ROW_MEMCPY_PTOP] = WORK_COMMUNICATION,
		[ROW_MEMSET] = WORK_MEMORY,      [ROW_RELEASE] = WORK_MEMORY,
	};

	return (enum work_class)classes[row_kind];
}

bool work_names_collective(const char *name)
{
	static const char *const begins[] = {
		"nccl",           "rccl",       "hccl",        "all-reduce",        "all-gather",
		"reduce-scatter", "all-to-all", "collective-", "ragged-all-to-all",
	};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		if (*name == *begins[i] && strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	}
	return false;
}

bool call_waits(uint8_t kind, const char *name)
{
	return kind == FLEXTRACE_RUNTIME_SCHEDULE_WAIT || kind == FLEXTRACE_RUNTIME_WAIT ||
	       strstr(name, "Synchronize") || strncmp(name, "synchronize", 11) == 0 ||
	       strstr(name, "block_until_ready");
}
