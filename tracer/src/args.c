/* SPDX-License-Identifier: Apache-2.0 */
#include <flextrace/args.h>

#include <string.h>

#define KEY_END   '\x1f'
#define VALUE_END '\x1e'

enum {
	MOST_BYTES = FLEXTRACE_I_ARGS_MOST_BYTES,
	HALF_DIGITS = FLEXTRACE_I_ARG_MOST_DIGITS / 2,
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

/* Takes room for all digits; those behind the last one are any. */
static char *put_hex(char *at, uint64_t value)
{
	unsigned int n_spare = (unsigned int)__builtin_clzll(value | 1) / 4;

	value <<= 4 * n_spare;
	put_half(at, (uint32_t)(value / (UINT64_C(1) << 32)));
	if (n_spare < HALF_DIGITS)
		put_half(at + HALF_DIGITS, (uint32_t)value);
	return at + FLEXTRACE_I_ARG_MOST_DIGITS - n_spare;
}

static void end(struct flextrace_args *args, char *at)
{
	*at++ = VALUE_END;
	*at = '\0';
	args->n_bytes = (uint32_t)(at - args->text);
}

void flextrace_i_arg_leave_out(struct flextrace_args *args)
{
	char *at = args->text + args->n_bytes;

	args->n_left_out++;
	*at++ = 'c';
	*at++ = KEY_END;
	at = put_hex(at, args->n_left_out); /* eight digits at most */
	*at++ = VALUE_END;
	*at = '\0';
}

void flextrace_i_arg_end_number(struct flextrace_args *args, char *at, uint64_t value)
{
	end(args, put_hex(at, value));
}

/* Not within a character of UTF-8. */
static size_t cut(const char *value, size_t n)
{
	size_t i = n;

	while (i > 0 && n - i < 4 && ((unsigned char)value[i] & 0xc0) == 0x80)
		i--;
	return ((unsigned char)value[i] & 0xc0) == 0x80 ? n : i;
}

static char digit(size_t value)
{
	return "0123456789abcdef"[value & 15];
}

void flextrace_i_arg_end_text(struct flextrace_args *args, char *at, const char *value, size_t n)
{
	size_t taken = (size_t)(at - args->text) + 1 + LENGTH_BYTES;

	value = value ? value : "";
	n = strnlen(value, n);
	if (taken + n > MOST_BYTES) {
		if (taken + LEAST_BYTES > MOST_BYTES) {
			flextrace_i_arg_leave_out(args);
			return;
		}
		args->text[args->n_bytes] = 'S';
		n = cut(value, MOST_BYTES - taken);
	}
	if (n > 15)
		*at++ = digit(n >> 4);
	*at++ = digit(n);
	*at++ = ':';
	memcpy(at, value, n);
	end(args, at + n);
}

void flextrace_i_arg_end_bytes(struct flextrace_args *args, char *at, const void *value, size_t n)
{
	const unsigned char *bytes = value;
	size_t taken = (size_t)(at - args->text) + 1;

	if (n > MOST_BYTES || taken + LENGTH_BYTES + 2 * n > MOST_BYTES) {
		if (taken + LENGTH_BYTES + 2 * LEAST_BYTES <= MOST_BYTES) {
			args->text[args->n_bytes] = 'X';
			n = (MOST_BYTES - taken - LENGTH_BYTES) / 2;
		} else if (n > MOST_BYTES || taken + 2 * n > MOST_BYTES) {
			flextrace_i_arg_leave_out(args);
			return;
		}
	}
	for (; n >= 4; n -= 4, bytes += 4, at += 8)
		put_half(at, (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
		                     (uint32_t)bytes[2] << 8 | bytes[3]);
	for (; n; n--, bytes++) {
		*at++ = digit(*bytes >> 4);
		*at++ = digit(*bytes);
	}
	end(args, at);
}
