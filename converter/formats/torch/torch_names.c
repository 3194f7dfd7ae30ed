/* SPDX-License-Identifier: Apache-2.0 */
#include "torch_impl.h"

#include <string.h>

#include "base/text/ascii.h"
#include "model/words/kinds.h"

#define STEP "ProfilerStep#"

struct category {
	const char *name;
	struct torch_class class;
};

/* What is frequent first; the last five are of 2021. */
static const struct category categories[] = {
	{"cpu_op", {TORCH_HOST, FLEXTRACE_RUNTIME_OP}},
	{"user_annotation", {TORCH_HOST, FLEXTRACE_RUNTIME_USER}},
	{"python_function", {TORCH_HOST, FLEXTRACE_RUNTIME_USER}},
	{"cpu_instant_event", {TORCH_HOST, FLEXTRACE_RUNTIME_USER}},
	{"cuda_runtime", {TORCH_HOST, FLEXTRACE_RUNTIME_CALL}},
	{"cuda_driver", {TORCH_HOST, FLEXTRACE_RUNTIME_CALL}},
	{"mtia_runtime", {TORCH_HOST, FLEXTRACE_RUNTIME_CALL}},
	{"glow_runtime", {TORCH_HOST, FLEXTRACE_RUNTIME_CALL}},
	{"xpu_runtime", {TORCH_HOST, FLEXTRACE_RUNTIME_CALL}},
	{"xpu_driver", {TORCH_HOST, FLEXTRACE_RUNTIME_CALL}},
	{"privateuse1_runtime", {TORCH_HOST, FLEXTRACE_RUNTIME_CALL}},
	{"privateuse1_driver", {TORCH_HOST, FLEXTRACE_RUNTIME_CALL}},
	{"kernel", {TORCH_DEVICE, FLEXTRACE_DEVICE_KERNEL}},
	{"gpu_memcpy", {TORCH_DEVICE, FLEXTRACE_DEVICE_MEMCPY_DTOD}},
	{"gpu_memset", {TORCH_DEVICE, FLEXTRACE_DEVICE_MEMSET}},
	{"mtia_ccp_events", {TORCH_DEVICE, FLEXTRACE_DEVICE_KERNEL}},
	{"gpu_user_annotation", {TORCH_DEVICE, FLEXTRACE_DEVICE_STATE}},
	{"cuda_sync", {TORCH_DEVICE, FLEXTRACE_DEVICE_STATE}},
	{"xpu_sync", {TORCH_DEVICE, FLEXTRACE_DEVICE_STATE}},
	{"cuda_profiler_range", {TORCH_DEVICE, FLEXTRACE_DEVICE_STATE}},
	{"overhead", {TORCH_NOTE, FLEXTRACE_RUNTIME_USER}},
	{"runtime", {TORCH_HOST, FLEXTRACE_RUNTIME_CALL}}, /* flextrace's own, of no vendor */
	{"Trace", {TORCH_WINDOW, FLEXTRACE_RUNTIME_USER}},
	{"Operator", {TORCH_HOST, FLEXTRACE_RUNTIME_OP}},
	{"Runtime", {TORCH_HOST, FLEXTRACE_RUNTIME_CALL}},
	{"Kernel", {TORCH_DEVICE, FLEXTRACE_DEVICE_KERNEL}},
	{"Memcpy", {TORCH_DEVICE, FLEXTRACE_DEVICE_MEMCPY_DTOD}},
	{"Memset", {TORCH_DEVICE, FLEXTRACE_DEVICE_MEMSET}},
};

static const struct category *find(const char *name)
{
	for (size_t i = 0; i < sizeof(categories) / sizeof(*categories); i++) {
		if (strcmp(categories[i].name, name) == 0)
			return &categories[i];
	}
	return NULL;
}

bool torch_knows_category(const char *category)
{
	return find(category) != NULL;
}

static bool is_same_word(const char *left, const char *right)
{
	while (*left && ascii_lower(*left) == ascii_lower(*right)) {
		left++;
		right++;
	}
	return !*left && !*right;
}

static uint8_t kind_of_call(const char *name)
{
	uint32_t found;

	if (strncmp(name, "aiu", 3) != 0) {
		found = kind_find_host(name, strlen(name), false);
		return found >> 8 == DIALECT_CUDA ? (uint8_t)found : FLEXTRACE_RUNTIME_CALL;
	}
	/* Spellings differ between versions in their capitals only. */
	for (uint8_t i = 1; i < FLEXTRACE_RUNTIME_KIND_COUNT; i++) {
		if (is_same_word(name, kind_of_host(DIALECT_AIU, i)->label))
			return i;
	}
	return FLEXTRACE_RUNTIME_CALL;
}

static uint8_t kind_of_copy(const char *name)
{
	static const struct {
		const char *text;
		uint8_t kind;
	} copies[] = {
		{"HtoD", FLEXTRACE_DEVICE_MEMCPY_HTOD},
		{"DtoH", FLEXTRACE_DEVICE_MEMCPY_DTOH},
		{"PtoP", FLEXTRACE_DEVICE_MEMCPY_PTOP},
		{"HostToDevice", FLEXTRACE_DEVICE_MEMCPY_HTOD}, /* of AMD */
		{"DeviceToHost", FLEXTRACE_DEVICE_MEMCPY_DTOH},
	};

	for (size_t i = 0; i < sizeof(copies) / sizeof(*copies); i++) {
		if (strstr(name, copies[i].text))
			return copies[i].kind;
	}
	return FLEXTRACE_DEVICE_MEMCPY_DTOD;
}

/* ProfilerStep#N. */
static bool is_step(const char *name)
{
	size_t n_digits;

	if (strncmp(name, STEP, strlen(STEP)) != 0)
		return false;
	n_digits = strspn(name + strlen(STEP), "0123456789");
	return n_digits && !name[strlen(STEP) + n_digits];
}

struct torch_class torch_class_of(const char *category, const char *name)
{
	const struct category *found = find(category);
	struct torch_class class = {TORCH_UNKNOWN, FLEXTRACE_RUNTIME_USER};

	if (!found)
		return class;
	class = found->class;
	/* The AIU's profiler files what it frees under the driver, on the row of the device. */
	if (strcmp(name, "Memory (Release)") == 0)
		return (struct torch_class){TORCH_DEVICE, FLEXTRACE_DEVICE_RELEASE};
	if (class.side == TORCH_HOST && class.kind == FLEXTRACE_RUNTIME_CALL)
		class.kind = kind_of_call(name);
	else if (class.side == TORCH_HOST && is_step(name))
		class.kind = FLEXTRACE_RUNTIME_STEP;
	if (class.side == TORCH_DEVICE && class.kind == FLEXTRACE_DEVICE_MEMCPY_DTOD)
		class.kind = kind_of_copy(name);
	return class;
}
