// SPDX-License-Identifier: Apache-2.0
#include "pftrace.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"

void pftrace_interned_init(struct pftrace_interned *interned)
{
	*interned = (struct pftrace_interned){.n_names = 0};
	writer_open_memory(&interned->fresh);
	writer_open_memory(&interned->categories.bytes);
	writer_open_memory(&interned->keys.bytes);
	writer_open_memory(&interned->words.bytes);
}

static void texts_release(struct pftrace_texts *texts)
{
	map_release(&texts->by_hash);
	free(texts->texts);
	writer_abandon(&texts->bytes);
}

void pftrace_interned_release(struct pftrace_interned *interned)
{
	map_release(&interned->names);
	map_release(&interned->strings);
	map_release(&interned->locations);
	texts_release(&interned->categories);
	texts_release(&interned->keys);
	texts_release(&interned->words);
	writer_abandon(&interned->fresh);
}

/* Bytes that are no UTF-8 become U+FFFD each; C0 80 is a NUL. */
static void append_clean(struct writer *writer, const char *text, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t length = utf8_sequence(text + i, n - i);

		if (length) {
			writer_append(writer, text + i, length);
		} else if (n - i > 1 && memcmp(text + i, "\xc0\x80", 2) == 0) {
			writer_char(writer, '\0');
			length = 2;
		} else {
			writer_literal(writer, "\xef\xbf\xbd");
			writer->replaced_bytes++;
			length = 1;
		}
		i += length;
	}
}

void pftrace_write_text(struct pftrace *trace, struct writer *writer, uint32_t field,
                        const char *text, size_t n)
{
	struct writer clean;
	size_t length = 1, i;

	for (i = 0; i < n && length; i += length)
		length = utf8_sequence(text + i, n - i);
	if (length) {
		protobuf_write_bytes(writer, field, text, n);
		return;
	}
	writer_open_memory(&clean);
	append_clean(&clean, text, n);
	protobuf_write_bytes(writer, field, clean.buffer, (size_t)(clean.at - clean.buffer));
	trace->writer.replaced_bytes += clean.replaced_bytes;
	writer_abandon(&clean);
}

/* -- texts of a string or pointer -------------------------------------------------------------- */

/* An iid, which is fresh where `*ret_is_new`; 0: no memory. */
static uint64_t find_or_add(struct pftrace *trace, struct map *map, uint64_t a, uint64_t b,
                            uint32_t *n, bool *ret_is_new)
{
	uint32_t place = map_find(map, a, b);

	*ret_is_new = place == MAP_NONE;
	if (!*ret_is_new)
		return place + 1ull;
	if (map_put(map, a, b, *n) < 0) {
		trace->writer.failure = ENOMEM;
		*ret_is_new = false;
		return 0;
	}
	return ++*n;
}

/* Opens a field of InternedData, with its iid. */
static size_t open_fresh(struct pftrace *trace, uint32_t field, uint64_t iid)
{
	size_t opened = protobuf_open(&trace->sequence->interned.fresh, field);

	protobuf_write_u64(&trace->sequence->interned.fresh, TEXT_IID, iid);
	return opened;
}

static void add_fresh(struct pftrace *trace, uint32_t field, uint64_t iid, const char *text,
                      size_t n)
{
	size_t opened = open_fresh(trace, field, iid);

	pftrace_write_text(trace, &trace->sequence->interned.fresh, TEXT_TEXT, text, n);
	protobuf_close(&trace->sequence->interned.fresh, opened);
}

uint64_t pftrace_name(struct pftrace *trace, const struct file_event *event)
{
	struct pftrace_interned *interned = &trace->sequence->interned;
	uint64_t text = event->name ? event->name : (uintptr_t)event->label.bytes;
	uint64_t part = (uintptr_t)(event->part ? event->part : event->around);
	struct writer name;
	bool is_new;
	uint64_t iid = find_or_add(trace, &interned->names, text, part, &interned->n_names,
	                           &is_new);

	if (!is_new)
		return iid;
	writer_open_memory(&name);
	event_append_name(&trace->events, event, &name);
	add_fresh(trace, INTERNED_NAMES, iid, name.buffer ? name.buffer : "",
	          (size_t)(name.at - name.buffer));
	if (writer_failed(&name))
		interned->fresh.failure = name.failure;
	writer_abandon(&name);
	return iid;
}

