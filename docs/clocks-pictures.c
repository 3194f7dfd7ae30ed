/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clocks-pictures DIR: draws the pictures of clocks.md from what unwrap and calibrate make of
 * scenarios whose truth is known (tests/support/clock_scenarios.h).
 *
 *   band.svg    brackets of operations, the band that they leave, its middle and the truth
 *   errors.svg  how far three rules place stamps off the truth
 *   gap.svg     the certified error over an idle gap
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "clock_rules.h"
#include "clock_scenarios.h"

#define WIDTH  760
#define HEIGHT 340
#define LEFT   64
#define RIGHT  12
#define TOP    30
#define BOTTOM 40
#define SEED   7
#define N      FLEXTRACE_N_STAMPS

/* -- a plot ----------------------------------------------------------------------------------- */

struct plot {
	FILE *file;
	double x0, x1, y0, y1; /* of the data; y as drawn: a logarithm where `is_log` */
	bool is_log;
};

static double at_x(const struct plot *plot, double x)
{
	return LEFT + (x - plot->x0) / (plot->x1 - plot->x0) * (WIDTH - LEFT - RIGHT);
}

static double at_y(const struct plot *plot, double y)
{
	double share = ((plot->is_log ? log10(fmax(y, 1e-9)) : y) - plot->y0) /
	               (plot->y1 - plot->y0);

	return HEIGHT - BOTTOM - fmin(fmax(share, -0.02), 1.02) * (HEIGHT - TOP - BOTTOM);
}

static void draw_axes(const struct plot *plot, double x_step, double y_step, const char *y_name)
{
	fputs("<g stroke=\"#ddd\" fill=\"#555\" font-size=\"11\" font-family=\"sans-serif\">\n",
	      plot->file);
	for (int i = (int)ceil(plot->y0 / y_step); i * y_step <= plot->y1 + 1e-9; i++) {
		double value = plot->is_log ? pow(10, i * y_step) : i * y_step;
		double place = at_y(plot, value);

		fprintf(plot->file,
		        "<path d=\"M%d %.0fH%d\"/><text stroke=\"none\" text-anchor=\"end\" "
		        "x=\"%d\" y=\"%.0f\">%g</text>\n",
		        LEFT, place, WIDTH - RIGHT, LEFT - 6, place + 4, value);
	}
	for (int i = (int)ceil(plot->x0 / x_step); i * x_step <= plot->x1 + 1e-9; i++) {
		double place = at_x(plot, i * x_step);

		fprintf(plot->file,
		        "<path d=\"M%.0f %dV%d\"/><text stroke=\"none\" text-anchor=\"middle\" "
		        "x=\"%.0f\" y=\"%d\">%g</text>\n",
		        place, TOP, HEIGHT - BOTTOM, place, HEIGHT - BOTTOM + 16, i * x_step);
	}
	fprintf(plot->file,
	        "<text stroke=\"none\" x=\"%d\" y=\"%d\">%s</text>"
	        "<text stroke=\"none\" text-anchor=\"end\" x=\"%d\" y=\"%d\">seconds</text></g>\n",
	        LEFT, HEIGHT - 6, y_name, WIDTH - RIGHT, HEIGHT - 6);
}

static void open_plot(struct plot *plot, const char *dir, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	plot->file = fopen(path, "w");
	if (!plot->file) {
		perror(path);
		exit(1);
	}
	fprintf(plot->file,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\">\n"
	        "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
	        WIDTH, HEIGHT, WIDTH, HEIGHT);
}

static void close_plot(struct plot *plot)
{
	fputs("</svg>\n", plot->file);
	if (fclose(plot->file) != 0) {
		perror("clocks-pictures");
		exit(1);
	}
}

static void open_dots(const struct plot *plot, const char *colour, double size)
{
	fprintf(plot->file,
	        "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%g\" stroke-linecap=\"round\" "
	        "d=\"",
	        colour, size);
}

static void put_dot(const struct plot *plot, double x, double y)
{
	if (x >= plot->x0 && x <= plot->x1)
		fprintf(plot->file, "M%.1f %.1fh0", at_x(plot, x), at_y(plot, y));
}

static void close_path(const struct plot *plot)
{
	fputs("\"/>\n", plot->file);
}

static void put_legend(const struct plot *plot, int place, const char *colour, const char *text)
{
	fprintf(plot->file,
	        "<circle cx=\"%d\" cy=\"16\" r=\"5\" fill=\"%s\"/><text x=\"%d\" y=\"20\" "
	        "font-size=\"12\" font-family=\"sans-serif\" fill=\"#333\">%s</text>\n",
	        LEFT + 8 + place, colour, LEFT + 18 + place, text);
}

/* -- a conversion ----------------------------------------------------------------------------- */

struct picture {
	struct clock_truth truth;
	struct clock_run run;
	const struct tick_op **ops; /* owned array; weak rows of run.out.ops */
};

