/* SPDX-License-Identifier: Apache-2.0 */
/* model_port.h: the posix port, with a hook behind each store of a marker. */
#ifndef FLEXTRACE_TESTS_MODEL_PORT_H
#define FLEXTRACE_TESTS_MODEL_PORT_H

#include <flextrace/port_posix.h>

void writer_stored(void *word);

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define MODEL_ORDER(value) flextrace_posix_order(&(value), sizeof(value))
#else
#define MODEL_ORDER(value) ((void)0)
#endif

#undef FLEXTRACE_PORT_STORE
#define FLEXTRACE_PORT_STORE(word, value)                                 \
	__extension__({                                                   \
		__typeof__(word) model_value = (value);                   \
		MODEL_ORDER(model_value);                                 \
		__atomic_store_n(&(word), model_value, __ATOMIC_RELAXED); \
		writer_stored(&(word));                                   \
	})

#endif
