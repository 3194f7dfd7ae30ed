/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.h: results as tables: the columns of a table, where each value stands in a row, and where
 * rows go.
 *
 * Who finds results describes them and puts the rows. Who writes a format knows no table. A row is
 * what was found, or a struct of the table's own; a text in it is weak and lives until the row was
 * put. What stands in it as an index, a string or a time of the timeline is told as what it is.
 * Files that are no tables, or very long ones, are written by who knows them.
 */
#ifndef FLEXTRACE_COLUMNS_H
#define FLEXTRACE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/text_list.h"
#include "base/text/writer.h"
#include "model/identity/identity.h"

enum column_type {
	COLUMN_TYPE_TEXT, /* const char *; NULL = empty */
	COLUMN_TYPE_WORD, /* the same, of ours: no format escapes it */
	COLUMN_TYPE_BOOL, /* 0 or 1 */
	COLUMN_TYPE_U16,
	COLUMN_TYPE_U32,
	COLUMN_TYPE_U64,
	COLUMN_TYPE_I64,
	COLUMN_TYPE_REAL,    /* double; mostly empty where it is not finite */
	COLUMN_TYPE_NONZERO, /* uint64_t; 0 = empty */
	COLUMN_TYPE_NAMED,   /* uint8_t, that `name_of` knows */
	COLUMN_TYPE_LENGTH,  /* int64_t: from here to the int64_t behind it */
	COLUMN_TYPE_CALL,    /* what `read` finds there */
	/* of the timeline that the row is about */
	COLUMN_TYPE_TIME,   /* int64_t, told since the Unix epoch */
	COLUMN_TYPE_STRING, /* uint32_t */
	COLUMN_TYPE_RANK,   /* uint32_t, all three: index of a process; FLEXTRACE_NONE = empty */
	COLUMN_TYPE_HOST,
	COLUMN_TYPE_PID,
	COLUMN_TYPE_DEVICE_RANK, /* uint32_t: index of a device, likewise: of its process */
	COLUMN_TYPE_DEVICE_HOST,
	COLUMN_TYPE_DEVICE_PID,
	COLUMN_TYPE_DEVICE, /* its number */
	COLUMN_TYPE_TID,    /* uint32_t, both: index of a thread, likewise */
	COLUMN_TYPE_THREAD,
};

/* What stands in a row. */
struct cell {
	enum { CELL_EMPTY, CELL_TEXT, CELL_NUMBER, CELL_SIGNED, CELL_REAL } kind;
	uint32_t string; /* of a text: its id, or 0 */
	union {
		const char *text; /* weak: while the row lives */
		uint64_t number;
		int64_t signed_number;
		double real;
	};
	uint32_t n_bytes; /* of a text */
	bool is_plain;    /* of a text: see struct string_text */
};

struct timeline;

/* As `n_decimals`: the shortest text that reads back as the same double. */
#define COLUMN_SHORTEST (-1)
#define COLUMN_WORDS    (-2) /* likewise, and what is not finite as a word */

struct column {
	const char *name;      /* in the header line, its unit at the end */
	uint8_t type;          /* enum column_type */
	bool is_optional;      /* COLUMN_NONE of its type means: empty */
	int8_t n_decimals;     /* REAL only */
	uint32_t offset_bytes; /* in the row */
	const char *(*name_of)(uint8_t value);
	struct cell (*read)(const void *place, const struct timeline *timeline);
};

/* What an optional column holds where there is no value: the largest unsigned number, the least
 * signed one. */
#define COLUMN_NONE_U32 UINT32_MAX
#define COLUMN_NONE_U64 UINT64_MAX
#define COLUMN_NONE_I64 INT64_MIN

#define COLUMN_TYPE_OF(value) \
	_Generic((value),                         \
	        const char *: COLUMN_TYPE_TEXT,   \
	        bool: COLUMN_TYPE_BOOL,           \
	        uint16_t: COLUMN_TYPE_U16,        \
	        uint32_t: COLUMN_TYPE_U32,        \
	        uint64_t: COLUMN_TYPE_U64,        \
	        int64_t: COLUMN_TYPE_I64,         \
	        double: COLUMN_TYPE_REAL)

#define COLUMN_INIT(name, row, member, is_optional, n_decimals)                    \
	{                                                                          \
		name, COLUMN_TYPE_OF(((row *)0)->member), is_optional, n_decimals, \
			offsetof(row, member), NULL, NULL                          \
	}

