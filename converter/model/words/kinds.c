// SPDX-License-Identifier: Apache-2.0
#include "kinds.h"

#define RUNTIME_CATEGORY "privateuse1_runtime"

#define ROW_KIND(label, category)                                                \
	{                                                                        \
		label, category, sizeof(label) - 1, sizeof(category) - 1, false, \
	}
#define USUAL_KIND(label, category)                                             \
	{                                                                       \
		label, category, sizeof(label) - 1, sizeof(category) - 1, true, \
	}

static const struct row_kind host_kinds[] = {
	[FLEXTRACE_RUNTIME_USER] = USUAL_KIND("User", "user_annotation"),
#define KIND(id, value, guide, flex) [FLEXTRACE_RUNTIME_##id] = ROW_KIND(guide, RUNTIME_CATEGORY),
	FLEXTRACE_RUNTIME_KINDS(KIND)
#undef KIND
#define KIND(id, value, name) [FLEXTRACE_RUNTIME_##id] = ROW_KIND(name, RUNTIME_CATEGORY),
		FLEXTRACE_CALL_KINDS(KIND)
#undef KIND
			[FLEXTRACE_RUNTIME_OP] = USUAL_KIND("Op", "cpu_op"),
	[FLEXTRACE_RUNTIME_CALL] = USUAL_KIND("Runtime", RUNTIME_CATEGORY),
	[FLEXTRACE_RUNTIME_STEP] = ROW_KIND("Step", "user_annotation"),
	[HOST_STEP] = ROW_KIND("Step", "user_annotation"),
	[HOST_WINDOW] = ROW_KIND("Window", "user_annotation"),
	[HOST_COLLECTIVE] = USUAL_KIND("Collective", "collective_comm"),
	[HOST_ASYNC] = ROW_KIND("Async", "user_annotation"),
};

static const struct row_kind device_kinds[DEVICE_ROW_KIND_COUNT] = {
	[ROW_DMA_IN] = ROW_KIND("DmaI", "device_dma"),
	[ROW_PREP] = USUAL_KIND("Prep", "device_prep"),
	[ROW_EXEC] = USUAL_KIND("Exec", "kernel"),
	[ROW_DMA_OUT] = ROW_KIND("DmaO", "device_dma"),
	[ROW_MEMCPY_HTOD] = ROW_KIND("Memcpy HtoD", "gpu_memcpy"),
	[ROW_MEMCPY_DTOH] = ROW_KIND("Memcpy DtoH", "gpu_memcpy"),
	[ROW_MEMCPY_DTOD] = ROW_KIND("Memcpy DtoD", "gpu_memcpy"),
	[ROW_MEMCPY_PTOP] = ROW_KIND("Memcpy PtoP", "gpu_memcpy"),
	[ROW_MEMSET] = USUAL_KIND("Memset", "gpu_memset"),
	[ROW_RELEASE] = USUAL_KIND("Release", "device_release"),
	[ROW_STATE] = USUAL_KIND("State", "device_state"),
	[ROW_FIRMWARE] = ROW_KIND("FW", "firmware"),
	[ROW_KERNEL] = ROW_KIND("Kernel", "firmware"),
	[ROW_ZONE] = USUAL_KIND("Zone", "firmware"),
};

const struct row_kind *kind_of_host(uint8_t kind)
{
	static const struct row_kind unknown = ROW_KIND("Unknown", RUNTIME_CATEGORY);

	if (kind < sizeof(host_kinds) / sizeof(host_kinds[0]) && host_kinds[kind].n_label)
		return &host_kinds[kind];
	return &unknown;
}

const struct row_kind *kind_of_device(uint8_t kind)
{
	return &device_kinds[kind];
}

const char *host_label(uint8_t kind)
{
	return kind_of_host(kind)->label;
}

const char *device_label(uint8_t kind)
{
	return kind_of_device(kind)->label;
}

const char *time_status_name(uint8_t status)
{
	static const char *const names[] = {
		[TIME_CERTIFIED] = "certified", [TIME_ASSUMED] = "assumed",
		[TIME_OUTLIER] = "outlier",     [TIME_UNMATCHED] = "unmatched",
		[TIME_GIVEN] = "given",
	};

	return status < sizeof(names) / sizeof(names[0]) ? names[status] : "unknown";
}

const char *memory_op_name(uint8_t op)
{
	static const char *const names[] = {
		[FLEXTRACE_MEMORY_ALLOC] = "alloc",
		[FLEXTRACE_MEMORY_FREE] = "free",
		[FLEXTRACE_MEMORY_RESIZE] = "resize",
	};

	return op < sizeof(names) / sizeof(names[0]) ? names[op] : "unknown";
}

const char *instant_kind_name(uint8_t record_class)
{
	switch (record_class) {
	case RECORD_ANNOTATION:
		return "annotation";
	case RECORD_MARKER_BATCH:
		return "mark";
	default:
		return "instant";
	}
}

uint8_t word_find(const char *(*name_of)(uint8_t), uint8_t n, const struct trace_text *text)
{
	uint8_t value = 0;

	while (value < n && !trace_text_is(text, name_of(value)))
		value++;
	return value;
}
