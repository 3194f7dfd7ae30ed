/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "select_impl.h"
#include "base/text/digits.h"

/* Of a moment; behind the first row: the sum of both stays in 64 bits. */
#define MAX_NS          (INT64_MAX / 2)
#define MAX_RELATIVE_NS (INT64_MAX / 4)

/* -- lists of numbers ----------------------------------------------------------------------- */

static bool read_range(const char **at, struct number_range *ret_range)
{
	if (!digits_take(at, UINT64_MAX, &ret_range->first))
		return false;
	ret_range->last = ret_range->first;
	if (**at != '-')
		return true;
	++*at;
	return digits_take(at, UINT64_MAX, &ret_range->last) && ret_range->last >= ret_range->first;
}

static int read_numbers(struct number_list *list, const char *option, const char *text,
                        struct flextrace_error *error)
{
	for (const char *at = text; at; at++) {
		FLEXTRACE_TRY(ARRAY_ROOM(list->ranges, list->n));
		if (!read_range(&at, &list->ranges[list->n]) || (*at && *at != ','))
			return error_set(error, FLEXTRACE_E_USAGE,
			                 "Option `%s` takes numbers and ranges, as 0,2-5: value=%s",
			                 option, text);
		list->n++;
		if (!*at)
			return FLEXTRACE_OK;
	}
	return FLEXTRACE_OK;
}

bool number_list_has(const struct number_list *list, uint64_t number)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (number >= list->ranges[i].first && number <= list->ranges[i].last)
			return true;
	}
	return !list->n;
}

/* -- times ---------------------------------------------------------------------------------- */

static double unit_ns(const char *unit)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(unit, units[i].name) == 0)
			return units[i].ns;
	}
	return NAN;
}

/* Empty: not set. */
static bool read_moment(const char *text, struct moment *ret_moment)
{
	double number, ns;
	char *end;

	*ret_moment = (struct moment){.is_set = text[0], .is_relative = text[0] == '+'};
	if (!text[0])
		return true;
	errno = 0;
	if (!ret_moment->is_relative) {
		ret_moment->ns = strtoll(text, &end, 10);
		return !errno && end != text && !*end && llabs(ret_moment->ns) < MAX_NS;
	}
	if (!isdigit((unsigned char)text[1]))
		return false;
	number = strtod(text + 1, &end);
	ns = number * unit_ns(end);
	ret_moment->ns = ns < (double)MAX_RELATIVE_NS ? llround(ns) : 0;
	return ns < (double)MAX_RELATIVE_NS;
}

static int read_time_range(struct criteria *criteria, const char *text,
                           struct flextrace_error *error)
{
	char *from = text ? strdup(text) : NULL, *to;
	bool is_good;

	if (!text)
		return FLEXTRACE_OK;
	if (!from)
		return FLEXTRACE_E_MEMORY;
	to = strchr(from, ',');
	if (to)
		*to++ = '\0';
	is_good = to && read_moment(from, &criteria->from) && read_moment(to, &criteria->to);
	free(from);
	if (is_good)
		return FLEXTRACE_OK;
	return error_set(error, FLEXTRACE_E_USAGE,
	                 "Option `time-range` takes FROM,TO in ns, or +TIME since the start with a "
	                 "unit (ns, us, ms, s): value=%s",
	                 text);
}

/* -- conditions ----------------------------------------------------------------------------- */

static struct condition *add_condition(struct criteria *criteria, uint32_t attribute, bool is_drop)
{
	struct condition *condition;

	if (ARRAY_ROOM(criteria->conditions, criteria->n_conditions) < 0)
		return NULL;
	condition = &criteria->conditions[criteria->n_conditions];
	*condition = (struct condition){.attribute = attribute, .is_drop = is_drop};
	return condition;
}

static int compile(struct criteria *criteria, struct condition *condition, const char *regex,
                   struct flextrace_error *error)
{
	int code = regcomp(&condition->regex, regex, REG_EXTENDED | REG_NOSUB);
	char reason[128];

	if (code == 0) {
		criteria->n_conditions++;
		return FLEXTRACE_OK;
	}
	regerror(code, &condition->regex, reason, sizeof(reason));
	return error_set(error, FLEXTRACE_E_USAGE, "Not a regular expression: value=%s, reason=%s",
	                 regex, reason);
}

static int read_condition(struct criteria *criteria, const char *text, bool is_drop,
                          struct flextrace_error *error)
{
	const char *colon = strchr(text, ':');
	uint32_t attribute = FLEXTRACE_NONE;
	struct condition *condition;

	if (colon)
		attribute = attribute_find(text, (size_t)(colon - text));
	if (attribute == FLEXTRACE_NONE) {
		error_set(error, FLEXTRACE_E_USAGE,
		          "Option `%s` takes ATTRIBUTE:REGEX: value=%.100s, attributes=",
		          is_drop ? "drop" : "keep", text);
		attribute_list(error);
		return FLEXTRACE_E_USAGE;
	}
	condition = add_condition(criteria, attribute, is_drop);
	if (!condition)
		return FLEXTRACE_E_MEMORY;
	return compile(criteria, condition, colon + 1, error);
}

static int add_globals(struct criteria *criteria)
{
	struct condition *condition = add_condition(criteria,
	                                            attribute_find("name", strlen("name")), true);

	if (!condition)
		return FLEXTRACE_E_MEMORY;
	condition->is_global = true;
	criteria->n_conditions++;
	return FLEXTRACE_OK;
}

/* -- all of it ------------------------------------------------------------------------------ */

static int read_all(struct criteria *criteria, const struct select_options *options,
                    struct flextrace_error *error)
{
	FLEXTRACE_TRY(read_numbers(&criteria->ranks, "ranks", options->ranks, error));
	FLEXTRACE_TRY(read_numbers(&criteria->jobs, "jobs", options->jobs, error));
	FLEXTRACE_TRY(read_time_range(criteria, options->time_range, error));
	for (uint32_t i = 0; i < options->keep.n; i++)
		FLEXTRACE_TRY(read_condition(criteria, options->keep.texts[i], false, error));
	for (uint32_t i = 0; i < options->drop.n; i++)
		FLEXTRACE_TRY(read_condition(criteria, options->drop.texts[i], true, error));
	return options->drop_globals ? add_globals(criteria) : FLEXTRACE_OK;
}

int criteria_read(struct criteria *criteria, const struct select_options *options,
                  struct flextrace_error *error)
{
	struct flextrace_error cause = {0};
	int code;

	*criteria = (struct criteria){
		.skip = (uint64_t)options->skip,
		.count = options->count ? (uint64_t)options->count : UINT64_MAX,
	};
	code = read_all(criteria, options, &cause);
	if (code < 0)
		error_set(error, code, "%s", cause.message[0] ? cause.message : "Out of memory");
	return code;
}

void criteria_release(struct criteria *criteria)
{
	for (uint32_t i = 0; i < criteria->n_conditions; i++) {
		if (!criteria->conditions[i].is_global)
			regfree(&criteria->conditions[i].regex);
		free(criteria->conditions[i].known);
	}
	free(criteria->conditions);
	free(criteria->ranks.ranges);
	free(criteria->jobs.ranges);
	*criteria = (struct criteria){.n_conditions = 0};
}

int select_check(const struct select_options *options, struct flextrace_error *error)
{
	struct criteria criteria;
	int code = criteria_read(&criteria, options, error);

	criteria_release(&criteria);
	return code;
}
