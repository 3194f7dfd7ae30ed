// SPDX-License-Identifier: Apache-2.0
/*
 * writer.c: the file below the formats: buffer, temporary name, gzip. What is appended:
 * writer_text.c.
 */
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#define BUFFER_BYTES ((size_t)256 << 10)
#define GZIP_BYTES   ((size_t)128 << 10)

/* Level 6 takes twice the time for a quarter fewer bytes (trace.json of 3 M host rows). */
#define GZIP_LEVEL       3
#define GZIP_WINDOW_BITS (15 + 16) /* 16 = with a gzip header, whose time stays 0 */

struct writer_gzip {
	z_stream stream;
	unsigned char out[GZIP_BYTES];
};

static void release(struct writer *writer)
{
	if (writer->gzip)
		deflateEnd(&writer->gzip->stream);
	free(writer->gzip);
	free(writer->buffer);
	free(writer->path);
	free(writer->tmp_path);
	if (writer->fd >= 0)
		close(writer->fd);
	*writer = (struct writer){.fd = -1};
}

static struct writer_gzip *gzip_new(void)
{
	struct writer_gzip *gzip = calloc(1, sizeof(*gzip));

	if (!gzip)
		return NULL;
	if (deflateInit2(&gzip->stream, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW_BITS, 8,
	                 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(gzip);
		return NULL;
	}
	return gzip;
}

/* Creates a file that nobody else has, in place of whatever stands there: what a killed conversion
 * left, or what somebody planted so as to read along. */
static int create(const char *path)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
	int fd = open(path, flags, 0600);

	if (fd < 0 && errno == EEXIST) {
		unlink(path);
		fd = open(path, flags, 0600);
	}
	return fd;
}

static int open_buffer(struct writer *writer, bool gzip)
{
	*writer = (struct writer){.fd = -1};
	writer->buffer = malloc(BUFFER_BYTES);
	if (gzip)
		writer->gzip = gzip_new();
	if (!writer->buffer || (gzip && !writer->gzip)) {
		release(writer);
		return FLEXTRACE_E_MEMORY;
	}
	writer->at = writer->buffer;
	writer->end = writer->buffer + BUFFER_BYTES;
	return 0;
}

static int refuse_memory(const char *name, struct flextrace_error *error)
{
	return error_set(error, FLEXTRACE_E_MEMORY, "Cannot open output file: name=%s", name);
}

int writer_open(struct writer *writer, const char *dir, const char *name, bool gzip,
                struct flextrace_error *error)
{
	char *path, *tmp_path;
	int cause;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		path = NULL;
	if (asprintf(&tmp_path, "%s/%s.tmp", dir, name) < 0)
		tmp_path = NULL;
	if (!path || !tmp_path || open_buffer(writer, gzip) < 0) {
		free(path);
		free(tmp_path);
		return refuse_memory(name, error);
	}
	writer->path = path;
	writer->tmp_path = tmp_path;
	writer->fd = create(writer->tmp_path);
	if (writer->fd >= 0)
		return 0;
	cause = errno;
	error_set(error, FLEXTRACE_E_OUTPUT, "Cannot create output file: path=%s, reason=%s",
	          writer->tmp_path, strerror(cause));
	release(writer);
	return FLEXTRACE_E_OUTPUT;
}

int writer_open_target(struct writer *writer, struct writer_target *target, const char *path,
                       bool gzip, struct flextrace_error *error)
{
	char *copy = strdup(path);

	if (!copy || open_buffer(writer, gzip) < 0) {
		free(copy);
		return refuse_memory(path, error);
	}
	writer->path = copy;
	writer->target = target;
	return 0;
}

void writer_open_memory(struct writer *writer)
{
	*writer = (struct writer){.fd = -1};
}

/* A writer without a file doubles its buffer, and so does one whose line has no room in it. */
static bool grow_buffer(struct writer *writer, size_t n_more)
{
	size_t used = (size_t)(writer->at - writer->buffer);
	size_t n_bytes = 2 * (size_t)(writer->end - writer->buffer);
	char *buffer;

	if (n_bytes < used + n_more)
		n_bytes = used + n_more + 256;
	buffer = realloc(writer->buffer, n_bytes);
	if (!buffer) {
		writer->failure = ENOMEM;
		return false;
	}
	writer->buffer = buffer;
	writer->at = buffer + used;
	writer->end = buffer + n_bytes;
	return true;
}

