/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of a device log have changed six times; they are found by their names. Rows without a
 * type are of the first kind of log: their timer ids say what they are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/digits.h"
#include "tt_impl.h"

/* -- the header ------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	enum tt_column column;
} names[] = {
	{"PCIe slot", TT_SLOT},   {"core_x", TT_CORE_X},
	{"core_y", TT_CORE_Y},    {"RISC processor type", TT_RISC},
	{"timer_id", TT_TIMER},   {"time[cycles since reset]", TT_TIME},
	{"stat value", TT_DATA},  {"data", TT_DATA},
	{"Run ID", TT_RUN_ID},    {"run host ID", TT_RUN_HOST_ID},
	{"zone name", TT_ZONE},   {"zone phase", TT_TYPE},
	{"type", TT_TYPE},        {"source line", TT_LINE},
	{"source file", TT_FILE},
};

/* The first six are in every log; a row that has no more than these is good. */
static bool take_columns(struct tt_header *header, char *line)
{
	char *fields[TT_MAX_FIELDS];
	uint32_t n = tt_split(line, fields);

	memset(header->column, -1, sizeof(header->column));
	for (uint32_t i = 0; i < n; i++) {
		for (size_t j = 0; j < sizeof(names) / sizeof(*names); j++) {
			if (strcmp(fields[i], names[j].name) == 0)
				header->column[names[j].column] = (int8_t)i;
		}
	}
	header->n_fields = 0;
	for (int i = TT_SLOT; i <= TT_TIME; i++) {
		if (header->column[i] < 0)
			return false;
		if ((uint32_t)header->column[i] >= header->n_fields)
			header->n_fields = (uint32_t)header->column[i] + 1;
	}
	if (header->column[TT_TYPE] >= (int)header->n_fields)
		header->n_fields = (uint32_t)header->column[TT_TYPE] + 1;
	header->has_columns = true;
	return true;
}

/* 1 MHz to 10 GHz; else it is not known. */
static uint64_t hz_of(double value, double unit_hz)
{
	double hz = value * unit_hz;

	return hz >= 1e6 && hz <= 1e10 ? (uint64_t)(hz + 0.5) : 0;
}

/* "Chip clock is at 1.2 GHz", "Chip clock is at 1202 Mhz". */
static bool take_clock(struct tt_header *header, const char *line)
{
	static const char begin[] = "Chip clock is at ";
	const char *at = strstr(line, begin);
	char *end;
	double value;

	if (!at)
		return false;
	value = strtod(at + sizeof(begin) - 1, &end);
	end += strspn(end, " ");
	header->hz = hz_of(value, *end == 'M' ? 1e6 : 1e9);
	return true;
}

/* What tells the architecture and the rate in MHz may stand behind the rate in GHz. */
static bool take_chip(struct tt_header *header, const char *line)
{
	const char *arch = strstr(line, "ARCH:"), *at = strstr(line, "CHIP_FREQ[MHz]:");
	unsigned int n_cores = 0;
	size_t n;

	if (!arch || !at)
		return take_clock(header, line);
	header->hz = hz_of(strtod(at + strlen("CHIP_FREQ[MHz]:"), NULL), 1e6);
	arch += strlen("ARCH:");
	arch += strspn(arch, " ");
	n = strcspn(arch, ",; ");
	n = n < sizeof(header->arch) ? n : sizeof(header->arch) - 1;
	memcpy(header->arch, arch, n);
	header->arch[n] = '\0';
	at = strstr(line, "Max Compute Cores:");
	if (at && sscanf(at, "Max Compute Cores: %u", &n_cores) == 1)
		header->n_cores = n_cores;
	return true;
}

bool tt_header_take(struct tt_header *header, char *line)
{
	struct tt_header taken = *header;

	if (take_chip(&taken, line)) {
		*header = taken;
		return true;
	}
	if (!strstr(line, "PCIe slot") || !take_columns(&taken, line))
		return false;
	*header = taken;
	return true;
}

/* The columns of logs without a line that names them, by how many there are. */
static const struct {
	uint32_t n_fields;
	const char *behind; /* the first six */
} forms[] = {
	{6, ""},
	{12, ",stat value,Run ID,zone name,zone phase,source line,source file"},
	{13, ",data,run host ID,zone name,type,source line,source file,meta data"},
	{14, ",data,run ID,run host ID,zone name,type,source line,source file,meta data"},
	{15, ",data,run host ID,trace id,trace id counter,zone name,type,source line,source "
             "file,meta data"},
};

bool tt_header_guess(struct tt_header *header, const char *line)
{
	char text[512];
	uint32_t n_fields = 1;

	for (const char *at = strchr(line, ','); at; at = strchr(at + 1, ','))
		n_fields++;
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		if (forms[i].n_fields != n_fields)
			continue;
		snprintf(text, sizeof(text),
		         "PCIe slot,core_x,core_y,RISC processor type,timer_id,"
		         "time[cycles since reset]%s",
		         forms[i].behind);
		return take_columns(header, text);
	}
	return false;
}

