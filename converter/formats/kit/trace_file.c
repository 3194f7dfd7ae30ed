// SPDX-License-Identifier: Apache-2.0
#include "trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#define PACKED_BYTES     ((size_t)64 << 10)
#define ROOM_LIMIT_BYTES ((uInt)1 << 30)
#define GZIP_MAGIC       "\x1f\x8b"
#define GZIP_ONLY_WBITS  (15 + 16)

struct trace_file {
	char *path; /* owned */
	z_stream inflater;
	int fd; /* owned */
	bool is_gzip, is_in_member, is_damaged;
	char *at, *end; /* weak; what of `packed` is not used yet */
	char packed[PACKED_BYTES];
};

static int64_t read_some(struct trace_file *file, char *bytes, size_t n_bytes,
                         struct flextrace_error *error)
{
	ssize_t n;

	do
		n = read(file->fd, bytes, n_bytes);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return error_set(error, FLEXTRACE_E_SYSTEM, "Cannot read: file=%s, cause=%s",
		                 file->path, strerror(errno));
	return n;
}

/* Reads behind what is left of `packed`. */
static int64_t refill(struct trace_file *file, struct flextrace_error *error)
{
	size_t n_left = (size_t)(file->end - file->at);
	int64_t n;

	memmove(file->packed, file->at, n_left);
	file->at = file->packed;
	file->end = file->packed + n_left;
	n = read_some(file, file->end, PACKED_BYTES - n_left, error);
	if (n > 0)
		file->end += n;
	return n;
}

/* Holds at least `n_bytes`, unless the file ends. */
static int64_t look_ahead(struct trace_file *file, size_t n_bytes, struct flextrace_error *error)
{
	int64_t n = 1;

	while (n > 0 && (size_t)(file->end - file->at) < n_bytes)
		n = refill(file, error);
	return n < 0 ? n : file->end - file->at;
}

static int start(struct trace_file *file, const char *path, struct flextrace_error *error)
{
	int64_t n;

	file->path = strdup(path);
	if (!file->path)
		return error_set(error, FLEXTRACE_E_MEMORY, "No memory: file=%s", path);
	file->at = file->end = file->packed;
	file->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (file->fd < 0)
		return error_set(error, FLEXTRACE_E_INPUT, "Cannot open: file=%s, cause=%s", path,
		                 strerror(errno));
	n = look_ahead(file, 2, error);
	if (n < 0) { /* a directory, for one */
		if (error)
			error->code = FLEXTRACE_E_INPUT;
		return FLEXTRACE_E_INPUT;
	}
	file->is_gzip = n >= 2 && !memcmp(file->at, GZIP_MAGIC, 2);
	if (file->is_gzip && inflateInit2(&file->inflater, GZIP_ONLY_WBITS) != Z_OK) {
		file->is_gzip = false; /* nothing to end */
		return error_set(error, FLEXTRACE_E_MEMORY, "No memory: file=%s", path);
	}
	file->is_in_member = file->is_gzip;
	return FLEXTRACE_OK;
}

struct trace_file *trace_file_open(const char *path, struct flextrace_error *error)
{
	struct trace_file *file = calloc(1, sizeof(*file));

	if (!file) {
		error_set(error, FLEXTRACE_E_MEMORY, "No memory: file=%s", path);
		return NULL;
	}
	file->fd = -1;
	if (start(file, path, error) < 0) {
		trace_file_close(file);
		return NULL;
	}
	return file;
}

static int64_t read_plain(struct trace_file *file, char *bytes, size_t n_bytes,
                          struct flextrace_error *error)
{
	size_t n_left = (size_t)(file->end - file->at);

	if (!n_left)
		return read_some(file, bytes, n_bytes, error);
	n_left = n_left < n_bytes ? n_left : n_bytes;
	memcpy(bytes, file->at, n_left);
	file->at += n_left;
	return (int64_t)n_left;
}

/* Inflates into what room there is; 0: the end of the file. */
static int64_t inflate_some(struct trace_file *file, struct flextrace_error *error)
{
	z_stream *inflater = &file->inflater;
	int64_t n = look_ahead(file, 1, error);
	int code;

	if (n < 0 || (n == 0 && !file->is_in_member))
		return n;
	if (!file->is_in_member) {
		if (!*file->at) { /* padding behind a member */
			file->at++;
			return 1;
		}
		inflateReset(inflater);
		file->is_in_member = true;
	}
	inflater->next_in = (Bytef *)file->at;
	inflater->avail_in = (uInt)(file->end - file->at);
	code = n ? inflate(inflater, Z_NO_FLUSH) : Z_DATA_ERROR;
	file->at = (char *)inflater->next_in;
	file->is_in_member = code != Z_STREAM_END;
	file->is_damaged = code != Z_STREAM_END && code != Z_OK;
	return 1;
}

static int64_t read_gzip(struct trace_file *file, char *bytes, size_t n_bytes,
                         struct flextrace_error *error)
{
	uInt n_room = n_bytes < ROOM_LIMIT_BYTES ? (uInt)n_bytes : ROOM_LIMIT_BYTES;
	int64_t n = 1;

	file->inflater.next_out = (Bytef *)bytes;
	file->inflater.avail_out = n_room;
	while (n > 0 && file->inflater.avail_out && !file->is_damaged)
		n = inflate_some(file, error);
	if (n < 0)
		return n;
	if (file->is_damaged && file->inflater.avail_out == n_room)
		return error_set(error, FLEXTRACE_E_INPUT, "Damaged gzip stream: file=%s",
		                 file->path);
	return n_room - file->inflater.avail_out;
}

int64_t trace_file_read(void *context, char *bytes, size_t n_bytes, struct flextrace_error *error)
{
	struct trace_file *file = context;

	return file->is_gzip ? read_gzip(file, bytes, n_bytes, error)
	                     : read_plain(file, bytes, n_bytes, error);
}

bool trace_file_is_packed(const struct trace_file *file)
{
	return file->is_gzip;
}

void trace_file_close(struct trace_file *file)
{
	if (!file)
		return;
	if (file->is_gzip)
		inflateEnd(&file->inflater);
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
	free(file);
}
