/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "derivations.h"
#include "profile.h"
#include "scratch.h"

struct place {
	char *dir;      /* owned */
	char path[512]; /* of the profile */
	struct conversion_options options;
	struct flextrace_error error;
};

static int start(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	place->dir = scratch_dir();
	snprintf(place->path, sizeof(place->path), "%s/profile.json", place->dir);
	place->options = (struct conversion_options)CONVERSION_OPTIONS_INIT;
	*state = place;
	return 0;
}

static int stop(void **state)
{
	struct place *place = *state;

	conversion_options_release(&place->options);
	scratch_remove(place->dir);
	free(place);
	return 0;
}

/* What a command line does. */
static void give(struct place *place, const char *name, const char *text)
{
	const struct option_spec *spec = option_find(conversion_option_table, name);

	if (!spec)
		spec = option_find(aie_option_table, name);
	profile_note_given(spec, &place->options);
	assert_int_equal(option_parse(spec, text, &place->options, &place->error), 0);
}

static int read_profile(struct place *place, const char *text)
{
	FILE *file = fopen(place->path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	place->options.profile = place->path;
	return profile_read(&place->options, &place->error);
}

static void read_good(struct place *place, const char *text)
{
	if (read_profile(place, text) < 0)
		fail_msg("%s", place->error.message);
}

/* -- what it says --------------------------------------------------------------------------- */

static void test_profile__sets_options_of_every_type(void **state)
{
	struct place *place = *state;
	const struct conversion_options *options = &place->options;

	read_good(place, "{\"formats\": \"text\", \"gzip\": true, \"rho-ppm\": 2.5, "
	                 "\"nominal-mhz\": 560, \"count\": 7, \"fail-on-loss\": 3, "
	                 "\"drop\": [\"name:a\", \"name:b\"], \"keep\": \"kind:c\"}");
	assert_string_equal(options->formats, "text");
	assert_true(options->gzip);
	assert_true(options->clock.rho_ppm == 2.5 && options->clock.nominal_mhz == 560.0);
	assert_int_equal(options->select.count, 7);
	assert_true(options->plain.fail_on_loss.is_set && options->plain.fail_on_loss.value == 3);
	assert_int_equal(options->select.drop.n, 2);
	assert_string_equal(options->select.drop.texts[1], "name:b");
	assert_string_equal(options->select.keep.texts[0], "kind:c");
	assert_int_equal(options->align.reference_rank, -1); /* not said: the default */
}

static void test_profile__sets_options_of_aie(void **state)
{
	struct place *place = *state;
	const struct aie_options *aie = &place->options.findings.aie;

	give(place, "iterations", "5"); /* the last of all */
	read_good(place, "{\"peak-macs\": 256, \"M\": 512, \"hwid\": \"npu2\", \"iterations\": 9}");
	assert_true(aie->peak_macs == 256 && aie->M == 512 && aie->iterations == 5);
	assert_string_equal(aie->hwid, "npu2");
}

static void test_profile__leaves_what_the_caller_gave(void **state)
{
	struct place *place = *state;
	const struct conversion_options *options = &place->options;

	give(place, "rho-ppm", "10"); /* the default, but given */
	give(place, "gzip", "no");
	give(place, "drop", "name:mine");
	read_good(place, "{\"rho-ppm\": 2, \"gzip\": true, \"formats\": \"text\", "
	                 "\"drop\": [\"name:its\"]}");
	assert_true(options->clock.rho_ppm == 10.0);
	assert_false(options->gzip);
	assert_string_equal(options->formats, "text");
	assert_int_equal(options->select.drop.n, 1);
	assert_string_equal(options->select.drop.texts[0], "name:mine");
}

static void test_profile__is_not_needed(void **state)
{
	struct place *place = *state;

	assert_int_equal(profile_read(&place->options, &place->error), 0);
	read_good(place, "{}");
	assert_string_equal(place->options.formats, "chrome,csv,report");
}

static void test_profile__refuses_what_it_does_not_know(void **state)
{
	static const struct {
		const char *text, *complaint;
	} cases[] = {
		{"", "no JSON object"},
		{"[]", "no JSON object"},
		{"{\"gzip\": true", "no JSON object"},
		{"{} {}", "no JSON object"},
		{"{\"gzipped\": true}", "no such option: gzipped"},
		{"{\"profile\": \"x\"}", "no such option: profile"},
		{"{\"without\": \"flows\"}", "no such option: without"},
		{"{\"gzip\": 1}", "`gzip` takes a switch"},
		{"{\"gzip\": null}", "`gzip` takes a switch"},
		{"{\"rho-ppm\": \"2\"}", "`rho-ppm` takes a number"},
		{"{\"rho-ppm\": -1}", "`rho-ppm` is out of range"},
		{"{\"count\": 1.5}", "`count` takes a whole number"},
		{"{\"formats\": \"\"}", "`formats` must not be empty"},
		{"{\"formats\": [\"csv\"]}", "`formats` takes a text"},
		{"{\"drop\": [1]}", "`drop` takes"},
		{"{\"derivations\": []}", "derivations is no object"},
		{"{\"derivations\": {\"loops\": 0}}", "neither true nor false: loops"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		void *inner;
		struct place *place;

		start(&inner);
		place = inner;
		assert_int_equal(read_profile(place, cases[i].text), FLEXTRACE_E_USAGE);
		if (!strstr(place->error.message, cases[i].complaint))
			fail_msg("%s: %s", cases[i].text, place->error.message);
		stop(&inner);
	}
}

static void test_profile__says_when_it_cannot_be_read(void **state)
{
	struct place *place = *state;

	place->options.profile = "/nonexistent/profile.json";
	assert_int_equal(profile_read(&place->options, &place->error), FLEXTRACE_E_USAGE);
	assert_non_null(strstr(place->error.message, "No such file"));
}

/* -- derivations ---------------------------------------------------------------------------- */

static void expect_state(const struct derivations *derivations, const char *name,
                         enum derivation_state state)
{
	if (derivation_state(derivations, name) != state)
		fail_msg("%s: state %d instead of %d", name,
		         (int)derivation_state(derivations, name), (int)state);
}

static void test_profile__switches_derivations_off(void **state)
{
	struct place *place = *state;
	struct derivations derivations;

	give(place, "with", "iterations,flows");
	give(place, "without", "kernels");
	read_good(place, "{\"derivations\": {\"loops\": false, \"iterations\": false, "
	                 "\"flows\": false, \"active\": true, \"PT Active\": false}}");
	assert_int_equal(derivations_read(&derivations, &place->options, &place->error), 0);
	expect_state(&derivations, "loops", DERIVATION_OFF);
	expect_state(&derivations, "kernels", DERIVATION_OFF);
	expect_state(&derivations, "PT Active", DERIVATION_OFF);
	expect_state(&derivations, "iterations", DERIVATION_ASKED);
	expect_state(&derivations, "flows", DERIVATION_ASKED);
	expect_state(&derivations, "active", DERIVATION_USUAL);
	expect_state(&derivations, "no such thing", DERIVATION_USUAL);
}

static void test_profile__lists_the_derivations_that_there_are(void **state)
{
	struct place *place = *state;
	struct derivations derivations;

	read_good(place, "{\"derivations\": {\"flow\": false}}");
	assert_int_equal(derivations_read(&derivations, &place->options, &place->error),
	                 FLEXTRACE_E_USAGE);
	for (uint32_t i = 0; derivation_name(i); i++) {
		assert_true(i < MAX_DERIVATIONS);
		assert_non_null(strstr(place->error.message, derivation_name(i)));
		for (uint32_t j = 0; j < i; j++)
			assert_string_not_equal(derivation_name(i), derivation_name(j));
	}
}

#define PLACE(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE(test_profile__sets_options_of_every_type),
		PLACE(test_profile__sets_options_of_aie),
		PLACE(test_profile__leaves_what_the_caller_gave),
		PLACE(test_profile__is_not_needed),
		cmocka_unit_test(test_profile__refuses_what_it_does_not_know),
		PLACE(test_profile__says_when_it_cannot_be_read),
		PLACE(test_profile__switches_derivations_off),
		PLACE(test_profile__lists_the_derivations_that_there_are),
	};

	return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
