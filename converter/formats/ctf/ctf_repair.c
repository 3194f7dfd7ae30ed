/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf_repair.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "torn.h"

#define VIEWS_PREFIX "flextrace-view-"
#define MAGIC        UINT32_C(0xC1FC1FC1)
#define HEADER_BYTES 64 /* of a packet, as far as the scan looks */

/* -- packets ----------------------------------------------------------------------------------- */

struct packet {
	uint64_t class_id, instance_id;
	uint64_t content_bytes, size_bytes;
	bool is_swapped;
};

/* Parses a packet's head; false: this is no packet of LTTng's layout. */
static bool parse_packet(const unsigned char *head, struct packet *ret_packet)
{
	bool swapped = ctf_load32(head, false) == __builtin_bswap32(MAGIC);
	uint64_t content_bits = ctf_load64(head + 48, swapped);
	uint64_t packet_bits = ctf_load64(head + 56, swapped);

	if (ctf_load32(head, swapped) != MAGIC || packet_bits % 8 || content_bits > packet_bits ||
	    content_bits < 8 * HEADER_BYTES)
		return false;
	ret_packet->class_id = ctf_load32(head + 20, swapped);
	ret_packet->instance_id = ctf_load64(head + 24, swapped);
	ret_packet->content_bytes = content_bits / 8;
	ret_packet->size_bytes = packet_bits / 8;
	ret_packet->is_swapped = swapped;
	return true;
}

/* Looks behind the content of a packet that stands at `offset`. */
static void count_torn(int fd, uint64_t offset, const struct packet *packet, struct ctf_file *file)
{
	unsigned char mark[sizeof(struct torn_mark)];
	uint64_t at = offset + packet->content_bytes;

	if (packet->size_bytes - packet->content_bytes < sizeof(mark) ||
	    pread(fd, mark, sizeof(mark), (off_t)at) != sizeof(mark) ||
	    ctf_load32(mark, packet->is_swapped) != TORN_MAGIC)
		return;
	file->n_torn++;
}

/* Whether a file that is shorter than a packet's head starts like one. */
static bool starts_like_packet(int fd, uint64_t size_bytes)
{
	uint32_t magic = MAGIC, swapped = __builtin_bswap32(MAGIC);
	unsigned char head[sizeof(magic)];
	size_t n = size_bytes < sizeof(head) ? (size_t)size_bytes : sizeof(head);

	if (!n || size_bytes >= HEADER_BYTES || pread(fd, head, n, 0) != (ssize_t)n)
		return false;
	return memcmp(head, &magic, n) == 0 || memcmp(head, &swapped, n) == 0;
}

/* Walks the packets of a file. False: it does not start with a packet that we understand. */
static bool walk_packets(int fd, struct ctf_file *file)
{
	unsigned char head[HEADER_BYTES];
	uint64_t offset = 0;
	struct packet packet;

	while (file->size_bytes - offset >= HEADER_BYTES) {
		if (pread(fd, head, sizeof(head), (off_t)offset) != HEADER_BYTES ||
		    !parse_packet(head, &packet))
			break;
		if (!file->has_stream) {
			file->has_stream = true;
			file->class_id = packet.class_id;
			file->instance_id = packet.instance_id;
		}
		if (packet.size_bytes > file->size_bytes - offset)
			break;
		count_torn(fd, offset, &packet, file);
		offset += packet.size_bytes;
	}
	if (!file->has_stream && !starts_like_packet(fd, file->size_bytes))
		return false;
	file->whole_bytes = offset;
	return true;
}

/* -- LTTng's index of a stream file ------------------------------------------------------------ */

struct index_head { /* all big-endian */
	uint32_t magic, major, minor, entry_bytes;
};

struct index_entry {
	uint64_t offset_bytes, packet_bits; /* and more that does not matter here */
};

#define INDEX_MAGIC UINT32_C(0xC1F1DCC1)

