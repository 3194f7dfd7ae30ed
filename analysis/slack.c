/* SPDX-License-Identifier: Apache-2.0 */
/* slack.csv: how much longer device work could have taken without its step. See path.h. */
#include "analysis_impl.h"
#include "base/order.h"
#include "findings/path/path.h"
#include "findings/statistics/name_groups.h"

struct slack_group {
	struct group_key key; /* owner: position of the device */
	uint32_t device;      /* index */
	uint64_t calls, critical_calls;
	uint64_t critical_ns; /* how long calls without slack took; at most UINT64_MAX */
	uint64_t min_ns, mean_ns, max_ns;
	uint64_t sum_ns; /* at most UINT64_MAX */
};

struct groups {
	const struct findings *findings; /* weak */
	struct name_groups all;          /* struct slack_group */
	int code;
};

static const struct column columns[] = {
	COLUMNS_DEVICE(struct slack_group, device),
	COLUMN_NAMED("kind", struct slack_group, key.kind, path_kind_name),
	COLUMN_STRING("name", struct slack_group, key.name),
	COLUMN(struct slack_group, calls),
	COLUMN(struct slack_group, critical_calls),
	COLUMN(struct slack_group, critical_ns),
	COLUMN_AS("min_slack_ns", struct slack_group, min_ns),
	COLUMN_AS("mean_slack_ns", struct slack_group, mean_ns),
	COLUMN_AS("max_slack_ns", struct slack_group, max_ns),
};

static void count(void *context, const struct path_slack *slack)
{
	struct groups *groups = context;
	const struct group_key key = {groups->findings->owners->device_positions[slack->device],
	                              slack->name, slack->kind, 0};
	uint64_t dur_ns = interval_ns(slack->start_time_ns, slack->end_time_ns);
	struct slack_group *group;
	uint32_t place;

	if (groups->code == FLEXTRACE_OK)
		groups->code = name_groups_find(&groups->all, &key, &place);
	if (groups->code < 0)
		return;
	group = name_groups_at(&groups->all, place);
	group->device = slack->device;
	if (!group->calls++ || slack->slack_ns < group->min_ns)
		group->min_ns = slack->slack_ns;
	if (slack->slack_ns > group->max_ns)
		group->max_ns = slack->slack_ns;
	group->sum_ns = spread_add(group->sum_ns, slack->slack_ns);
	group->critical_calls += !slack->slack_ns;
	group->critical_ns = spread_add(group->critical_ns, slack->slack_ns ? 0 : dur_ns);
}

static int compare(const void *left, const void *right, void *context)
{
	const struct groups *groups = context;
	const struct string_pool *strings = groups->findings->timeline->strings;
	const struct slack_group *a = name_groups_at(&groups->all, *(const uint32_t *)left);
	const struct slack_group *b = name_groups_at(&groups->all, *(const uint32_t *)right);

	return ORDER(a->key.owner, b->key.owner)
	               ?: ORDER(b->critical_ns, a->critical_ns)
	               ?: ORDER(a->min_ns, b->min_ns)
	               ?: string_compare(strings, a->key.name, b->key.name)
	               ?: ORDER(a->key.kind, b->key.kind);
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	struct groups groups = {.findings = findings};

	name_groups_init(&groups.all, sizeof(struct slack_group),
	                 findings->timeline->device_rows.n_rows);
	groups.code = path_slacks_find(findings, count, &groups) ?: groups.code;
	if (groups.code == FLEXTRACE_OK)
		groups.code = name_groups_sort(&groups.all, compare, &groups);
	for (uint32_t i = 0; groups.code == FLEXTRACE_OK && i < groups.all.n; i++) {
		struct slack_group *group = name_groups_line(&groups.all, i);

		group->mean_ns = (group->sum_ns + group->calls / 2) / group->calls;
		row_put(sink, group);
	}
	name_groups_release(&groups.all);
	return groups.code;
}

const struct analysis analysis_slack = {
	.name = "slack",
	.file = {.name = "slack.csv",
                 .title = "Slack of device work",
                 .what = "How much longer device work could have taken before the step that "
                         "launched it had taken longer, by name: work without slack is on the "
                         "critical path.",
                 .table = COLUMN_TABLE(columns, fill)},
	.is_on_demand = true,
};
