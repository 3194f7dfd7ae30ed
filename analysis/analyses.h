/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analyses.h: the one list of what this room writes; its order is that of run.json.
 *
 * X(name), where the file of a table defines `const struct analysis analysis_<name>`. A file for
 * reading stands behind its table and has the same name in run.json.
 */
#ifndef FLEXTRACE_ANALYSES_H
#define FLEXTRACE_ANALYSES_H

/* clang-format off */
#define ANALYSES(X)          \
	X(kernels)           \
	X(runtime)           \
	X(key_averages)      \
	X(key_averages_shapes) \
	X(key_averages_stack) \
	X(stacks)            \
	X(kernels_grouped)   \
	X(kernels_by_queue)  \
	X(variability)       \
	X(hlo_modules)       \
	X(hlo_ops)           \
	X(hlo_opcodes)       \
	X(hlo_compile)       \
	X(memory_peaks)      \
	X(memory_left)       \
	X(active)            \
	X(breakdown)         \
	X(overview)          \
	X(launches)          \
	X(queue_length)      \
	X(critical_path_summary) \
	X(critical_path)     \
	X(slack)             \
	X(stamps)            \
	X(loops)             \
	X(iterations)        \
	X(categories)        \
	X(categories_text)   \
	X(compiler)          \
	X(collectives)       \
	X(communication)     \
	X(stragglers)        \
	X(messages)          \
	X(communication_matrix) \
	X(bandwidth)         \
	X(power)             \
	X(ops)               \
	X(aie_index)         \
	X(aie_aggregate)     \
	X(aie_details)       \
	X(device_stats)      \
	X(device_stats_text) \
	X(rearranged)        \
	X(device_ops)        \
	X(zones)
/* clang-format on */

#endif