/* A column of a type that its member does not tell, which is of C type `of`. */
#define COLUMN_TYPED(name, type, of, is_optional, row, member)            \
	{                                                                 \
		name,                                                     \
			_Generic(((row *)0)->member, of                   \
		                 : COLUMN_TYPE_##type),                   \
			is_optional, 0, offsetof(row, member), NULL, NULL \
	}

#define COLUMN_NONZERO(name, row, member) COLUMN_TYPED(name, NONZERO, uint64_t, true, row, member)
#define COLUMN_TIME(name, row, member)    COLUMN_TYPED(name, TIME, int64_t, false, row, member)
#define COLUMN_LENGTH(name, row, start)   COLUMN_TYPED(name, LENGTH, int64_t, false, row, start)
#define COLUMN_STRING(name, row, member)  COLUMN_TYPED(name, STRING, uint32_t, false, row, member)
#define COLUMN_DEVICE(row, of)            COLUMN_TYPED("device", DEVICE, uint32_t, true, row, of)

/* Whose a row is: the first columns of most tables; `member` is the index of a process. */
#define COLUMNS_PROCESS(row, member)                                      \
	COLUMN_TYPED("rank", RANK, uint32_t, true, row, member),          \
		COLUMN_TYPED("host", HOST, uint32_t, false, row, member), \
		COLUMN_TYPED("pid", PID, uint32_t, true, row, member)

/* The same of a device, and its number. */
#define COLUMNS_DEVICE(row, member)                                              \
	COLUMN_TYPED("rank", DEVICE_RANK, uint32_t, true, row, member),          \
		COLUMN_TYPED("host", DEVICE_HOST, uint32_t, false, row, member), \
		COLUMN_TYPED("pid", DEVICE_PID, uint32_t, true, row, member),    \
		COLUMN_DEVICE(row, member)

#define COLUMNS_THREAD(row, member)                            \
	COLUMN_TYPED("tid", TID, uint32_t, true, row, member), \
		COLUMN_TYPED("thread", THREAD, uint32_t, false, row, member)

#define COLUMN_NAMED(name, row, member, name_of)                                        \
	{                                                                               \
		name, COLUMN_TYPE_NAMED, false, 0, offsetof(row, member), name_of, NULL \
	}

#define COLUMN_CALL(name, read, row, member)                                       \
	{                                                                          \
		name, COLUMN_TYPE_CALL, true, 0, offsetof(row, member), NULL, read \
	}

/* Columns named as the member that holds them, and otherwise. */
#define COLUMN(row, member)          COLUMN_AS(#member, row, member)
#define COLUMN_OPTIONAL(row, member) COLUMN_OPTIONAL_AS(#member, row, member)
#define COLUMN_FIXED(row, member, n) COLUMN_FIXED_AS(#member, row, member, n)

#define COLUMN_AS(name, row, member)          COLUMN_INIT(name, row, member, false, COLUMN_SHORTEST)
#define COLUMN_OPTIONAL_AS(name, row, member) COLUMN_INIT(name, row, member, true, COLUMN_SHORTEST)
#define COLUMN_FIXED_AS(name, row, member, n) COLUMN_INIT(name, row, member, false, n)

/* A column of many rows, which have a writer of their own. */
#define COLUMN_WRITTEN(name, type, is_optional)                                       \
	{                                                                             \
		name, COLUMN_TYPE_##type, is_optional, COLUMN_SHORTEST, 0, NULL, NULL \
	}

#define N_COLUMNS(columns) ((uint32_t)(sizeof(columns) / sizeof((columns)[0])))

/* The same in rows that are read back from their file. */
struct owner_cells {
	int64_t rank; /* COLUMN_NONE_I64: without one; `pid` likewise */
	const char *host;
	int64_t pid;
};

/* Whose the rows of a process are; FLEXTRACE_NONE: nobody's. */
static inline struct owner_cells identity_owner(const struct identity *identity, uint32_t process)
{
	const struct process *of = &identity->processes[process];
	int64_t pid;

	if (process == FLEXTRACE_NONE)
		return (struct owner_cells){COLUMN_NONE_I64, NULL, COLUMN_NONE_I64};
	pid = identity_pid(of);
	return (struct owner_cells){
		.rank = of->rank >= 0 ? of->rank : COLUMN_NONE_I64,
		.host = string_get(identity->strings, of->host),
		.pid = pid >= 0 ? pid : COLUMN_NONE_I64,
	};
}

#define COLUMNS_OWNER(row)                                      \
	COLUMN_INIT("rank", row, owner.rank, true, 0),          \
		COLUMN_INIT("host", row, owner.host, false, 0), \
		COLUMN_INIT("pid", row, owner.pid, true, 0)

/* What the cells of a column are: "text", "integer" or "number"; some may be empty. */
const char *column_type_name(const struct column *column);

/* The unit of a column's numbers, which its name tells: "ns", "bytes", "cycles"; "" = none. */
const char *column_unit(const char *name);

/* Reads a cell of a row. `timeline` may be NULL where no column is of one. */
struct cell column_read(const struct column *column, const void *row,
                        const struct timeline *timeline);

static inline struct cell cell_of_text(const char *text)
{
	if (!text)
		return (struct cell){.kind = CELL_EMPTY};
	return (struct cell){.kind = CELL_TEXT, .text = text, .n_bytes = (uint32_t)strlen(text)};
}

/* Of a text of ours, which no format escapes. */
static inline struct cell cell_of_word(const char *text)
{
	struct cell cell = cell_of_text(text);

	cell.is_plain = true;
	return cell;
}

static inline struct cell cell_of_string(const struct string_pool *strings, uint32_t string)
{
	struct string_text text = string_text(strings, string);

	return (struct cell){
		.kind = CELL_TEXT,
		.string = string,
		.text = text.bytes,
		.n_bytes = (uint32_t)text.length,
		.is_plain = text.is_plain,
	};
}

/* Why an arrow is not drawn. */
enum arrow_cause {
	ARROW_BACK_IN_TIME,  /* to a row whose place is a guess */
	ARROW_END_NOT_SHOWN, /* an end crosses others, and is no interval of its own there */
	ARROW_OTHER_RANK,    /* of one of its ends, in the file of a rank */
	ARROW_NOT_IN_TYPES,
	N_ARROW_CAUSES
};

/* How many rows of each record class a file got: counted as they are written, closed against the
 * tables. */
struct file_count {
	const char *file;  /* weak: its path in the output directory */
	const char *other; /* weak: that of the same rows in another form; NULL = none */
	uint64_t rows;     /* written, without header */
	bool is_absent;    /* a table without a row, which has no file */
	bool has_lines;    /* as lines of JSON, too, or only */
	/* rows this format cannot hold (a counter that is not a number) or has no need of (one that
	 * stays as it is), or that the views hide */
	uint64_t left_out;
	int64_t zero_time_ns; /* of a trace: since the Unix epoch, where its times begin */
	uint64_t arrows;      /* of a trace: arrows drawn */
	uint64_t arrows_left_out[N_ARROW_CAUSES]; /* and not drawn */
	uint64_t arrows_expected;                 /* both, of a trace of all processes */
	uint64_t replaced_bytes; /* bytes of names that are no UTF-8, written as U+FFFD */
	uint64_t expected;       /* rows of the tables behind the file; = rows + left_out */
	bool has_classes;        /* `by_class` adds up to `rows`; else it is all 0 */
	uint64_t by_class[RECORD_CLASS_COUNT];
	uint64_t left_out_by_class[RECORD_CLASS_COUNT]; /* adds up to `left_out` */
	const char *title, *what;                       /* weak: of a table, from its result_file */
	char *columns; /* owned: a table's as a JSON list, from column_save(); NULL = it is none */
	struct text_list beside; /* owned: paths of further files that were written with it */
	char *captured; /* owned: its first rows as JSON lists, with commas between; NULL = none */
};

static inline void file_count_row(struct file_count *count, enum record_class class)
{
	count->rows++;
	count->by_class[class]++;
}

/* Where the rows of a table go. */
struct row_sink {
	void (*begin)(struct row_sink *sink); /* a heading */
	void (*put)(struct row_sink *sink, const void *row);
	const struct timeline *timeline; /* weak, both: what rows are about */
	const struct column *columns;
	uint32_t n_columns;
	const char *const *instead; /* weak: by column, what stands there as another tool wrote it;
	                             * NULL: nothing does */
	struct file_count *count;   /* weak */
};

/* Begins a table of its own columns; one whose columns are known has begun. */
static inline void row_begin(struct row_sink *sink, const struct column *columns,
                             uint32_t n_columns)
{
	sink->columns = columns;
	sink->n_columns = n_columns;
	sink->begin(sink);
}

static inline void row_put(struct row_sink *sink, const void *row)
{
	sink->put(sink, row);
	sink->count->rows++;
}

struct findings;

/* A table that is found in a timeline. */
struct column_table {
	const struct column *columns; /* NULL: `fill` finds them, too, and begins the table */
	uint32_t n_columns;

	/* Finds the rows and puts them. FLEXTRACE_E_MEMORY or 0. */
	int (*fill)(const struct findings *findings, struct row_sink *sink);
};

#define COLUMN_TABLE(columns, fill)               \
	{                                         \
		columns, N_COLUMNS(columns), fill \
	}

struct text_sink;

/* Who takes lines of a table that is written by who knows it, one by one. */
struct line_sink {
	struct writer line; /* memory */
	void (*take)(struct text_sink *sink);
};

/* Where a file goes whose writer knows what stands in it. */
struct text_sink {
	struct writer writer;
	struct line_sink *lines; /* weak: takes each line instead, whole; NULL: nobody does */
	const char *dir;         /* weak, all: where the file is */
	struct flextrace_error *error;
	struct file_count *count; /* to be filled; what `rows` are, is the file's */
};

/* The folder of an output directory that has its tables, in whatever form. */
#define TABLES_DIR "tables"

/* A file that is found in a timeline: a table, or what `write` writes. It is not written where it
 * has no row. */
struct result_file {
	const char *name; /* "kernels.csv" */
	const char *title,
		*what; /* of a table, for people: in a few words; definition and formula */
	struct column_table table; /* its columns even where `write` writes it */

	/* FLEXTRACE_E_MEMORY, or what else was told in `error`, or 0. */
	int (*write)(const struct findings *findings, struct text_sink *sink);

	bool is_on_top; /* no table of ours: beside run.json, and written also without a row */
};

#endif