static void walk_index(FILE *index, struct ctf_file *file)
{
	struct index_head head;
	struct index_entry entry;
	uint64_t whole_bytes = 0;
	long skip;

	if (fread(&head, sizeof(head), 1, index) != 1 || be32toh(head.magic) != INDEX_MAGIC ||
	    be32toh(head.entry_bytes) < sizeof(entry))
		return;
	skip = (long)(be32toh(head.entry_bytes) - sizeof(entry));
	while (fread(&entry, sizeof(entry), 1, index) == 1 && fseek(index, skip, SEEK_CUR) == 0) {
		uint64_t offset_bytes = be64toh(entry.offset_bytes);
		uint64_t packet_bytes = be64toh(entry.packet_bits) / 8;

		if (offset_bytes != whole_bytes || packet_bytes > file->size_bytes - offset_bytes)
			break;
		whole_bytes += packet_bytes;
	}
	file->whole_bytes = whole_bytes;
}

enum index_kind { INDEX_NONE, INDEX_FILE, INDEX_ODD }; /* odd: a pipe, on which to wait for ever */

struct path ctf_index_of(const char *dir, const char *name)
{
	struct path path;

	snprintf(path.text, sizeof(path.text), "%s/index/%s.idx", dir, name);
	return path;
}

static enum index_kind find_index(const char *dir, const char *name, struct path *ret_path)
{
	struct stat status;

	*ret_path = ctf_index_of(dir, name);
	if (stat(ret_path->text, &status) < 0)
		return INDEX_NONE;
	return S_ISREG(status.st_mode) ? INDEX_FILE : INDEX_ODD;
}

static void scan_index(const char *dir, struct ctf_file *file)
{
	struct path path;
	FILE *index;

	if (find_index(dir, file->name, &path) != INDEX_FILE)
		return;
	index = fopen(path.text, "re");
	if (!index)
		return;
	walk_index(index, file);
	fclose(index);
}

/* -- directories ------------------------------------------------------------------------------- */

static int is_stream_name(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && strcmp(entry->d_name, "metadata") != 0;
}

/* Adds one entry of the directory; what is no regular file is none of ours. */
static int scan_file(struct ctf_dir *dir, const char *name, struct flextrace_error *error)
{
	const struct path path = path_of(dir->path, name);
	struct ctf_file *file = &dir->files[dir->n_files];
	struct path index;
	struct stat status;
	int fd;

	if (stat(path.text, &status) < 0 || !S_ISREG(status.st_mode))
		return 0;
	fd = open(path.text, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set(error, FLEXTRACE_E_INPUT,
		                 "Cannot read stream file: path=%s, reason=%s", path.text,
		                 strerror(errno));
	*file = (struct ctf_file){.name = strdup(name), .size_bytes = (uint64_t)status.st_size};
	file->whole_bytes = file->size_bytes;
	if (!walk_packets(fd, file))
		scan_index(dir->path, file);
	close(fd);
	dir->n_files++;
	dir->n_cut += file->whole_bytes < file->size_bytes;
	dir->has_odd_index |= find_index(dir->path, name, &index) == INDEX_ODD;
	return file->name ? 0 : error_memory(error);
}

int ctf_dir_scan(const char *path, struct ctf_dir *ret_dir, struct flextrace_error *error)
{
	struct ctf_dir dir = {0};
	struct dirent **entries;
	int n = scandir(path, &entries, is_stream_name, alphasort);
	int code = 0;

	if (n < 0)
		return error_set(error, FLEXTRACE_E_INPUT,
		                 "Cannot read trace directory: path=%s, reason=%s", path,
		                 strerror(errno));
	dir.path = realpath(path, NULL);
	dir.files = calloc((size_t)n + 1, sizeof(*dir.files));
	if (!dir.path || !dir.files)
		code = error_memory(error);
	for (int i = 0; i < n; i++) {
		if (code == 0)
			code = scan_file(&dir, entries[i]->d_name, error);
		free(entries[i]);
	}
	free(entries);
	if (code < 0)
		ctf_dir_release(&dir);
	else
		*ret_dir = dir;
	return code;
}

void ctf_dir_release(struct ctf_dir *dir)
{
	for (uint32_t i = 0; i < dir->n_files; i++)
		free(dir->files[i].name);
	free(dir->files);
	free(dir->path);
	*dir = (struct ctf_dir){0};
}

/* -- views ------------------------------------------------------------------------------------- */

static int refuse(struct flextrace_error *error, const char *path)
{
	return error_set(error, FLEXTRACE_E_SYSTEM,
	                 "Cannot make a private view of a cut trace: path=%s, reason=%s", path,
	                 strerror(errno));
}

/* Links or copies one file, and links its index where the file is whole. */
static int view_file(const char *view, const struct ctf_dir *dir, const struct ctf_file *file,
                     bool without_index)
{
	const struct path from = path_of(dir->path, file->name), to = path_of(view, file->name);
	struct path index;
	bool is_cut = file->whole_bytes < file->size_bytes;

	if (is_cut && file->whole_bytes == 0)
		return 0;
	if (is_cut)
		return path_copy_front(from.text, to.text, file->whole_bytes) ? 0 : -1;
	if (symlink(from.text, to.text) < 0)
		return -1;
	if (without_index || find_index(dir->path, file->name, &index) != INDEX_FILE ||
	    access(index.text, R_OK) < 0)
		return 0;
	return symlink(index.text, ctf_index_of(view, file->name).text);
}

static int view_metadata(const char *view, const struct ctf_dir *dir)
{
	if (mkdir(path_of(view, "index").text, 0700) < 0)
		return -1;
	return symlink(path_of(dir->path, "metadata").text, path_of(view, "metadata").text);
}

/* Opens a directory of ours and locks it; -1: it is not ours, somebody has it, or (ENOENT) it is
 * gone. */
static int lock_dir(const char *path, int how)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), cause;
	struct stat status;

	if (fd < 0)
		return -1;
	if (fstat(fd, &status) == 0 && status.st_uid == geteuid() && flock(fd, how) == 0) {
		if (fstat(fd, &status) == 0 && status.st_nlink > 0)
			return fd;
		errno = ENOENT;
	}
	cause = errno;
	close(fd);
	errno = cause;
	return -1;
}

