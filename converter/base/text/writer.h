/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.h: one output file, written through a buffer to `<name>.tmp` and renamed when whole.
 *
 * - Appending returns nothing: the first failure sticks, later appends do nothing, and
 *   writer_close() tells it, with path and cause. A loop over many rows may look at writer_failed()
 *   to stop early.
 * - A writer that is not closed well leaves no file: writer_close() on failure and writer_abandon()
 *   remove `<name>.tmp`; the final name is never touched before the file is whole.
 * - Numbers do not depend on the locale.
 * - Text is UTF-8. Bytes that are no UTF-8 become U+FFFD each and are counted in `replaced_bytes`;
 *   every other byte of a text comes back as it was when the file is parsed. A text ends at its
 *   first NUL: one that belongs to it is C0 80, as importers store it. JSON gets it as \u0000, so
 *   that it comes back, and CSV, where most readers bear none, as one U+FFFD.
 *
 * Not thread-safe; one thread per writer.
 */
#ifndef FLEXTRACE_WRITER_H
#define FLEXTRACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* Where bytes go instead of to a file of the writer's own. Both return 0 or errno. */
struct writer_target {
	int (*put)(struct writer_target *target, const void *bytes, size_t n);
	int (*close)(struct writer_target *target);
};

struct writer {
	char *at;                     /* weak: next byte in the buffer */
	char *end;                    /* weak: behind the buffer */
	char *buffer;                 /* owned; NULL = closed */
	char *path, *tmp_path;        /* owned; without a temporary name where there is a target */
	struct writer_gzip *gzip;     /* owned; NULL = plain */
	struct writer_target *target; /* weak; NULL: a file */
	uint64_t replaced_bytes;      /* bytes that were no UTF-8 */
	int fd;                       /* owned; -1 = closed */
	int failure;                  /* errno of the first failure; 0 = none */
};

/* Opens `dir`/`name`, with `gzip` as one deterministic gzip member. FLEXTRACE_E_OUTPUT,
 * FLEXTRACE_E_MEMORY; on failure there is nothing to close or abandon. */
int writer_open(struct writer *writer, const char *dir, const char *name, bool gzip,
                struct flextrace_error *error);

/* The same into a target, of which messages say `path`. writer_close() closes it, and
 * writer_abandon() leaves it as it is. FLEXTRACE_E_MEMORY. */
int writer_open_target(struct writer *writer, struct writer_target *target, const char *path,
                       bool gzip, struct flextrace_error *error);

/* Goes to another place of a file. A failure sticks. */
void writer_seek(struct writer *writer, uint64_t offset);

/* Writes what is buffered, closes and renames. FLEXTRACE_E_OUTPUT if anything failed since
 * writer_open(); the file is gone then. Releases the writer either way. */
int writer_close(struct writer *writer, struct flextrace_error *error);

/* Removes `<name>.tmp` and releases the writer. Does nothing on a closed one. */
void writer_abandon(struct writer *writer);

/* Opens a writer whose bytes stay in its buffer, which grows; it ends with writer_abandon(), or
 * with writer_print(), which prints them. No memory, now or later: its failure is ENOMEM, and
 * FLEXTRACE_E_MEMORY of writer_print(). */
void writer_open_memory(struct writer *writer);
int writer_print(struct writer *writer, FILE *to);

static inline bool writer_failed(const struct writer *writer)
{
	return writer->failure != 0;
}

/* -- bytes ------------------------------------------------------------------------------------- */

/* Makes room for `n` bytes in the buffer, which grows if it must; false: no memory. */
bool writer_make_room(struct writer *writer, size_t n);

static inline bool writer_has_room(struct writer *writer, size_t n)
{
	return __builtin_expect((size_t)(writer->end - writer->at) >= n, 1) ||
	       writer_make_room(writer, n);
}

/* The way of writer_append() where the buffer is full. */
void writer_append_slowly(struct writer *writer, const void *bytes, size_t n);

static inline void writer_append(struct writer *writer, const void *bytes, size_t n)
{
	if ((size_t)(writer->end - writer->at) <= n) { /* `<=`: a new memory writer has no buffer */
		writer_append_slowly(writer, bytes, n);
		return;
	}
	memcpy(writer->at, bytes, n);
	writer->at += n;
}

/* Appends a string literal; its length is known at compile time. */
#define writer_literal(writer, literal) writer_append(writer, "" literal, sizeof(literal) - 1)

/* Returns where up to `n` bytes may be put; behind what was put, `at` is to be set. NULL: no
 * memory. */
static inline char *writer_room(struct writer *writer, size_t n)
{
	return writer_has_room(writer, n) ? writer->at : NULL;
}

/* Puts a string literal where there is room, and returns its end. */
#define put_literal(at, literal) \
	((char *)memcpy((at), "" literal, sizeof(literal) - 1) + sizeof(literal) - 1)

/* Appends `n` bytes compressed, as one stream of zlib, to a memory writer. */
void writer_deflate(struct writer *writer, const void *bytes, size_t n);

