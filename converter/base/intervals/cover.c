/* SPDX-License-Identifier: Apache-2.0 */
#include "cover.h"

#include "base/array.h"

static uint64_t length_ns(int64_t start_ns, int64_t end_ns)
{
	return (uint64_t)end_ns - (uint64_t)start_ns;
}

int cover_add(struct cover *cover, int64_t start_ns, int64_t end_ns)
{
	struct cover_stretch *last = cover->n ? &cover->stretches[cover->n - 1] : NULL;
	struct cover_stretch stretch = {start_ns, end_ns, cover_total_ns(cover)};

	if (end_ns <= start_ns)
		return FLEXTRACE_OK;
	if (!last || start_ns > last->end_ns)
		return ARRAY_PUSH(cover->stretches, cover->n, stretch);
	if (end_ns > last->end_ns)
		last->end_ns = end_ns;
	return FLEXTRACE_OK;
}

uint64_t cover_total_ns(const struct cover *cover)
{
	const struct cover_stretch *last = cover->n ? &cover->stretches[cover->n - 1] : NULL;

	return last ? last->before_ns + length_ns(last->start_ns, last->end_ns) : 0;
}

static bool begins_before(const void *row, const void *key)
{
	const struct cover_stretch *stretch = row;
	const int64_t *time_ns = key;

	return stretch->start_ns < *time_ns;
}

/* How much is covered in front of a time. */
static uint64_t before_ns(const struct cover *cover, int64_t time_ns)
{
	uint32_t n = array_count_before(cover->stretches, cover->n, sizeof(*cover->stretches),
	                                begins_before, &time_ns);
	const struct cover_stretch *last;

	if (!n)
		return 0;
	last = &cover->stretches[n - 1];
	return last->before_ns +
	       length_ns(last->start_ns, time_ns < last->end_ns ? time_ns : last->end_ns);
}

uint64_t cover_ns(const struct cover *cover, int64_t start_ns, int64_t end_ns)
{
	return end_ns <= start_ns ? 0 : before_ns(cover, end_ns) - before_ns(cover, start_ns);
}

void cover_release(struct cover *cover)
{
	free(cover->stretches);
	*cover = (struct cover){0};
}
