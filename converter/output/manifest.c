// SPDX-License-Identifier: Apache-2.0
/*
 * manifest.c: perfetto_manifest.json, by which Perfetto shows the files of ranks as one timeline.
 *
 * Times are aligned when files are written. Those of pftrace are on REALTIME, which is one clock
 * for Perfetto whatever the machine. Those of JSON have no clock: the manifest tells where on
 * REALTIME they begin.
 *
 * A machine is a host. Files of JSON number devices by rank, and so each is a machine of its own.
 *
 * Source of the format: "Trace manifest format" in Perfetto's documentation.
 */
#include "output/emit_work.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/text/json_item.h"
#include "model/identity/identity.h"
#include "output/place.h"
#include "output/view.h"

#define MANIFEST_FILE "perfetto_manifest.json"

static char *machine_of_json(const struct job *job, const char *host)
{
	const char *which = strchr(job->name, '.') + 1;
	int n = (int)strcspn(which, ".");
	char *name;

	if (asprintf(&name, "%.*s%s%s", n, which, *host ? " on " : "", host) < 0)
		return NULL;
	return name;
}

static void add_machine(cJSON *file, const struct work *work, const struct job *job)
{
	const struct timeline *timeline = work->findings->timeline;
	uint32_t string = timeline->identity->processes[job->process].host;
	const char *host = string ? string_get(timeline->strings, string) : "";
	char *name = job->write == emit_chrome ? machine_of_json(job, host) : strdup(host);

	if (!name || *name)
		json_item_add(json_item_add_object(file, "machine"), "name",
		              name ? json_item_of_text(name) : NULL);
	free(name);
}

static cJSON *add_reference(cJSON *object, const char *key, const char *file)
{
	cJSON *reference = json_item_add_object(object, key);

	json_item_add_text(reference, "clock", "REALTIME");
	json_item_add_text(reference, "file", file);
	return reference;
}

/* A number, which Perfetto wants, of whatever size: a whole second, which doubles hold. It drops
 * what is before the epoch, where files without a clock begin, the names of processes with it. */
static void add_offset(cJSON *clocks, int64_t offset_ns)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRId64, offset_ns > 0 ? offset_ns : 0);
	json_item_add(clocks, "offset_ns", cJSON_CreateRaw(digits));
}

/* Perfetto draws no arrow from one member to another. */
static uint64_t count_arrows_between(const struct findings *findings)
{
	const struct view view = {.timeline = findings->timeline,
	                          .identity = findings->timeline->identity};
	uint64_t n = 0;

	TABLE_EACH(struct flow, flow, findings->flows)
		n += view_track_process(&view, flow->from_track) !=
		     view_track_process(&view, flow->to_track);
	return n;
}

static void add_attributes(cJSON *manifest, const struct findings *findings)
{
	const struct ledger *ledger = findings->timeline->ledger;
	cJSON *attributes = json_item_add_object(manifest, "attributes");
	uint64_t n_lost = 0;

	for (int cause = 0; cause < LOSS_CAUSE_COUNT; cause++)
		n_lost += ledger_is_loss(cause) ? ledger_total(ledger, cause) : 0;
	json_item_add_text(attributes, "flextrace.version", FLEXTRACE_VERSION);
	json_item_add_u64(attributes, "flextrace.lost_records", n_lost);
	json_item_add_u64(attributes, "flextrace.arrows_between_ranks",
	                  count_arrows_between(findings));
}

static cJSON *describe(const struct work *work)
{
	cJSON *root = cJSON_CreateObject();
	cJSON *manifest = json_item_add_object(root, "perfetto_manifest");
	const char *first = NULL;
	cJSON *files;

	json_item_add_u64(manifest, "version", 1);
	files = json_item_add_list(manifest, "files");
	for (uint32_t i = 0; i < work->n_jobs; i++) {
		const struct job *job = &work->jobs[i];
		cJSON *file, *clocks;

		if (!job->is_member)
			continue;
		first = first ? first : job->name;
		file = cJSON_CreateObject();
		json_item_add_text(file, "path", job->name);
		add_machine(file, work, job);
		if (job->write == emit_chrome) {
			clocks = json_item_add_object(file, "clocks");
			add_reference(clocks, "sync_to", first);
			add_offset(clocks, work->counts[i].zero_time_ns);
		}
		json_item_append(files, file);
	}
	if (first)
		add_reference(manifest, "trace_time", first);
	add_attributes(manifest, work->findings);
	return root;
}

int manifest_write(struct work *work, const struct emit_options *options,
                   struct flextrace_error *error)
{
	cJSON *root = describe(work);
	char *document = cJSON_Print(root);
	struct writer writer;
	int code;

	cJSON_Delete(root);
	if (!document)
		return error_memory(error);
	code = place_open(&writer, options, MANIFEST_FILE, error);
	if (code == 0) {
		writer_raw(&writer, document);
		code = writer_close(&writer, error);
	}
	cJSON_free(document);
	return code;
}