static inline void writer_char(struct writer *writer, char c)
{
	char *at = writer_room(writer, 1);

	if (!at)
		return;
	*at = c;
	writer->at = at + 1;
}

/* Appends bytes up to the NUL, as they are. */
void writer_raw(struct writer *writer, const char *text);

/* Appends what printf() makes of it: of what is written rarely. */
void writer_format(struct writer *writer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* -- numbers ----------------------------------------------------------------------------------- */

void writer_u64(struct writer *writer, uint64_t value);
void writer_i64(struct writer *writer, int64_t value);

/* The digits of a number above its lowest six, for many numbers that are near each other; zeroes =
 * none yet. */
struct writer_high_digits {
	uint64_t first; /* number of them */
	uint32_t n;
	char digits[16];
};

/* What may be written for a number, its digits and what is written over again. */
#define WRITER_NUMBER_BYTES 24

/* Each puts a number where there is room for WRITER_NUMBER_BYTES, as the writer_ of the same name
 * does, and returns its end. */
char *put_u64(char *at, uint64_t value);
char *put_us(char *at, uint64_t ns);

#define WRITER_NEAR 1000000u

/* 000.001. ... 999. */
extern const char writer_triples[];

/* The ways of the next two where the number is not near the one before. */
char *put_far(char *at, struct writer_high_digits *high, uint64_t value);
char *put_us_far(char *at, struct writer_high_digits *high, uint64_t ns);

/* Puts three digits and a decimal point, and returns the end of both. */
static inline char *put_triple(char *at, uint64_t value)
{
	memcpy(at, writer_triples + 4 * value, 4);
	return at + 4;
}

static inline bool writer_is_near(const struct writer_high_digits *high, uint64_t value)
{
	return __builtin_expect(value - high->first < WRITER_NEAR && high->n, 1);
}

static inline char *put_near(char *at, struct writer_high_digits *high, uint64_t value)
{
	uint32_t low = (uint32_t)(value - high->first);

	if (!writer_is_near(high, value))
		return put_far(at, high, value);
	memcpy(at, high->digits, sizeof(high->digits));
	at = put_triple(at + high->n, low / 1000) - 1;
	return put_triple(at, low % 1000) - 1;
}

static inline char *put_us_near(char *at, struct writer_high_digits *high, uint64_t ns)
{
	uint32_t low = (uint32_t)(ns - high->first);

	if (!writer_is_near(high, ns))
		return put_us_far(at, high, ns);
	memcpy(at, high->digits, sizeof(high->digits));
	at = put_triple(at + high->n, low / 1000);
	return put_triple(at, low % 1000) - 1;
}

/* The same as writer_u64(). */
static inline void writer_near(struct writer *writer, struct writer_high_digits *high,
                               uint64_t value)
{
	char *at = writer_room(writer, WRITER_NUMBER_BYTES);

	if (at)
		writer->at = put_near(at, high, value);
}

/* Appends ns as us with exactly 3 decimals: 1234567 -> 1234.567. */
static inline void writer_us_near(struct writer *writer, struct writer_high_digits *high,
                                  uint64_t ns)
{
	char *at = writer_room(writer, WRITER_NUMBER_BYTES);

	if (at)
		writer->at = put_us_near(at, high, ns);
}

/* The digits of one number, for numbers that are mostly the same; zeroes = none yet. */
struct writer_digits {
	uint64_t value;
	uint32_t n;
	char digits[20];
};

void writer_learn(struct writer_digits *digits, uint64_t value);

/* As put_u64(). */
static inline char *put_again(char *at, struct writer_digits *digits, uint64_t value)
{
	if (value != digits->value || !digits->n)
		writer_learn(digits, value);
	memcpy(at, digits->digits, sizeof(digits->digits));
	return at + digits->n;
}

/* Appends `value` with `n_decimals` (0..9), rounded to even; nothing when it is not finite. */
void writer_fixed(struct writer *writer, double value, int n_decimals);

/* Appends the shortest decimal that reads back as `value`; nan, inf or -inf when it is not
 * finite. */
void writer_double(struct writer *writer, double value);

/* -- text -------------------------------------------------------------------------------------- */

/* Appends `n` bytes of text as a JSON string with its quotes. */
void writer_json(struct writer *writer, const char *text, size_t n);

/* The same for a text of our own, which writer_json_inside() is to write: what that escapes or
 * replaces stays as it is. */
void writer_json_ours(struct writer *writer, const char *text, size_t n);

/* Appends what is JSON already, escapes and all, but for bytes that are no UTF-8. */
void writer_json_inside(struct writer *writer, const char *text, size_t n);

/* Appends `n` bytes of text as one CSV field (RFC 4180): quoted where it has a comma, quote, CR
 * or LF. What a spreadsheet would take for a formula gets an apostrophe in front, which
 * csv_reader_text() takes off. */
void writer_csv(struct writer *writer, const char *text, size_t n);

/* Returns the bytes of the UTF-8 sequence that `text` starts with (at most `n`); 0 when it is
 * none. */
size_t utf8_sequence(const char *text, size_t n);

#endif