/* Removes the views of conversions that were killed: nobody holds their locks any more. */
static void remove_stale(const char *parent)
{
	DIR *dir = opendir(parent);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		const struct path path = path_of(parent, entry->d_name);
		int lock;

		if (strncmp(entry->d_name, VIEWS_PREFIX, strlen(VIEWS_PREFIX)) != 0)
			continue;
		lock = lock_dir(path.text, LOCK_EX | LOCK_NB);
		if (lock < 0)
			continue;
		path_remove_tree(path.text);
		close(lock);
	}
	if (dir)
		closedir(dir);
}

static int create_root(struct ctf_views *views, struct flextrace_error *error)
{
	const char *parent = temporary_directory();

	if (views->root[0])
		return 0;
	if (strlen(parent) > sizeof(views->root) - 32)
		parent = "/tmp";
	remove_stale(parent);
	do {
		snprintf(views->root, sizeof(views->root), "%s/" VIEWS_PREFIX "XXXXXX", parent);
		if (!mkdtemp(views->root)) {
			views->root[0] = '\0';
			return refuse(error, parent);
		}
		/* Before the lock somebody may take it for stale. */
		views->lock = lock_dir(views->root, LOCK_EX);
	} while (views->lock < 0 && errno == ENOENT);
	views->owner = getpid();
	return 0; /* without a lock, too: there are file systems that know none */
}

int ctf_views_add(struct ctf_views *views, const struct ctf_dir *dir, char **ret_path,
                  struct flextrace_error *error)
{
	char view[sizeof(views->root) + 16];

	FLEXTRACE_TRY(create_root(views, error));
	snprintf(view, sizeof(view), "%s/%u", views->root, views->n++);
	if (mkdir(view, 0700) < 0 || view_metadata(view, dir) < 0)
		return refuse(error, dir->path);
	for (uint32_t i = 0; i < dir->n_files; i++)
		if (view_file(view, dir, &dir->files[i], views->without_indexes) < 0)
			return refuse(error, dir->path);
	*ret_path = strdup(view);
	return *ret_path ? 0 : error_memory(error);
}

void ctf_views_remove(struct ctf_views *views)
{
	if (!views->root[0])
		return;
	path_remove_tree(views->root);
	/* Of a child that died, the number is one of ours by chance. */
	if (views->lock >= 0 && views->owner == getpid())
		close(views->lock);
	views->root[0] = '\0';
}
