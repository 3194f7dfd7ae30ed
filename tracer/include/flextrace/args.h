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

/* Inlined where arguments are added, for there the length of a literal key is known. */
#define FLEXTRACE_I_ARG_INLINE static inline __attribute__((__always_inline__))

enum {
	FLEXTRACE_I_ARGS_MOST_BYTES = FLEXTRACE_ARGS_TEXT_BYTES - 12, /* the rest is the count's */
	FLEXTRACE_I_ARG_MOST_DIGITS = 16
};

/* Counts an argument that has no room, and says so at the end of the text. */
void flextrace_i_arg_leave_out(struct flextrace_args *args);

/* Write the value of an argument to `at`, and end it. */
void flextrace_i_arg_end_number(struct flextrace_args *args, char *at, uint64_t value);
void flextrace_i_arg_end_text(struct flextrace_args *args, char *at, const char *value, size_t n);
void flextrace_i_arg_end_bytes(struct flextrace_args *args, char *at, const void *value, size_t n);

#ifdef FLEXTRACE_DISABLE
#define FLEXTRACE_I_ARG_IS_OFF     1
#define FLEXTRACE_I_ARG_CALL(call) (0 ? (call) : (void)0)
#else
#define FLEXTRACE_I_ARG_IS_OFF     0
#define FLEXTRACE_I_ARG_CALL(call) (call)
#endif

/* Begins an argument whose value has `n` bytes: returns where they go, or NULL: it has no room.
 * What is behind one without room is left out, too, so that the count stands at the end. */
FLEXTRACE_I_ARG_INLINE char *flextrace_i_arg_begin(struct flextrace_args *args, char type,
                                                   const char *key, size_t n)
{
	const size_t n_key = __builtin_strlen(key);
	char *at = args->text + args->n_bytes;

	if (FLEXTRACE_I_ARG_IS_OFF)
		return NULL;
	if (__builtin_expect(args->n_left_out || n_key > FLEXTRACE_I_ARGS_MOST_BYTES ||
	                             args->n_bytes + n_key + n + 3 > FLEXTRACE_I_ARGS_MOST_BYTES,
	                     0)) {
		FLEXTRACE_I_ARG_CALL(flextrace_i_arg_leave_out(args));
		return NULL;
	}
	*at++ = type;
	__builtin_memcpy(at, key, n_key);
	at[n_key] = '\x1f';
	return at + n_key + 1;
}

FLEXTRACE_I_ARG_INLINE void flextrace_i_arg_add(struct flextrace_args *args, char type,
                                                const char *key, uint64_t bits)
{
	char *at = flextrace_i_arg_begin(args, type, key, FLEXTRACE_I_ARG_MOST_DIGITS);

	if (at)
		FLEXTRACE_I_ARG_CALL(flextrace_i_arg_end_number(args, at, bits));
}

/* clang-format off */
#define FLEXTRACE_I_ADD_NUMBER(as, type, letter, bits_type)                              \
	FLEXTRACE_I_ARG_INLINE void flextrace_args_add_##as(struct flextrace_args *args, \
	                                                    const char *key, type value) \
	{                                                                                \
		bits_type bits;                                                          \
                                                                                         \
		__builtin_memcpy(&bits, &value, sizeof(bits));                           \
		flextrace_i_arg_add(args, letter, key, bits);                            \
	}
FLEXTRACE_I_ADD_NUMBER(i64, int64_t, 'i', uint64_t)
FLEXTRACE_I_ADD_NUMBER(u64, uint64_t, 'u', uint64_t)
FLEXTRACE_I_ADD_NUMBER(double, double, 'd', uint64_t)
FLEXTRACE_I_ADD_NUMBER(pointer, const void *, 'p', uintptr_t)
#undef FLEXTRACE_I_ADD_NUMBER
/* clang-format on */

FLEXTRACE_I_ARG_INLINE void flextrace_args_add_bool(struct flextrace_args *args, const char *key,
                                                    int value)
{
	flextrace_i_arg_add(args, 'b', key, value != 0);
}

/* A string of `n` bytes at most. */
FLEXTRACE_I_ARG_INLINE void flextrace_args_add_text(struct flextrace_args *args, const char *key,
                                                    const char *value, size_t n)
{
	char *at = flextrace_i_arg_begin(args, 's', key, 0);

	if (at)
		FLEXTRACE_I_ARG_CALL(flextrace_i_arg_end_text(args, at, value, n));
}

FLEXTRACE_I_ARG_INLINE void flextrace_args_add_string(struct flextrace_args *args, const char *key,
                                                      const char *value)
{
	flextrace_args_add_text(args, key, value, FLEXTRACE_ARGS_TEXT_BYTES);
}

FLEXTRACE_I_ARG_INLINE void flextrace_args_add_bytes(struct flextrace_args *args, const char *key,
                                                     const void *value, size_t n)
{
	char *at = flextrace_i_arg_begin(args, 'x', key, 0);

	if (at)
		FLEXTRACE_I_ARG_CALL(flextrace_i_arg_end_bytes(args, at, value, n));
}

#pragma GCC visibility pop
#ifdef __cplusplus
}

FLEXTRACE_I_ARG_INLINE void flextrace_i_add(struct flextrace_args *args, const char *key,
                                            bool value)
{
	flextrace_args_add_bool(args, key, value);
}
/* clang-format off */
#define FLEXTRACE_I_ADD_OVERLOAD(type, as, to)                                                \
	FLEXTRACE_I_ARG_INLINE void flextrace_i_add(struct flextrace_args *args, const char *key, \
	                                            type value)                               \
	{                                                                                     \
		flextrace_args_add_##as(args, key, static_cast<to>(value));                   \
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
