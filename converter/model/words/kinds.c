// SPDX-License-Identifier: Apache-2.0
#include "kinds.h"

#define ROW_KIND(label, category)                                                \
	{                                                                        \
		label, category, sizeof(label) - 1, sizeof(category) - 1, false, \
	}
#define USUAL_KIND(label, category)                                             \
	{                                                                       \
		label, category, sizeof(label) - 1, sizeof(category) - 1, true, \
	}

/* -- dialects ---------------------------------------------------------------------------------- */

static const char *const dialect_names[DIALECT_COUNT] = {
	[DIALECT_AIU] = "aiu",
	[DIALECT_NEUTRAL] = "neutral",
	[DIALECT_CUDA] = "cuda",
	[DIALECT_TT_METAL] = "tt-metal",
};

enum dialect dialect_find(const char *name)
{
	enum dialect dialect = 0;

	if (!*name)
		return DIALECT_AIU;
	if (strcmp(name, "kineto") == 0)
		return DIALECT_CUDA;
	while (dialect < DIALECT_COUNT && strcmp(name, dialect_names[dialect]) != 0)
		dialect++;
	return dialect;
}

const char *dialect_name(uint8_t dialect)
{
	return dialect_names[dialect];
}

/* -- host -------------------------------------------------------------------------------------- */

/* Where a kind stands: those that derive makes behind those of tracers. */
#define AT(host) (FLEXTRACE_RUNTIME_KIND_COUNT + (host)-HOST_STEP)
#define N_HOST   AT(HOST_FLOW + 1)

#define AIU_CATEGORY     "privateuse1_runtime"
#define NEUTRAL_CATEGORY "runtime"
#define CUDA_CATEGORY    "cuda_runtime"

/* clang-format off */
/* What tools call the calls of any runtime: X(kind, AIU, CUDA, tt-metal). */
#define CALLS(X)                                                                                  \
	X(INIT, "aiuInitGraph", "cuInit", "CreateDevice")                                         \
	X(COMPILE, "aiuCompileGraph", "nvrtcCompileProgram", "CompileProgram")                    \
	X(ALLOC, "aiuMalloc", "cudaMalloc", "CreateBuffer")                                       \
	X(FREE, "free", "cudaFree", "DeallocateBuffer")                                           \
	X(COPY_IN, "aiuDataTransferHtoD", "cuMemcpyHtoDAsync", "EnqueueWriteBuffer")              \
	X(COPY_OUT, "aiuDataTransferDtoH", "cuMemcpyDtoHAsync", "EnqueueReadBuffer")              \
	X(COPY, "copy", "cudaMemcpyAsync", "copy")                                                \
	X(PREPARE, "aiuPrepareDMAs", "cudaGraphInstantiate", "ConfigureDeviceWithProgram")        \
	X(LAUNCH, "aiuLaunchControlBlocks", "cudaLaunchKernel", "EnqueueProgram")                 \
	X(EXECUTE, "aiuGraphExecution", "cudaGraphLaunch", "LaunchProgram")                       \
	X(WAIT, "aiuScheduleWait", "cudaDeviceSynchronize", "Finish")                             \
	X(CALLBACK, "callback", "cudaLaunchHostFunc", "callback")                                 \
	X(COLLECTIVE, "collective", "collective", "collective")
