/* SPDX-License-Identifier: Apache-2.0 */
#include <flextrace/args.h>

#include <string.h>

#define KEY_END   '\x1f'
#define VALUE_END '\x1e'

enum {
	MOST_DIGITS = 16,
	TAIL_BYTES = 12, /* the text always has room for "c\x1f" and 8 digits, VALUE_END and NUL */
	MOST_BYTES = FLEXTRACE_ARGS_TEXT_BYTES - TAIL_BYTES,
	LENGTH_BYTES = 4, /* of a string: three digits and a colon */
	LEAST_BYTES = 8   /* of a string that is cut: less says nothing */
};

/* Eight digits at once: a nibble in each byte, the highest first, then its letter. */
static void put_half(char *at, uint32_t value)
{
	uint64_t digits = value;

	digits = (digits << 16 | digits) & 0x0000ffff0000ffff;
	digits = (digits << 8 | digits) & 0x00ff00ff00ff00ff;
	digits = (digits << 4 | digits) & 0x0f0f0f0f0f0f0f0f;
	digits += 0x3030303030303030 +
	          ((digits + 0x0606060606060606) >> 4 & 0x0101010101010101) * ('a' - '0' - 10);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	digits = __builtin_bswap64(digits);
#endif
	memcpy(at, &digits, sizeof(digits));
}

static char *put_hex(char *at, uint64_t value)
{
	size_t n = value ? (size_t)(67 - __builtin_clzll(value)) / 4 : 1;
	char digits[MOST_DIGITS];

	put_half(digits, (uint32_t)(value / (UINT64_C(1) << 32)));
	put_half(digits + MOST_DIGITS / 2, (uint32_t)value);
	memcpy(at, digits + MOST_DIGITS - n, n);
	return at + n;
}

static void leave_out(struct flextrace_args *args)
{
	char *at = args->text + args->n_bytes;

	args->n_left_out++;
	*at++ = 'c';
	*at++ = KEY_END;
	at = put_hex(at, args->n_left_out);
	*at++ = VALUE_END;
	*at = '\0';
}

/* Begins an argument whose value has `n` bytes; NULL: it has no room. What is behind one without
 * room is left out, too, so that the count stands at the end. */
static char *begin(struct flextrace_args *args, char type, const char *key, size_t n)
{
	size_t n_key = strlen(key);
	char *at = args->text + args->n_bytes;

	if (args->n_left_out || n_key > MOST_BYTES || n > MOST_BYTES ||
	    args->n_bytes + n_key + n + 3 > MOST_BYTES) {
		leave_out(args);
		return NULL;
	}
	*at++ = type;
	memcpy(at, key, n_key + 1);
	at += n_key;
	*at++ = KEY_END;
	return at;
}

static void end(struct flextrace_args *args, char *at)
{
	*at++ = VALUE_END;
	*at = '\0';
	args->n_bytes = (uint32_t)(at - args->text);
}

static void add_number(struct flextrace_args *args, char type, const char *key, uint64_t value)
{
	char *at = begin(args, type, key, MOST_DIGITS);

	if (at)
		end(args, put_hex(at, value));
}

void flextrace_args_add_bool(struct flextrace_args *args, const char *key, int value)
{
	add_number(args, 'b', key, value != 0);
}

void flextrace_args_add_i64(struct flextrace_args *args, const char *key, int64_t value)
{
	add_number(args, 'i', key, (uint64_t)value);
}

void flextrace_args_add_u64(struct flextrace_args *args, const char *key, uint64_t value)
{
	add_number(args, 'u', key, value);
}

void flextrace_args_add_double(struct flextrace_args *args, const char *key, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	add_number(args, 'd', key, bits);
}

void flextrace_args_add_pointer(struct flextrace_args *args, const char *key, const void *value)
{
	add_number(args, 'p', key, (uint64_t)(uintptr_t)value);
}

/* How many bytes a value may have at most. */
static size_t room_for(const struct flextrace_args *args, const char *key)
{
	size_t taken = args->n_bytes + strlen(key) + 3 + LENGTH_BYTES;

	return taken < MOST_BYTES ? MOST_BYTES - taken : 0;
}

/* Not within a character of UTF-8. */
static size_t cut(const char *value, size_t n)
{
	size_t i = n;

	while (i > 0 && n - i < 4 && ((unsigned char)value[i] & 0xc0) == 0x80)
		i--;
	return ((unsigned char)value[i] & 0xc0) == 0x80 ? n : i;
}

void flextrace_args_add_text(struct flextrace_args *args, const char *key, const char *value,
                             size_t n)
{
	size_t room = room_for(args, key), n_all = value ? strnlen(value, n) : 0;
	char type = 's';
	char *at;

	n = n_all;
	if (n > room && room >= LEAST_BYTES) {
		n = cut(value, room);
		type = 'S';
	}
	at = begin(args, type, key, n + LENGTH_BYTES);
	if (!at)
		return;
	at = put_hex(at, n);
	*at++ = ':';
	if (n)
		memcpy(at, value, n);
	end(args, at + n);
}

void flextrace_args_add_string(struct flextrace_args *args, const char *key, const char *value)
{
	flextrace_args_add_text(args, key, value, FLEXTRACE_ARGS_TEXT_BYTES);
}

void flextrace_args_add_bytes(struct flextrace_args *args, const char *key, const void *value,
                              size_t n)
{
	const unsigned char *bytes = value;
	size_t room = room_for(args, key) / 2;
	char type = 'x';
	char *at;

	if (n > room && room >= LEAST_BYTES) {
		n = room;
		type = 'X';
	}
	at = begin(args, type, key, n > MOST_BYTES ? n : 2 * n);
	if (!at)
		return;
	for (size_t i = 0; i < n; i++) {
		*at++ = "0123456789abcdef"[bytes[i] >> 4];
		*at++ = "0123456789abcdef"[bytes[i] & 15];
	}
	end(args, at);
}