static void write_out(struct writer *writer, const void *bytes, size_t n)
{
	const char *at = bytes;

	if (writer->target && !writer->failure) {
		writer->failure = writer->target->put(writer->target, bytes, n);
		return;
	}
	while (n > 0 && !writer->failure) {
		ssize_t written = write(writer->fd, at, n);

		if (written > 0) {
			at += written;
			n -= (size_t)written;
		} else if (written == 0) {
			writer->failure = ENOSPC;
		} else if (errno != EINTR) {
			writer->failure = errno;
		}
	}
}

/* `flush` is Z_NO_FLUSH or, for the last bytes, Z_FINISH. */
static void deflate_out(struct writer *writer, const void *bytes, size_t n, int flush)
{
	z_stream *stream = &writer->gzip->stream;

	stream->next_in = (unsigned char *)bytes;
	stream->avail_in = (uInt)n;
	do {
		stream->next_out = writer->gzip->out;
		stream->avail_out = GZIP_BYTES;
		deflate(stream, flush);
		write_out(writer, writer->gzip->out, GZIP_BYTES - stream->avail_out);
	} while (stream->avail_out == 0 && !writer->failure);
}

static void flush_buffer(struct writer *writer, int flush)
{
	size_t n = (size_t)(writer->at - writer->buffer);

	if (writer->gzip)
		deflate_out(writer, writer->buffer, n, flush);
	else
		write_out(writer, writer->buffer, n);
	writer->at = writer->buffer;
}

bool writer_make_room(struct writer *writer, size_t n)
{
	if (writer->path)
		flush_buffer(writer, Z_NO_FLUSH);
	return (size_t)(writer->end - writer->at) >= n ||
	       (!writer->failure && grow_buffer(writer, n));
}

void writer_append_slowly(struct writer *writer, const void *bytes, size_t n)
{
	const char *from = bytes;

	if (!writer->path) {
		if (writer->failure || !grow_buffer(writer, n))
			return;
		memcpy(writer->at, from, n);
		writer->at += n;
		return;
	}
	while (n > 0) {
		size_t room = (size_t)(writer->end - writer->at);
		size_t part = n < room ? n : room;

		memcpy(writer->at, from, part);
		writer->at += part;
		from += part;
		n -= part;
		if (writer->at == writer->end)
			flush_buffer(writer, Z_NO_FLUSH);
	}
}

void writer_deflate(struct writer *writer, const void *bytes, size_t n)
{
	uLongf n_deflated = compressBound(n);
	char *at = writer_room(writer, n_deflated);

	if (!at)
		return;
	if (compress2((Bytef *)at, &n_deflated, bytes, n, GZIP_LEVEL) == Z_OK)
		writer->at = at + n_deflated;
	else
		writer->failure = ENOMEM;
}

void writer_seek(struct writer *writer, uint64_t offset)
{
	flush_buffer(writer, Z_NO_FLUSH);
	if (lseek(writer->fd, (off_t)offset, SEEK_SET) < 0 && !writer->failure)
		writer->failure = errno;
}

/* Gives the file its name. */
static void finish_file(struct writer *writer)
{
	if (close(writer->fd) != 0 && !writer->failure)
		writer->failure = errno;
	writer->fd = -1;
	if (!writer->failure && rename(writer->tmp_path, writer->path) != 0)
		writer->failure = errno;
	if (writer->failure)
		unlink(writer->tmp_path);
}

int writer_close(struct writer *writer, struct flextrace_error *error)
{
	int code = 0;

	flush_buffer(writer, Z_FINISH);
	if (!writer->target)
		finish_file(writer);
	else if (!writer->failure)
		writer->failure = writer->target->close(writer->target);
	if (writer->failure) {
		code = error_set(error, FLEXTRACE_E_OUTPUT,
		                 "Cannot write output file: path=%s, reason=%s", writer->path,
		                 strerror(writer->failure));
	}
	release(writer);
	return code;
}

void writer_abandon(struct writer *writer)
{
	if (writer->tmp_path)
		unlink(writer->tmp_path);
	release(writer);
}

int writer_print(struct writer *writer, FILE *to)
{
	int code = writer_failed(writer) ? FLEXTRACE_E_MEMORY : FLEXTRACE_OK;

	if (code == FLEXTRACE_OK && writer->at > writer->buffer)
		fwrite(writer->buffer, 1, (size_t)(writer->at - writer->buffer), to);
	writer_abandon(writer);
	return code;
}