#define AIU_CALL(id, aiu, cuda, tt)  [FLEXTRACE_RUNTIME_##id] = ROW_KIND(aiu, AIU_CATEGORY),
#define CUDA_CALL(id, aiu, cuda, tt) [FLEXTRACE_RUNTIME_##id] = ROW_KIND(cuda, CUDA_CATEGORY),
#define TT_CALL(id, aiu, cuda, tt)   [FLEXTRACE_RUNTIME_##id] = ROW_KIND(tt, NEUTRAL_CATEGORY),
#define AIU_KIND(id, value, guide, flex, means)                                                   \
	[FLEXTRACE_RUNTIME_##id] = ROW_KIND(guide, AIU_CATEGORY),
#define NEUTRAL_CALL(id, value, name)                                                             \
	[FLEXTRACE_RUNTIME_##id] = ROW_KIND(name, NEUTRAL_CATEGORY),

/* What is called the same in all. */
#define COMMON(call, category)                                                                    \
	[FLEXTRACE_RUNTIME_USER] = USUAL_KIND("User", "user_annotation"),                         \
	[FLEXTRACE_RUNTIME_OP] = USUAL_KIND("Op", "cpu_op"),                                      \
	[FLEXTRACE_RUNTIME_CALL] = USUAL_KIND(call, category),                                    \
	[FLEXTRACE_RUNTIME_STEP] = ROW_KIND("Step", "user_annotation"),                           \
	[AT(HOST_STEP)] = ROW_KIND("Step", "user_annotation"),                                    \
	[AT(HOST_WINDOW)] = ROW_KIND("Window", "user_annotation"),                                \
	[AT(HOST_COLLECTIVE)] = USUAL_KIND("Collective", "collective_comm"),                      \
	[AT(HOST_ASYNC)] = ROW_KIND("Async", "user_annotation"),                                  \
	[AT(HOST_FLOW)] = ROW_KIND("Flow", "flow")

static const struct row_kind host_kinds[DIALECT_COUNT][N_HOST] = {
	[DIALECT_AIU] = {FLEXTRACE_RUNTIME_KINDS(AIU_KIND) CALLS(AIU_CALL)
			 COMMON("Runtime", AIU_CATEGORY)},
	[DIALECT_NEUTRAL] = {FLEXTRACE_CALL_KINDS(NEUTRAL_CALL) COMMON("call", NEUTRAL_CATEGORY)},
	[DIALECT_CUDA] = {CALLS(CUDA_CALL) COMMON("call", CUDA_CATEGORY)},
	[DIALECT_TT_METAL] = {CALLS(TT_CALL) COMMON("call", NEUTRAL_CATEGORY)},
};

/* Whose name only a newer version knows. */
#define UNKNOWN(n) ROW_KIND("Unknown " #n, NEUTRAL_CATEGORY),
#define TEN(n)                                                                                    \
	UNKNOWN(n##0) UNKNOWN(n##1) UNKNOWN(n##2) UNKNOWN(n##3) UNKNOWN(n##4)                     \
	UNKNOWN(n##5) UNKNOWN(n##6) UNKNOWN(n##7) UNKNOWN(n##8) UNKNOWN(n##9)
static const struct row_kind unknown_kinds[] = {
	UNKNOWN(0) UNKNOWN(1) UNKNOWN(2) UNKNOWN(3) UNKNOWN(4) UNKNOWN(5) UNKNOWN(6) UNKNOWN(7)
	UNKNOWN(8) UNKNOWN(9) TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9)
	TEN(10) TEN(11) TEN(12)};
_Static_assert(sizeof(unknown_kinds) > FLEXTRACE_KIND_LIMIT * sizeof(*unknown_kinds), "all");
/* clang-format on */

uint8_t kind_meaning(uint8_t kind)
{
	static const uint8_t meanings[] = {
#define MEANING(id, value, guide, flex, means) [FLEXTRACE_RUNTIME_##id] = FLEXTRACE_RUNTIME_##means,
		FLEXTRACE_RUNTIME_KINDS(MEANING)
#undef MEANING
	};

	return kind < sizeof(meanings) && meanings[kind] ? meanings[kind] : kind;
}

const struct row_kind *kind_of_host(uint8_t dialect, uint8_t kind)
{
	const struct row_kind *kinds = host_kinds[dialect];

	if (dialect != DIALECT_AIU)
		kind = kind_meaning(kind);
	if (kind < FLEXTRACE_RUNTIME_KIND_COUNT)
		return &kinds[kind];
	if (kind >= HOST_STEP && kind <= HOST_FLOW)
		return &kinds[AT(kind)];
	return &unknown_kinds[kind < FLEXTRACE_KIND_LIMIT ? kind : FLEXTRACE_KIND_LIMIT];
}

bool kind_is_call(uint8_t kind)
{
	return strcmp(kind_of_host(DIALECT_NEUTRAL, kind)->category, NEUTRAL_CATEGORY) == 0;
}

/* -- devices ----------------------------------------------------------------------------------- */

#define ZONES                                        \
	[ROW_FIRMWARE] = ROW_KIND("FW", "firmware"), \
	[ROW_KERNEL] = ROW_KIND("Kernel", "firmware"), [ROW_ZONE] = USUAL_KIND("Zone", "firmware")
#define COPIES(in, out, within, peer)                       \
	[ROW_MEMCPY_HTOD] = ROW_KIND(in, "gpu_memcpy"),     \
	[ROW_MEMCPY_DTOH] = ROW_KIND(out, "gpu_memcpy"),    \
	[ROW_MEMCPY_DTOD] = ROW_KIND(within, "gpu_memcpy"), \
	[ROW_MEMCPY_PTOP] = ROW_KIND(peer, "gpu_memcpy")
#define PHASES(in, prep, exec, out)                                                              \
	[ROW_DMA_IN] = ROW_KIND(in, "device_dma"), [ROW_PREP] = USUAL_KIND(prep, "device_prep"), \
	[ROW_EXEC] = USUAL_KIND(exec, "kernel"), [ROW_DMA_OUT] = ROW_KIND(out, "device_dma")
#define OTHERS(set, release, state)                            \
	[ROW_MEMSET] = USUAL_KIND(set, "gpu_memset"),          \
	[ROW_RELEASE] = USUAL_KIND(release, "device_release"), \
	[ROW_STATE] = USUAL_KIND(state, "device_state"),       \
	[ROW_UNKNOWN] = USUAL_KIND("Unknown", "device_unknown")

/* clang-format off */
#define NEUTRAL_WORK                                                                              \
	{PHASES("dma_in", "prepare", "compute", "dma_out"),                                       \
	 COPIES("copy_in", "copy_out", "copy", "copy_peer"), OTHERS("set", "release", "state"),   \
	 ZONES}
#define KINETO_COPIES COPIES("Memcpy HtoD", "Memcpy DtoH", "Memcpy DtoD", "Memcpy PtoP")

static const struct row_kind device_kinds[DIALECT_COUNT][DEVICE_ROW_KIND_COUNT] = {
	[DIALECT_AIU] = {PHASES("DmaI", "Prep", "Exec", "DmaO"), KINETO_COPIES,
			 OTHERS("Memset", "Release", "State"), ZONES},
	[DIALECT_NEUTRAL] = NEUTRAL_WORK,
	[DIALECT_CUDA] = {PHASES("dma_in", "prepare", "kernel", "dma_out"), KINETO_COPIES,
			  OTHERS("Memset", "release", "state"), ZONES},
	[DIALECT_TT_METAL] = NEUTRAL_WORK,
};
/* clang-format on */

const struct row_kind *kind_of_device(uint8_t dialect, uint8_t kind)
{
	return &device_kinds[dialect][kind];
}

/* -- both ways --------------------------------------------------------------------------------- */

const char *kind_host_label(uint32_t key)
{
	return kind_of_host((uint8_t)(key >> 8), (uint8_t)key)->label;
}

const char *kind_device_label(uint32_t key)
{
	return kind_of_device((uint8_t)(key >> 8), (uint8_t)key)->label;
}

/* The first of a dialect's kinds that is it; `n_kinds`: none. */
static uint8_t find(const struct row_kind *kinds, uint8_t n_kinds, const char *text, size_t n,
                    bool is_category)
{
	for (uint8_t i = 0; i < n_kinds; i++) {
		const struct row_kind *kind = &kinds[i];

		if (is_category ? kind->is_usual && kind->n_category == n &&
		                          memcmp(kind->category, text, n) == 0
		                : n && kind->n_label == n && memcmp(kind->label, text, n) == 0)
			return i;
	}
	return n_kinds;
}

/* `kinds` of all dialects, of `n_kinds` each, stand one behind the other. */
static uint32_t find_any(const struct row_kind *kinds, uint8_t n_kinds, const char *text, size_t n,
                         bool is_category)
{
	uint32_t found = KIND_NONE;

	for (uint8_t i = 0; i < DIALECT_COUNT; i++) {
		uint8_t kind = find(kinds + i * n_kinds, n_kinds, text, n, is_category);

		if (kind < n_kinds)
			found = KIND_KEY(found == KIND_NONE ? i : DIALECT_COUNT, kind);
	}
	return found;
}

uint32_t kind_find_host(const char *text, size_t n, bool is_category)
{
	uint32_t found = find_any(host_kinds[0], N_HOST, text, n, is_category);
	uint8_t at = (uint8_t)found;

	if (found == KIND_NONE) {
		at = is_category ? FLEXTRACE_KIND_LIMIT
		                 : find(unknown_kinds, FLEXTRACE_KIND_LIMIT, text, n, false);
		return at < FLEXTRACE_KIND_LIMIT ? KIND_KEY(DIALECT_COUNT, at) : KIND_NONE;
	}
	if (at >= FLEXTRACE_RUNTIME_KIND_COUNT)
		at = (uint8_t)(at - FLEXTRACE_RUNTIME_KIND_COUNT + HOST_STEP);
	return KIND_KEY(found >> 8, at);
}

uint32_t kind_find_device(const char *text, size_t n, bool is_category)
{
	return find_any(device_kinds[0], DEVICE_ROW_KIND_COUNT, text, n, is_category);
}

/* -- other words ------------------------------------------------------------------------------- */

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
