/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "definitions.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "payload.h"

#define N_BUCKETS 512

/* What was said about one thing. Freed when it was replaced and nobody looks at it any more. */
struct text {
	struct text *next_retired; /* under the lock */
	uint32_t n_users;          /* under the lock: the table, and who defined and emits it */
	union {
		struct flextrace_device device;
		struct flextrace_clock_domain domain;
		struct flextrace_name name;
	} payload;
	char strings[];
};

struct definition {
	struct definition *next;    /* in the order of definition; stored with release */
	struct definition *in_hash; /* under the lock */
	enum flextrace_i_event event;
	uint32_t device;
	uint32_t id;
	struct text *text; /* stored with release */
	int is_gone;       /* a thread that a fork did not take along */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct definition *first;
static struct definition **last = &first;
static struct definition *buckets[N_BUCKETS];
static struct text *retired;                 /* under the lock: of no user, but of dumps */
static uint32_t n_dumps;                     /* that look at texts without being their users */
static __thread struct definition *own_name; /* of the calling thread */

static struct definition **bucket_of(enum flextrace_i_event event, uint32_t device, uint32_t id)
{
	return &buckets[((uint32_t)event * 31 + device * 257 + id) % N_BUCKETS];
}

static struct definition *find(enum flextrace_i_event event, uint32_t device, uint32_t id)
{
	struct definition *d = *bucket_of(event, device, id);

	while (d && (d->event != event || d->device != device || d->id != id))
		d = d->in_hash;
	return d;
}

static void insert_in_hash(struct definition *d)
{
	struct definition **bucket = bucket_of(d->event, d->device, d->id);

	d->in_hash = *bucket;
	*bucket = d;
}

static void emit(const struct definition *d, const struct text *text)
{
	if (__atomic_load_n(&d->is_gone, __ATOMIC_RELAXED) || !flextrace_i_is_on(d->event))
		return;
	switch (d->event) {
	case flextrace_i_event_device:
		FLEXTRACE_I_SEND(device, &text->payload.device);
		break;
	case flextrace_i_event_clock_domain:
		FLEXTRACE_I_SEND(clock_domain, &text->payload.domain);
		break;
	case flextrace_i_event_thread_name:
		FLEXTRACE_I_SEND(thread_name, &text->payload.name);
		break;
	case flextrace_i_event_queue_name:
		FLEXTRACE_I_SEND(queue_name, &text->payload.name);
		break;
	default:
		FLEXTRACE_I_SEND(marker_name, &text->payload.name);
		break;
	}
}

/* With the lock. A dump that begins from here on finds what replaced the text. */
static void let_go(struct text *text)
{
	if (--text->n_users)
		return;
	text->next_retired = retired;
	retired = text;
	if (__atomic_load_n(&n_dumps, __ATOMIC_SEQ_CST))
		return;
	while ((text = retired)) {
		retired = text->next_retired;
		free(text);
	}
}

/* Emits what was defined, unless it is replaced already: then who did that emits. */
static void emit_own(const struct definition *d, struct text *text)
{
	if (__atomic_load_n(&d->text, __ATOMIC_ACQUIRE) == text)
		emit(d, text);
	pthread_mutex_lock(&lock);
	let_go(text);
	pthread_mutex_unlock(&lock);
}

/* Appends or replaces. Takes `text`. Returns NULL without memory. */
static struct definition *put(enum flextrace_i_event event, uint32_t device, uint32_t id,
                              struct text *text)
{
	struct definition *d;

	text->n_users = 2;
	pthread_mutex_lock(&lock);
	d = find(event, device, id);
	if (d) {
		struct text *replaced = d->text;

		__atomic_store_n(&d->text, text, __ATOMIC_SEQ_CST);
		__atomic_store_n(&d->is_gone, 0, __ATOMIC_RELAXED);
		let_go(replaced);
	} else if ((d = calloc(1, sizeof(*d)))) {
		d->event = event;
		d->device = device;
		d->id = id;
		d->text = text;
		insert_in_hash(d);
		__atomic_store_n(last, d, __ATOMIC_RELEASE);
		last = &d->next;
	} else {
		free(text);
	}
	pthread_mutex_unlock(&lock);
	if (d)
		emit_own(d, text);
	return d;
}

static size_t bytes_of(const char *string)
{
	return string ? strlen(string) + 1 : 1;
}

/* Copies `string` (NULL = "") to *end and moves *end behind it. */
static const char *copy(char **end, const char *string)
{
	char *start = *end;
	size_t n = bytes_of(string);

	memcpy(start, string ? string : "", n);
	*end += n;
	return start;
}

void flextrace_define_device(const struct flextrace_device *device)
{
	struct flextrace_device whole;
	struct text *text;
	char *end;

	PAYLOAD_COPY(flextrace_device, &whole, device);
	text = calloc(1, sizeof(*text) + bytes_of(whole.uuid) + bytes_of(whole.name) +
	                         bytes_of(whole.power_unit) + bytes_of(whole.processors));
	if (!text)
		return;
	end = text->strings;
	text->payload.device = whole;
	text->payload.device.uuid = copy(&end, whole.uuid);
	text->payload.device.name = copy(&end, whole.name);
	text->payload.device.power_unit = copy(&end, whole.power_unit);
	text->payload.device.processors = copy(&end, whole.processors);
	put(flextrace_i_event_device, device->device, 0, text);
}

void flextrace_define_clock_domain(const struct flextrace_clock_domain *domain)
{
	struct text *text = calloc(1, sizeof(*text));

	if (!text)
		return;
	PAYLOAD_COPY(flextrace_clock_domain, &text->payload.domain, domain);
	put(flextrace_i_event_clock_domain, domain->device, domain->domain, text);
}

void flextrace_i_definitions_add_name(enum flextrace_i_event event,
                                      const struct flextrace_name *name)
{
	struct text *text = calloc(1, sizeof(*text) + bytes_of(name->name) + bytes_of(name->file));
	struct definition *d;
	char *end;

	if (!text)
		return;
	end = text->strings;
	PAYLOAD_COPY(flextrace_name, &text->payload.name, name);
	text->payload.name.name = copy(&end, name->name);
	text->payload.name.file = copy(&end, name->file);
	d = put(event, name->device, name->id, text);
	if (event == flextrace_i_event_thread_name)
		own_name = d;
}

void flextrace_i_definitions_emit(void)
{
	const struct definition *d;

	__atomic_add_fetch(&n_dumps, 1, __ATOMIC_SEQ_CST);
	for (d = __atomic_load_n(&first, __ATOMIC_ACQUIRE); d;
	     d = __atomic_load_n(&d->next, __ATOMIC_ACQUIRE))
		emit(d, __atomic_load_n(&d->text, __ATOMIC_SEQ_CST));
	__atomic_sub_fetch(&n_dumps, 1, __ATOMIC_SEQ_CST);
}

void flextrace_i_definitions_lock(void)
{
	pthread_mutex_lock(&lock);
}

void flextrace_i_definitions_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void flextrace_i_definitions_forked(uint32_t tid)
{
	struct definition *d;

	__atomic_store_n(&n_dumps, 0, __ATOMIC_SEQ_CST); /* by threads that are not here */
	memset(buckets, 0, sizeof(buckets));
	for (d = first; d; d = d->next) {
		if (d == own_name) {
			d->id = tid;
			d->text->payload.name.id = tid;
		} else if (d->event == flextrace_i_event_thread_name) {
			d->is_gone = 1;
		}
		insert_in_hash(d);
	}
}