static void picture_init(struct picture *picture, const char *scenario)
{
	struct table_cursor cursor;
	const struct tick_op *op;
	uint32_t n = 0;

	clock_scenario_make(clock_scenario_find(scenario), SEED, &picture->truth);
	clock_run_init(&picture->run);
	clock_run_push_truth(&picture->run, &picture->truth, false);
	clock_run_finish(&picture->run, NULL);
	picture->ops = calloc(picture->truth.n_ops + 1ull, sizeof(const struct tick_op *));
	table_read(&cursor, &picture->run.out.ops, false);
	while (picture->ops && (op = table_next(&cursor, sizeof(*op))))
		picture->ops[n++] = op;
}

static void picture_release(struct picture *picture)
{
	free(picture->ops);
	clock_run_release(&picture->run);
	clock_truth_release(&picture->truth);
}

static struct placed place(const struct picture *picture, uint64_t ticks)
{
	return clocks_place(picture->run.clocks, picture->ops[0]->counter, 0, ticks);
}

static double seconds(const struct picture *picture, int64_t host_ns)
{
	return (double)(host_ns - picture->truth.scene.origin_ns) * 1e-9;
}

/* -- the pictures ----------------------------------------------------------------------------- */

/* A straight line from one stamp to another; the rest is shown against it. */
struct base {
	uint64_t ticks;
	int64_t ns;
	double ns_per_tick;
};

static double off_us(const struct base *base, uint64_t ticks, double host_ns)
{
	return (host_ns - (double)base->ns -
	        (double)(int64_t)(ticks - base->ticks) * base->ns_per_tick) *
	       1e-3;
}

static void draw_brackets(const struct plot *plot, const struct picture *picture,
                          const struct base *base, bool is_submit)
{
	open_dots(plot, is_submit ? "#2a9d5c" : "#d1495b", 2);
	for (uint32_t i = 0; i < picture->truth.n_ops; i += 2) {
		const struct tick_op *op = picture->ops[i];
		int64_t ns = is_submit ? op->submit_host_ns : op->complete_host_ns;
		double us = off_us(base, op->ticks[is_submit ? 0 : 4], (double)ns);

		if (us >= plot->y0 && us <= plot->y1)
			put_dot(plot, seconds(picture, ns), us);
	}
	close_path(plot);
}

static void draw_band(const struct plot *plot, const struct picture *picture,
                      const struct base *base, uint64_t last_ticks)
{
	const int n = 300;

	fputs("<path fill=\"#3465a4\" fill-opacity=\"0.25\" stroke=\"none\" d=\"M", plot->file);
	for (int i = 0; i < 2 * n; i++) {
		int along = i < n ? i : 2 * n - 1 - i;
		uint64_t ticks = base->ticks +
		                 (last_ticks - base->ticks) / (n - 1) * (uint64_t)along;
		struct placed placed = place(picture, ticks);
		double err = i < n ? placed.err_ns : -(double)placed.err_ns;

		fprintf(plot->file, "%.1f %.1f ", at_x(plot, seconds(picture, placed.host_ns)),
		        at_y(plot, off_us(base, ticks, (double)placed.host_ns + err)));
	}
	close_path(plot);
}

static void draw_truth(const struct plot *plot, const struct picture *picture,
                       const struct base *base)
{
	open_dots(plot, "#111", 1.2);
	for (uint32_t i = 0; i < picture->truth.n_ops; i += 8) {
		const struct truth_op *op = &picture->truth.ops[i];

		put_dot(plot, op->time_ns[2] * 1e-9,
		        off_us(base, picture->ops[i]->ticks[2],
		               op->time_ns[2] + (double)picture->truth.scene.origin_ns));
	}
	close_path(plot);
}

static void draw_band_picture(const char *dir)
{
	struct plot plot = {.x0 = 0, .x1 = 14, .y0 = -40, .y1 = 60};
	struct picture picture;
	struct base base;
	uint32_t last = 0;
	int64_t last_ns;

	picture_init(&picture, "S3 drift");
	while (last + 1 < picture.truth.n_ops && picture.truth.ops[last].time_ns[0] < 14e9)
		last++;
	base.ticks = picture.ops[0]->ticks[0];
	base.ns = place(&picture, base.ticks).host_ns;
	last_ns = place(&picture, picture.ops[last]->ticks[0]).host_ns;
	base.ns_per_tick = (double)(last_ns - base.ns) /
	                   (double)(picture.ops[last]->ticks[0] - base.ticks);
	open_plot(&plot, dir, "band.svg");
	draw_axes(&plot, 2, 20, "us from a straight line");
	draw_band(&plot, &picture, &base, picture.ops[last]->ticks[0]);
	draw_brackets(&plot, &picture, &base, true);
	draw_brackets(&plot, &picture, &base, false);
	draw_truth(&plot, &picture, &base);
	put_legend(&plot, 0, "#2a9d5c", "submit: not before");
	put_legend(&plot, 150, "#d1495b", "completion: not after");
	put_legend(&plot, 310, "#3465a4", "band");
	put_legend(&plot, 370, "#111", "truth");
	close_plot(&plot);
	picture_release(&picture);
}