/* -- a row ----------------------------------------------------------------------------------- */

static bool read_number(const char *text, uint64_t limit, uint64_t *ret)
{
	const char *end;

	return digits_read(text, &end, ret) && !*end && *ret < limit;
}

static const char *field(const struct tt_header *header, char **fields, uint32_t n,
                         enum tt_column column)
{
	int8_t at = header->column[column];

	return at >= 0 && (uint32_t)at < n ? fields[at] : "";
}

/* 1 FW start, 2 kernel start, 3 kernel end, 4 FW end, all else is the kernel's own. */
static uint8_t kind_of_timer(uint64_t timer)
{
	return timer >= 1 && timer <= 4 ? (uint8_t)(FLEXTRACE_WIRE_FW_START + timer - 1) : TT_MARK;
}

static uint8_t kind_of_edge(const char *zone, bool is_end)
{
	if (path_ends_with(zone, "-FW"))
		return is_end ? FLEXTRACE_WIRE_FW_END : FLEXTRACE_WIRE_FW_START;
	if (path_ends_with(zone, "-KERNEL"))
		return is_end ? FLEXTRACE_WIRE_KERNEL_END : FLEXTRACE_WIRE_KERNEL_START;
	return is_end ? TT_END : TT_BEGIN;
}

/* Stores the kind of a row; false: its type is not known. */
static bool read_kind(const char *type, struct tt_row *row)
{
	static const struct {
		const char *name;
		uint8_t kind;
	} types[] = {
		{"TS_EVENT", TT_MARK},  {"TS_DATA", TT_VALUE}, {"TS_DATA_16B", TT_VALUE},
		{"ZONE_TOTAL", TT_SUM}, {"sum", TT_SUM},       {"ZONE_START", TT_BEGIN},
		{"begin", TT_BEGIN},    {"ZONE_END", TT_END},  {"end", TT_END},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (strcmp(type, types[i].name) != 0)
			continue;
		row->kind = types[i].kind;
		if (row->kind == TT_BEGIN || row->kind == TT_END)
			row->kind = kind_of_edge(row->zone, row->kind == TT_END);
		return true;
	}
	return false;
}

static void read_extra(const struct tt_header *header, char **fields, uint32_t n,
                       struct tt_row *row)
{
	uint64_t line = 0;

	if (!read_number(field(header, fields, n, TT_RUN_HOST_ID), UINT64_MAX, &row->job) &&
	    !read_number(field(header, fields, n, TT_RUN_ID), UINT64_MAX, &row->job))
		row->job = 0;
	if (!read_number(field(header, fields, n, TT_DATA), UINT64_MAX, &row->data))
		row->data = 0;
	read_number(field(header, fields, n, TT_LINE), UINT32_MAX, &line);
	row->line = (uint32_t)line;
	row->zone = field(header, fields, n, TT_ZONE);
	row->file = field(header, fields, n, TT_FILE);
}

const char *tt_row_read(const struct tt_header *header, char *line, struct tt_row *ret_row)
{
	char *fields[TT_MAX_FIELDS];
	uint32_t n = tt_split(line, fields);
	uint64_t slot, x, y;

	*ret_row = (struct tt_row){.zone = "", .file = ""};
	if (n < header->n_fields)
		return "it has too few fields";
	if (!read_number(field(header, fields, n, TT_SLOT), UINT32_MAX, &slot) ||
	    !read_number(field(header, fields, n, TT_CORE_X), FLEXTRACE_CORE_STRIDE, &x) ||
	    !read_number(field(header, fields, n, TT_CORE_Y), FLEXTRACE_CORE_STRIDE, &y))
		return "its core is no number";
	if (!read_number(field(header, fields, n, TT_TIMER), UINT64_MAX, &ret_row->timer))
		return "its timer id is no number";
	if (!read_number(field(header, fields, n, TT_TIME), TT_TICKS_LIMIT, &ret_row->ticks))
		return "its time is no number of cycles";
	ret_row->slot = (uint32_t)slot;
	ret_row->core = (uint32_t)(y * FLEXTRACE_CORE_STRIDE + x);
	ret_row->risc = field(header, fields, n, TT_RISC);
	if (!*ret_row->risc)
		return "it has no RISC";
	if (header->column[TT_TYPE] < 0) {
		ret_row->kind = kind_of_timer(ret_row->timer);
		return NULL;
	}
	read_extra(header, fields, n, ret_row);
	return read_kind(field(header, fields, n, TT_TYPE), ret_row) ? NULL
	                                                             : "its type is not known";
}
