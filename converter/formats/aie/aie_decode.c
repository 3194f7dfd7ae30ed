/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of a trace unit in event-time mode, most significant byte of a word first. `e` is a
 * bit or the number of a slot, `d` cycles since the last command (a command takes one more itself),
 * `r` how often the last one came again.
 *
 *   0eeedddd                              single 0
 *   100eeedd dddddddd                     single 1
 *   101eeedd dddddddd dddddddd            single 2
 *   1100eeee eeeedddd                     multiple 0
 *   110100ee eeeeeedd dddddddd            multiple 1
 *   110101ee eeeeeedd dddddddd dddddddd   multiple 2
 *   110110rr rrrrrrrr                     repeat 1
 *   110111.. (3 bytes)                    of other modes: says nothing here
 *   1110rrrr                              repeat 0
 *   11110.00 (7 bytes)                    start: the timer
 *   11111110                              filler
 *   11111111                              2^18 cycles without an event
 */
#include "aie_impl.h"

#define N_DELTA_BITS 18
#define TIMER_BYTES  7

/* 0: no command begins so. */
static uint32_t bytes_of(uint8_t first)
{
	if (first < 0x80 || (first & 0xf0) == 0xe0 || first >= 0xfe)
		return 1;
	if ((first & 0xfb) == 0xf0)
		return 1 + TIMER_BYTES;
	switch (first & 0xfc) {
	case 0xd0:
		return 3;
	case 0xd4:
	case 0xdc:
		return 4;
	case 0xd8:
		return 2;
	default:
		break;
	}
	if ((first & 0xf0) == 0xc0)
		return 2;
	if ((first & 0xe0) == 0x80)
		return 2;
	return (first & 0xe0) == 0xa0 ? 3 : 0;
}

static int set_levels(struct aie_decoder *decoder, uint8_t levels, const struct aie_sink *sink)
{
	uint8_t changed = decoder->levels ^ levels;

	decoder->levels = levels;
	for (uint32_t slot = 0; slot < AIE_N_SLOTS; slot++) {
		if (changed >> slot & 1)
			FLEXTRACE_TRY(sink->take(sink->context, slot, levels >> slot & 1,
			                         decoder->cycle));
	}
	return FLEXTRACE_OK;
}

/* Events are high for a cycle; what comes in the next one stays high. */
static int take_events(struct aie_decoder *decoder, const struct aie_sink *sink)
{
	uint8_t events = decoder->events;

	decoder->cycle++;
	FLEXTRACE_TRY(set_levels(decoder, decoder->delta ? 0 : decoder->levels & events, sink));
	decoder->cycle += decoder->delta;
	return set_levels(decoder, decoder->levels | events, sink);
}

static int take_repeat(struct aie_decoder *decoder, uint32_t n, const struct aie_sink *sink)
{
	if (!decoder->delta) {
		decoder->cycle += n;
		return FLEXTRACE_OK;
	}
	*sink->n_repeated += 2ull * n * (uint32_t)__builtin_popcount(decoder->events);
	if (*sink->n_repeated > AIE_MAX_REPEATED) {
		decoder->n_untold += n;
		decoder->cycle += (uint64_t)n * (decoder->delta + 1);
		return FLEXTRACE_OK;
	}
	for (; n > 0; n--)
		FLEXTRACE_TRY(take_events(decoder, sink));
	return FLEXTRACE_OK;
}

/* Goes on at a later cycle without events until then. */
static int take_pause(struct aie_decoder *decoder, uint64_t cycle, const struct aie_sink *sink)
{
	decoder->cycle++;
	FLEXTRACE_TRY(set_levels(decoder, 0, sink));
	decoder->cycle = cycle;
	return FLEXTRACE_OK;
}

/* A later one tells what time it is, whatever was lost before it. */
static int take_start(struct aie_decoder *decoder, const struct aie_sink *sink)
{
	uint64_t timer = 0;

	decoder->is_ended = false;
	for (int i = 1; i <= TIMER_BYTES; i++)
		timer = timer << 8 | decoder->bytes[i];
	if (!decoder->has_timer)
		decoder->timer = timer;
	decoder->has_timer = true;
	if (timer < decoder->timer || timer - decoder->timer <= decoder->cycle)
		return FLEXTRACE_OK;
	return take_pause(decoder, timer - decoder->timer, sink);
}

static uint32_t low_bits(const struct aie_decoder *decoder, uint32_t n_bits)
{
	uint32_t value = 0;

	for (uint32_t i = 0; i < decoder->n; i++)
		value = value << 8 | decoder->bytes[i];
	return value & ((1u << n_bits) - 1);
}

/* Of a command that tells events: which, and the delta. */
static void read_events(struct aie_decoder *decoder)
{
	uint8_t first = decoder->bytes[0];

	if (first < 0x80) {
		decoder->events = (uint8_t)(1 << (first >> 4));
		decoder->delta = low_bits(decoder, 4);
	} else if (first < 0xc0) {
		decoder->events = (uint8_t)(1 << (first >> 2 & 7));
		decoder->delta = low_bits(decoder, decoder->n == 2 ? 10 : N_DELTA_BITS);
	} else if (first < 0xd0) {
		decoder->events = (uint8_t)(first << 4 | decoder->bytes[1] >> 4);
		decoder->delta = low_bits(decoder, 4);
	} else {
		decoder->events = (uint8_t)(first << 6 | decoder->bytes[1] >> 2);
		decoder->delta = low_bits(decoder, decoder->n == 3 ? 10 : N_DELTA_BITS);
	}
}

static int take_command(struct aie_decoder *decoder, const struct aie_sink *sink)
{
	uint8_t first = decoder->bytes[0];

	if ((first & 0xfb) == 0xf0)
		return take_start(decoder, sink);
	if ((first & 0xfc) == 0xdc)
		decoder->is_ended = true;
	if (first == 0xfe || (first & 0xfc) == 0xdc)
		return FLEXTRACE_OK;
	if (first == 0xff)
		return take_pause(decoder, decoder->cycle + (UINT64_C(1) << N_DELTA_BITS), sink);
	if ((first & 0xfc) == 0xd8)
		return take_repeat(decoder, low_bits(decoder, 10), sink);
	if ((first & 0xf0) == 0xe0)
		return take_repeat(decoder, low_bits(decoder, 4), sink);
	read_events(decoder);
	return take_events(decoder, sink);
}

int aie_decode_word(struct aie_decoder *decoder, uint32_t word, const struct aie_sink *sink)
{
	for (int shift = 24; shift >= 0; shift -= 8) {
		uint32_t n;

		decoder->bytes[decoder->n++] = (uint8_t)(word >> shift);
		n = bytes_of(decoder->bytes[0]);
		decoder->n_bad += n == 0;
		if (n > decoder->n)
			continue;
		if (n)
			FLEXTRACE_TRY(take_command(decoder, sink));
		decoder->n = 0;
	}
	return FLEXTRACE_OK;
}