static void draw_errors(const struct plot *plot, const struct clock_truth *truth,
                        const struct placing *placing, const char *colour)
{
	open_dots(plot, colour, 2);
	for (uint32_t i = 0; i < truth->n_ops; i += truth->n_ops / 700 + 1) {
		double us = fabs(placing->time_ns[N * i] - truth->ops[i].time_ns[0]) * 1e-3;

		put_dot(plot, truth->ops[i].time_ns[0] * 1e-9, us);
	}
	close_path(plot);
}

static void draw_rule(const struct plot *plot, const struct clock_truth *truth, const char *rule,
                      const char *colour)
{
	struct placing placing;

	placing_init(&placing, truth);
	for (uint32_t i = 0; i < n_clock_rules; i++) {
		if (strcmp(clock_rules[i].name, rule) == 0)
			clock_rules[i].place(truth, true_hz(truth), &placing);
	}
	draw_errors(plot, truth, &placing, colour);
	placing_release(&placing);
}

static void draw_errors_picture(const char *dir)
{
	struct plot plot = {.x0 = 0, .x1 = 200, .y0 = -2, .y1 = 5, .is_log = true};
	struct picture picture;
	struct placing placing;

	picture_init(&picture, "S4 rate steps");
	placing_init(&placing, &picture.truth);
	for (uint32_t i = 0; i < picture.truth.n_ops; i++)
		placing.time_ns[N * i] =
			(double)(place(&picture, picture.ops[i]->ticks[0]).host_ns -
		                 picture.truth.scene.origin_ns);
	open_plot(&plot, dir, "errors.svg");
	draw_axes(&plot, 20, 1, "us off the truth");
	draw_rule(&plot, &picture.truth, "wrap by division, own end", "#bbb");
	draw_rule(&plot, &picture.truth, "least squares, middles", "#e08e2b");
	draw_errors(&plot, &picture.truth, &placing, "#3465a4");
	put_legend(&plot, 0, "#bbb", "each operation on its own completion");
	put_legend(&plot, 270, "#e08e2b", "least squares through middles");
	put_legend(&plot, 490, "#3465a4", "flextrace");
	close_plot(&plot);
	placing_release(&placing);
	picture_release(&picture);
}

/* The longest time without an operation. */
static uint32_t longest_gap(const struct clock_truth *truth)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i + 1 < truth->n_ops; i++) {
		if (truth->ops[i + 1].time_ns[0] - truth->ops[i].time_ns[0] >
		    truth->ops[at + 1].time_ns[0] - truth->ops[at].time_ns[0])
			at = i;
	}
	return at;
}

static void draw_half_widths(const struct plot *plot, const struct picture *picture, uint32_t at,
                             int sign)
{
	const int n = 400;
	uint64_t from = picture->ops[at]->ticks[0], length = picture->ops[at + 1]->ticks[0] - from;

	from -= length / 4;
	fputs("<path fill=\"none\" stroke=\"#3465a4\" stroke-width=\"1.5\" d=\"M", plot->file);
	for (int i = 0; i <= n; i++) {
		struct placed placed = place(picture, from + length / 2 * 3 / n * (uint64_t)i);
		double second = seconds(picture, placed.host_ns);

		if (second >= plot->x0 && second <= plot->x1)
			fprintf(plot->file, "%.1f %.1f ", at_x(plot, second),
			        at_y(plot, sign * (double)placed.err_ns * 1e-3));
	}
	close_path(plot);
}

static void draw_gap_picture(const char *dir)
{
	struct plot plot = {.y0 = -200, .y1 = 200};
	struct picture picture;
	double length_s;
	uint32_t at;

	picture_init(&picture, "S1 typical");
	at = longest_gap(&picture.truth);
	length_s = (picture.truth.ops[at + 1].time_ns[0] - picture.truth.ops[at].time_ns[0]) * 1e-9;
	plot.x0 = picture.truth.ops[at].time_ns[0] * 1e-9 - length_s / 5;
	plot.x1 = picture.truth.ops[at + 1].time_ns[0] * 1e-9 + length_s / 5;
	open_plot(&plot, dir, "gap.svg");
	draw_axes(&plot, 5, 50, "us");
	draw_half_widths(&plot, &picture, at, 1);
	draw_half_widths(&plot, &picture, at, -1);
	open_dots(&plot, "#111", 2);
	for (uint32_t i = 0; i < picture.truth.n_ops; i += 5)
		put_dot(&plot, picture.truth.ops[i].time_ns[0] * 1e-9,
		        (double)(place(&picture, picture.ops[i]->ticks[0]).host_ns -
		                 picture.truth.scene.origin_ns) *
		                        1e-3 -
		                picture.truth.ops[i].time_ns[0] * 1e-3);
	close_path(&plot);
	put_legend(&plot, 0, "#3465a4", "certified error");
	put_legend(&plot, 130, "#111", "operations: how far they really are off");
	close_plot(&plot);
	picture_release(&picture);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fputs("usage: clocks-pictures DIR\n", stderr);
		return 2;
	}
	draw_band_picture(argv[1]);
	draw_errors_picture(argv[1]);
	draw_gap_picture(argv[1]);
	return 0;
}
