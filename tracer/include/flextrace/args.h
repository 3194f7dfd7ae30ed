/* SPDX-License-Identifier: Apache-2.0 */
/*
 * args.h: arguments of scopes and device work: each a key and a value with a type.
 *
 *	FLEXTRACE_SCOPE_WITH("copy", FLEXTRACE_ARG("bytes", n), FLEXTRACE_ARG("of", t->name));
 *
 * They are kept as a text of at most 244 bytes, which becomes the field `args` of the record, and
 * of it, in files, a JSON object. Of a value that has no room its beginning is kept where it is a
 * string or bytes; arguments without room are left out, and counted.
 *
 * - A key is a string without control characters, best a literal with the unit in it ("bytes",
 *   "wait_ns"). The key "category" gives the interval's category in viewers.
 * - Strings end at their first NUL. NULL is "".
 * - All of it is safe in signal handlers, allocates nothing and never fails.
 *
 * The text: for each argument its type, its key, 0x1f, its value, 0x1e. Types: b (0 or 1), i, u, d,
 * p (hex digits of the 64 bits of an integer, of one without sign, of an IEEE double, of a
 * pointer), s (hex digits of the number of bytes, a colon, the bytes), x (two hex digits for each
 * byte); S and X are s and x of which the end is missing; c without a key says how many were left
 * out.
 */
#ifndef FLEXTRACE_ARGS_H
#define FLEXTRACE_ARGS_H

#include <stddef.h>
#include <stdint.h>

#define FLEXTRACE_ARGS_TEXT_BYTES 256

struct flextrace_args {
	uint32_t n_bytes;    /* of text, without its NUL */
	uint32_t n_left_out; /* arguments without room */
	char text[FLEXTRACE_ARGS_TEXT_BYTES];
};

#define FLEXTRACE_ARGS_INIT \
	{                   \
		0, 0, ""    \
	}

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(hidden)

/* clang-format off */
#ifdef FLEXTRACE_DISABLE
#define FLEXTRACE_I_ADD_FUNCTION(as, type)                                                       \
	static inline void flextrace_args_add_##as(struct flextrace_args *args, const char *key, \
	                                           type value)                                   \
	{                                                                                        \
		(void)args, (void)key, (void)value;                                              \
	}
#define FLEXTRACE_I_ADD_N_FUNCTION(as, type)                                                     \
	static inline void flextrace_args_add_##as(struct flextrace_args *args, const char *key, \
	                                           type value, size_t n)                         \
	{                                                                                        \
		(void)args, (void)key, (void)value, (void)n;                                     \
	}
#else
#define FLEXTRACE_I_ADD_FUNCTION(as, type) \
	void flextrace_args_add_##as(struct flextrace_args *args, const char *key, type value);
#define FLEXTRACE_I_ADD_N_FUNCTION(as, type)                                                     \
	void flextrace_args_add_##as(struct flextrace_args *args, const char *key, type value,   \
	                             size_t n);
#endif
FLEXTRACE_I_ADD_FUNCTION(bool, int)
FLEXTRACE_I_ADD_FUNCTION(i64, int64_t)
FLEXTRACE_I_ADD_FUNCTION(u64, uint64_t)
FLEXTRACE_I_ADD_FUNCTION(double, double)
FLEXTRACE_I_ADD_FUNCTION(pointer, const void *)
FLEXTRACE_I_ADD_FUNCTION(string, const char *)
FLEXTRACE_I_ADD_N_FUNCTION(text, const char *) /* a string of `n` bytes at most */
FLEXTRACE_I_ADD_N_FUNCTION(bytes, const void *)
#undef FLEXTRACE_I_ADD_FUNCTION
#undef FLEXTRACE_I_ADD_N_FUNCTION
/* clang-format on */

#pragma GCC visibility pop
#ifdef __cplusplus
}

static inline void flextrace_i_add(struct flextrace_args *args, const char *key, bool value)
{
	flextrace_args_add_bool(args, key, value);
}
/* clang-format off */
#define FLEXTRACE_I_ADD_OVERLOAD(type, as, to)                                           \
	static inline void flextrace_i_add(struct flextrace_args *args, const char *key, \
	                                   type value)                                   \
	{                                                                                \
		flextrace_args_add_##as(args, key, static_cast<to>(value));              \
	}
FLEXTRACE_I_ADD_OVERLOAD(int, i64, int64_t)
FLEXTRACE_I_ADD_OVERLOAD(long, i64, int64_t)
FLEXTRACE_I_ADD_OVERLOAD(long long, i64, int64_t)
FLEXTRACE_I_ADD_OVERLOAD(unsigned int, u64, uint64_t)
FLEXTRACE_I_ADD_OVERLOAD(unsigned long, u64, uint64_t)
FLEXTRACE_I_ADD_OVERLOAD(unsigned long long, u64, uint64_t)
FLEXTRACE_I_ADD_OVERLOAD(double, double, double)
FLEXTRACE_I_ADD_OVERLOAD(const char *, string, const char *)
FLEXTRACE_I_ADD_OVERLOAD(const void *, pointer, const void *)
#undef FLEXTRACE_I_ADD_OVERLOAD
/* clang-format on */

#define FLEXTRACE_ADD_ARG(args, key, value) flextrace_i_add(args, key, value)
#else
/* Adds an argument, by the type of `value`. */
/* clang-format off */
#define FLEXTRACE_ADD_ARG(args, key, value)                                           \
	__extension__ _Generic((value),                                               \
		_Bool: flextrace_args_add_bool,                                       \
		char: flextrace_args_add_i64, signed char: flextrace_args_add_i64,    \
		short: flextrace_args_add_i64, int: flextrace_args_add_i64,           \
		long: flextrace_args_add_i64, long long: flextrace_args_add_i64,      \
		unsigned char: flextrace_args_add_u64,                                \
		unsigned short: flextrace_args_add_u64,                               \
		unsigned int: flextrace_args_add_u64,                                 \
		unsigned long: flextrace_args_add_u64,                                \
		unsigned long long: flextrace_args_add_u64,                           \
		float: flextrace_args_add_double, double: flextrace_args_add_double,  \
		char *: flextrace_args_add_string,                                    \
		const char *: flextrace_args_add_string,                              \
		default: flextrace_args_add_pointer)(args, key, value)
/* clang-format on */
#endif

/* One argument in the list of a macro whose name ends in _WITH. */
#define FLEXTRACE_ARG(key, value)         FLEXTRACE_ADD_ARG(flextrace_i_args, key, value)
#define FLEXTRACE_ARG_BYTES(key, data, n) flextrace_args_add_bytes(flextrace_i_args, key, data, n)

#endif
