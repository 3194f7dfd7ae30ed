// SPDX-License-Identifier: Apache-2.0
/* members.c: which files go into the archive, and when. */
#include "output/emit_work.h"

#include "output/run_json.h"

static int write_members(struct work *work)
{
	struct emit_options options = *work->options;
	bool has_all = options.archive == ARCHIVE_ALL;

	FLEXTRACE_TRY(archive_open(&work->archive, options.output_dir,
	                           has_all ? ARCHIVE_ALL_FILE : ARCHIVE_RANKS_FILE,
	                           &work->archive_error));
	options.to = &work->archive;
	for (uint32_t i = 0; i < work->n_jobs && !atomic_load(&work->has_failed); i++) {
		struct job *job = &work->jobs[i];

		if (!job->is_member)
			continue;
		FLEXTRACE_TRY(job->write(work->findings, &options, job->process, job->name,
		                         &work->counts[i], &work->archive_error));
		if (!has_all)
			work->counts[i].file = job->other;
	}
	return has_all ? FLEXTRACE_OK : manifest_write(work, &options, &work->archive_error);
}

void members_write(struct work *work)
{
	work->archive_code = write_members(work);
	if (work->archive_code < 0)
		atomic_store(&work->has_failed, true);
}

static int add_files(struct work *work, const struct file_count *count,
                     struct flextrace_error *error)
{
	const char *const files[] = {count->file, count->other};
	const char *dir = work->options->output_dir;

	if (count->is_absent)
		return FLEXTRACE_OK;
	for (size_t i = 0; i < 2 && files[i]; i++)
		FLEXTRACE_TRY(archive_add_file(&work->archive, dir, files[i], error));
	for (uint32_t i = 0; i < count->beside.n; i++)
		FLEXTRACE_TRY(archive_add_file(&work->archive, dir, count->beside.texts[i], error));
	return FLEXTRACE_OK;
}

static int add_all(struct work *work, uint32_t n_counts, struct flextrace_error *error)
{
	struct emit_options options = *work->options;

	for (uint32_t i = 0; i < n_counts; i++) {
		if (i >= work->n_jobs || !work->jobs[i].is_member)
			FLEXTRACE_TRY(add_files(work, &work->counts[i], error));
	}
	options.to = &work->archive;
	return run_json_write(work->findings, &options, work->counts, n_counts, error);
}

int members_finish(struct work *work, uint32_t n_counts, struct flextrace_error *error)
{
	if (run_json_check(work->findings->timeline, work->counts, n_counts, NULL) < 0)
		return FLEXTRACE_OK;
	if (work->options->archive == ARCHIVE_ALL)
		FLEXTRACE_TRY(add_all(work, n_counts, error));
	return archive_close(&work->archive, error);
}