uint64_t pftrace_string(struct pftrace *trace, uint32_t string)
{
	struct pftrace_interned *interned = &trace->sequence->interned;
	struct string_text text = string_text(trace->events.view.strings, string);
	bool is_new;
	uint64_t iid = find_or_add(trace, &interned->strings, string, 0, &interned->n_strings,
	                           &is_new);

	if (is_new) /* words of ours have odd iids of this field */
		add_fresh(trace, INTERNED_STRINGS, 2 * iid, text.bytes, text.length);
	return 2 * iid;
}

uint64_t pftrace_location(struct pftrace *trace, uint32_t file, uint32_t line)
{
	struct pftrace_interned *interned = &trace->sequence->interned;
	struct string_text text = string_text(trace->events.view.strings, file);
	bool is_new;
	uint64_t iid = find_or_add(trace, &interned->locations, file, line, &interned->n_locations,
	                           &is_new);
	size_t opened;

	if (!is_new)
		return iid;
	opened = open_fresh(trace, INTERNED_LOCATIONS, iid);
	pftrace_write_text(trace, &interned->fresh, LOCATION_FILE, text.bytes, text.length);
	protobuf_write_u64(&interned->fresh, LOCATION_LINE, line);
	protobuf_close(&interned->fresh, opened);
	return iid;
}

/* -- texts by their bytes ---------------------------------------------------------------------- */

static bool is_text(const struct pftrace_texts *texts, uint32_t place, const char *text, size_t n)
{
	const struct pftrace_text *of = &texts->texts[place];

	return of->n == n && memcmp(texts->bytes.buffer + of->start, text, n) == 0;
}

/* Texts of one hash are told apart by a number behind it. */
static uint64_t find_text(struct pftrace *trace, struct pftrace_texts *texts, const char *text,
                          size_t n, bool *ret_is_new)
{
	uint64_t hash = hash_bytes(0, text, n);
	uint32_t place = 0, same = 0;
	int is_new;

	*ret_is_new = false;
	do {
		is_new = MAP_PLACE(&texts->by_hash, hash, same++, texts->texts, texts->n, &place);
		if (is_new < 0) {
			trace->writer.failure = ENOMEM;
			return 0;
		}
	} while (!is_new && !is_text(texts, place, text, n));
	if (is_new) {
		texts->texts[place] =
			(struct pftrace_text){(size_t)(texts->bytes.at - texts->bytes.buffer), n};
		writer_append(&texts->bytes, text, n);
		if (writer_failed(&texts->bytes))
			trace->writer.failure = texts->bytes.failure;
		*ret_is_new = true;
	}
	return place + 1ull;
}

uint64_t pftrace_category(struct pftrace *trace, struct trace_text category)
{
	bool is_new;
	uint64_t iid = find_text(trace, &trace->sequence->interned.categories, category.bytes,
	                         category.length, &is_new);

	if (is_new)
		add_fresh(trace, INTERNED_CATEGORIES, iid, category.bytes, category.length);
	return iid;
}

uint64_t pftrace_key(struct pftrace *trace, const char *key, size_t n)
{
	bool is_new;
	uint64_t iid = find_text(trace, &trace->sequence->interned.keys, key, n, &is_new);

	if (is_new)
		add_fresh(trace, INTERNED_KEYS, iid, key, n);
	return iid;
}

uint64_t pftrace_word(struct pftrace *trace, const char *word, size_t n)
{
	bool is_new;
	uint64_t iid = find_text(trace, &trace->sequence->interned.words, word, n, &is_new);

	if (is_new)
		add_fresh(trace, INTERNED_STRINGS, 2 * iid - 1, word, n);
	return 2 * iid - 1;
}

bool pftrace_is_again(struct pftrace *trace, struct trace_text text)
{
	uint64_t hash = hash_bytes(1, text.bytes, text.length);
	uint64_t *told = &trace->sequence->interned.told[hash % PFTRACE_TOLD];
	bool is_again = *told == hash;

	*told = hash;
	return is_again && text.length > 3; /* else an iid is no shorter */
}

uint64_t pftrace_our_word(struct pftrace *trace, const char *word, size_t n)
{
	uint64_t hash = (uintptr_t)word * 0x9e3779b97f4a7c15;
	struct pftrace_cached *cached = &trace->sequence->interned.cached[hash >> 58];

	if (cached->text != word)
		*cached = (struct pftrace_cached){word, pftrace_word(trace, word, n)};
	return cached->iid;
}
