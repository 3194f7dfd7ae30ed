/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_item.h: events as items of a spool, texts and all, so that nothing of them need be held
 * elsewhere. Texts beyond 4 KiB stand beside the items.
 */
#ifndef FLEXTRACE_IMPORT_EVENT_ITEM_H
#define FLEXTRACE_IMPORT_EVENT_ITEM_H

#include "base/text/json_value.h"
#include "formats/kit/spool.h"
#include "model/model.h"

/* -- texts in an item ----------------------------------------------------------------------- */

struct item_text {
	struct trace_text text; /* weak, of the item; bytes NULL: it stands elsewhere */
	uint64_t place;         /* there */
};

/* Memory for the texts of one item that stand elsewhere. */
struct item_texts {
	char *bytes; /* owned */
	uint32_t n_allocated;
};

/* How many bytes of an item a text takes. */
size_t item_text_bytes(const struct trace_text *text);

/* Writes a text (NULL: "") and steps behind it. */
int item_put_text(struct spool *spool, char **at, const struct trace_text *text);

/* Writes a text that was read, wherever it stands. */
void item_copy_text(char **at, const struct item_text *text);

/* Steps behind a text. */
struct item_text item_get_text(const char **at);

/* Fetches those of `n` texts that stand elsewhere: weak, until the next call. */
int item_fetch_texts(struct spool *spool, struct item_texts *memory, struct item_text *texts,
                     uint32_t n);

/* -- events --------------------------------------------------------------------------------- */

/* What an item begins with; the payload and its texts follow. Items of other kinds begin with it,
 * too, and have classes from RECORD_CLASS_COUNT on. */
struct item_head {
	uint64_t clock_ns;
	uint32_t stream;
	int32_t vpid, vtid;
	uint16_t class;
	uint8_t n_origins, status;
	uint32_t file, record; /* the first */
};

/* Adds an event of a stream, in order of its clock; of marker batches up to 2048 words. */
int event_item_add(struct spool *spool, uint32_t stream, const struct event *event);

/* Stores what an item says; texts and words are weak, of the item or of `memory`. */
int event_item_read(struct spool *spool, const void *item, struct item_texts *memory,
                    uint32_t *ret_stream, struct event *ret_event);

#endif
