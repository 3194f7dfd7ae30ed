// SPDX-License-Identifier: Apache-2.0
#include "archive.h"

#include <errno.h>
#include <stdlib.h>
#include <zip.h>

#include "base/paths.h"

#define LEVEL 3 /* as of gzip files (writer.c) */

/* 1980-01-01, the first day that a ZIP file knows. */
#define NO_DATE 0x00210000

/* -- the file as minizip sees it --------------------------------------------------------------- */

static void *open_file(void *archive, const void *name, int mode)
{
	(void)name, (void)mode;
	return archive;
}

static uLong write_file(void *context, void *stream, const void *bytes, uLong n)
{
	struct archive *archive = context;

	(void)stream;
	writer_append(&archive->file, bytes, n);
	archive->offset += n;
	return writer_failed(&archive->file) ? 0 : n;
}

static uLong read_nothing(void *context, void *stream, void *bytes, uLong n)
{
	(void)context, (void)stream, (void)bytes, (void)n;
	return 0;
}

static ZPOS64_T tell_offset(void *context, void *stream)
{
	(void)stream;
	return ((struct archive *)context)->offset;
}

/* Goes back to the head of a member, when its sizes are known, and forward again. */
static long seek_file(void *context, void *stream, ZPOS64_T offset, int origin)
{
	struct archive *archive = context;

	(void)stream;
	if (origin != ZLIB_FILEFUNC_SEEK_SET)
		return -1;
	writer_seek(&archive->file, offset);
	archive->offset = offset;
	return writer_failed(&archive->file) ? -1 : 0;
}

static int tell_failure(void *context, void *stream)
{
	(void)stream;
	return writer_failed(&((struct archive *)context)->file);
}

static int close_nothing(void *context, void *stream)
{
	(void)context, (void)stream;
	return 0;
}

/* -- members ----------------------------------------------------------------------------------- */

/* The errno of what minizip returned. */
static int cause_of(const struct archive *archive, int code)
{
	if (code == ZIP_OK)
		return 0;
	return writer_failed(&archive->file) ? archive->file.failure : ENOMEM;
}

static int put_bytes(struct writer_target *target, const void *bytes, size_t n)
{
	struct archive *archive = (struct archive *)target;

	return cause_of(archive, zipWriteInFileInZip(archive->zip, bytes, (unsigned)n));
}

static int close_member(struct writer_target *target)
{
	struct archive *archive = (struct archive *)target;

	return cause_of(archive, zipCloseFileInZip(archive->zip));
}

static int refuse(const struct archive *archive, int cause, struct flextrace_error *error)
{
	return error_set(error, cause == ENOMEM ? FLEXTRACE_E_MEMORY : FLEXTRACE_E_OUTPUT,
	                 "Cannot write output file: path=%s, reason=%s", archive->file.path,
	                 strerror(cause));
}

int archive_open_member(struct archive *archive, struct writer *writer, const char *name,
                        struct flextrace_error *error)
{
	const zip_fileinfo info = {.dosDate = NO_DATE};
	bool gzip = name_is_gzip(name);
	int cause = cause_of(archive,
	                     zipOpenNewFileInZip64(archive->zip, name, &info, NULL, 0, NULL, 0,
	                                           NULL, gzip ? 0 : Z_DEFLATED, LEVEL, 1));

	if (cause)
		return refuse(archive, cause, error);
	return writer_open_target(writer, &archive->target, archive->file.path, gzip, error);
}

int archive_add_file(struct archive *archive, const char *dir, const char *name,
                     struct flextrace_error *error)
{
	FILE *from = fopen(path_of(dir, name).text, "re");
	struct writer writer;
	char bytes[16384];
	size_t n;
	int code;

	if (!from)
		return error_set(error, FLEXTRACE_E_OUTPUT,
		                 "Cannot read output file: path=%s/%s, reason=%s", dir, name,
		                 strerror(errno));
	code = archive_open_member(archive, &writer, name, error);
	while (code == 0 && (n = fread(bytes, 1, sizeof(bytes), from)) > 0)
		writer_append(&writer, bytes, n);
	if (code == 0 && ferror(from))
		writer.failure = EIO;
	if (code == 0)
		code = writer_close(&writer, error);
	fclose(from);
	return code;
}

/* -- the archive ------------------------------------------------------------------------------- */

bool archive_is_built(void)
{
	return true;
}

int archive_open(struct archive *archive, const char *dir, const char *name,
                 struct flextrace_error *error)
{
	zlib_filefunc64_def functions = {
		.zopen64_file = open_file,
		.zread_file = read_nothing,
		.zwrite_file = write_file,
		.ztell64_file = tell_offset,
		.zseek64_file = seek_file,
		.zclose_file = close_nothing,
		.zerror_file = tell_failure,
		.opaque = archive,
	};

	*archive = (struct archive){.target = {put_bytes, close_member}};
	FLEXTRACE_TRY(writer_open(&archive->file, dir, name, false, error));
	archive->zip = zipOpen2_64(name, APPEND_STATUS_CREATE, NULL, &functions);
	if (archive->zip)
		return 0;
	writer_abandon(&archive->file);
	return error_memory(error);
}

int archive_close(struct archive *archive, struct flextrace_error *error)
{
	int cause = cause_of(archive, zipClose(archive->zip, NULL));

	archive->zip = NULL;
	if (cause && !writer_failed(&archive->file))
		archive->file.failure = cause;
	return writer_close(&archive->file, error);
}

void archive_abandon(struct archive *archive)
{
	if (!archive->zip)
		return;
	zipClose(archive->zip, NULL);
	archive->zip = NULL;
	writer_abandon(&archive->file);
}
