/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libflextrace against a provider made of a list: no LTTng.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <flextrace/flextrace.h>

#include "definitions.h"
#include "environment.h"
#include "tracer.h"

/* start.c is left out: it would load the real provider. */
static const int off = 0;
const int *flextrace_i_state[flextrace_i_n_events];
const struct flextrace_i_api *flextrace_i_api;

/* -- the provider: state words, and what was emitted as text -- */

static int words[flextrace_i_n_events];
static struct flextrace_i_client *client;
static char emitted[1 << 20];
static size_t n_emitted_bytes;

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	n_emitted_bytes += (size_t)vsnprintf(emitted + n_emitted_bytes,
	                                     sizeof(emitted) - n_emitted_bytes, format, args);
	va_end(args);
}

static void attach(struct flextrace_i_client *c)
{
	size_t i;

	client = c;
	for (i = 0; i < c->n_states; i++)
		c->state[i] = &words[i];
}

static void detach(struct flextrace_i_client *c)
{
	assert_ptr_equal(c, client);
	client = NULL;
}

static char dialect[16]; /* of the last process record */

static void on_process(const struct flextrace_process *p)
{
	note("process %d/%d start=%d %s %s in %s\n", (int)p->rank, (int)p->world_size,
	     (int)p->start_ns, p->runtime ? p->runtime : "-", p->version ? p->version : "-",
	     p->session);
	snprintf(dialect, sizeof(dialect), "%s", p->dialect);
}

static void on_device(const struct flextrace_device *p)
{
	note("device %u %s %s\n", p->device, p->uuid, p->name);
}

static void on_domain(const struct flextrace_clock_domain *p)
{
	note("domain %u.%u %u bits\n", p->device, p->domain, p->counter_bits);
}

static void on_name(const struct flextrace_name *p)
{
	note("name %u.%u %s %s:%u\n", p->device, p->id, p->name, p->file, p->line);
}

static void on_thread(const struct flextrace_name *p)
{
	note("thread %s %s\n", p->id == (uint32_t)gettid() ? "self" : "other", p->name);
}

static void on_scope(const struct flextrace_scope *p)
{
	note("scope %u %s %s corr=%llx\n", p->kind, p->name, p->begin_ns ? "timed" : "untimed",
	     (unsigned long long)p->correlation);
}

static void on_args(const struct flextrace_scope_args *p)
{
	note("args %llx [%s]\n", (unsigned long long)p->correlation, p->args);
}

static void on_op(const struct flextrace_op *p)
{
	note("op %u %s\n", (uint32_t)p->correlation, p->type);
}

static void on_instant(const struct flextrace_instant *p)
{
	note("instant %s\n", p->name);
}

static void on_batch(const struct flextrace_marker_batch *p)
{
	note("batch of %u\n", p->n_words);
}

static void on_window(const struct flextrace_window *p)
{
	note("window %u %s\n", p->edge, p->name);
}

static struct flextrace_i_identity identity;
static struct flextrace_i_api api;

static const struct environment plain_environment = {
	1, 0, FLEXTRACE_DEVICE_MODE_DRAIN, FLEXTRACE_RANK_UNKNOWN, 0, NULL, "s"};

static void set_all(int on)
{
	size_t i;

	for (i = 0; i < flextrace_i_n_events; i++)
		words[i] = on;
}

static int set_up(void **state)
{
	size_t i;

	(void)state;
	set_all(0);
	for (i = 0; i < flextrace_i_n_events; i++)
		flextrace_i_state[i] = &off;
	flextrace_i_api = NULL;
	memset(&identity, 0, sizeof(identity));
	identity.rank = FLEXTRACE_RANK_UNKNOWN;
	identity.start_ns = 7;
	memset(&api, 0, sizeof(api));
	api.size = sizeof(api);
	api.identity = &identity;
	api.attach = attach;
	api.detach = detach;
	api.process = on_process;
	api.device = on_device;
	api.clock_domain = on_domain;
	api.thread_name = on_thread;
	api.queue_name = api.marker_name = on_name;
	api.scope = on_scope;
	api.scope_args = on_args;
	api.op = on_op;
	api.instant = on_instant;
	api.marker_batch = on_batch;
	api.window = on_window;
	emitted[0] = '\0';
	n_emitted_bytes = 0;
	return 0;
}

static void clear(void)
{
	emitted[0] = '\0';
	n_emitted_bytes = 0;
}

static int count(const char *text)
{
	const char *at = emitted;
	int n = 0;

	for (; (at = strstr(at, text)); at += strlen(text))
		n++;
	return n;
}

static void start_recording(void)
{
	flextrace_i_tracer_init(&plain_environment);
	flextrace_i_tracer_attach(&api);
	set_all(1);
	clear();
}

/* -- records -- */

static int n_evaluated;

static int evaluate(void)
{
	return ++n_evaluated;
}

static const char *evaluate_name(void)
{
	n_evaluated++;
	return "name";
}

static void test_macros__off_evaluate_nothing_and_call_nothing(void **state)
{
	(void)state;
	flextrace_i_tracer_init(&plain_environment);
	flextrace_i_tracer_attach(&api);
	{
		FLEXTRACE_SCOPE_ARGS(evaluate_name(), "%d", evaluate());
		FLEXTRACE_RUNTIME_SCOPE(evaluate(), evaluate_name());
		FLEXTRACE_OP_SCOPE(evaluate_name(), "mm", "", evaluate(), 0, evaluate());
		FLEXTRACE_INSTANT(evaluate_name());
		FLEXTRACE_STEP(evaluate());
	}
	assert_int_equal(n_evaluated, 0);
	assert_string_equal(emitted, "");
}

static void test_macros__drop_what_comes_before_the_table(void **state)
{
	static const int on = 1;

	(void)state;
	flextrace_i_state[flextrace_i_event_instant] = &on; /* seen earlier than the table */
	FLEXTRACE_INSTANT("early");
	assert_string_equal(emitted, "");
}

static void test_scope__is_one_record_at_its_end(void **state)
{
	(void)state;
	start_recording();
	{
		FLEXTRACE_SCOPE("outer");
		{
			FLEXTRACE_RUNTIME_SCOPE_ID(FLEXTRACE_RUNTIME_MALLOC, "inner", 0x11);
			FLEXTRACE_INSTANT("work");
		}
	}
	assert_string_equal(emitted, "instant work\n"
	                             "scope 3 inner timed corr=11\n"
	                             "scope 0 outer timed corr=0\n");
}

static void test_scope__needs_the_event_on_at_both_ends(void **state)
{
	(void)state;
	start_recording();
	set_all(0);
	{
		FLEXTRACE_SCOPE("began off");
		FLEXTRACE_SCOPE_ARGS("args began off", "x");
		set_all(1);
	}
	{
		FLEXTRACE_SCOPE("ended off");
		FLEXTRACE_SCOPE_ARGS("args ended off", "x");
		set_all(0);
	}
	assert_string_equal(emitted, "");
}

static void test_scope_args__come_right_before_their_scope_with_its_number(void **state)
{
	(void)state;
	start_recording();
	{
		FLEXTRACE_SCOPE_ARGS("a", "n=%d", 1);
		FLEXTRACE_SCOPE_ARGS("b", "plain");
	}
	assert_string_equal(emitted, "args 1000000000002 [plain]\n"
	                             "scope 0 b timed corr=1000000000002\n"
	                             "args 1000000000001 [n=1]\n"
	                             "scope 0 a timed corr=1000000000001\n");
}

static void test_scope_args__are_cut_to_their_buffer(void **state)
{
	char expected[FLEXTRACE_ARGS_BYTES + 3];

	(void)state;
	start_recording();
	{
		FLEXTRACE_SCOPE_ARGS("long", "%0*d", 1000, 7);
	}
	memset(expected, '0', sizeof(expected));
	expected[0] = '[';
	strcpy(expected + FLEXTRACE_ARGS_BYTES, "]\n");
	assert_int_equal(count(expected), 1);
}

static void test_op_scope__is_an_op_and_a_scope(void **state)
{
	(void)state;
	start_recording();
	{
		FLEXTRACE_OP_SCOPE("aten::mm", "mm", "", 4, 1, 9);
		FLEXTRACE_INSTANT("inside");
	}
	assert_string_equal(emitted, "op 9 mm\n"
	                             "instant inside\n"
	                             "scope 34 aten::mm timed corr=9\n");
}

static void test_device_off__keeps_device_records_off(void **state)
{
	struct environment env = plain_environment;

	(void)state;
	env.device = FLEXTRACE_DEVICE_MODE_OFF;
	flextrace_i_tracer_init(&env);
	flextrace_i_tracer_attach(&api);
	assert_int_equal(flextrace_device_mode(), FLEXTRACE_DEVICE_MODE_OFF);
	assert_true(client->off >> flextrace_i_event_device_op & 1);
	assert_true(client->off >> flextrace_i_event_marker_batch & 1);
	assert_false(client->off >> flextrace_i_event_scope & 1);
	assert_false(client->off >> flextrace_i_event_device & 1);

	flextrace_i_tracer_init(&plain_environment);
	flextrace_i_tracer_attach(&api);
	assert_true(client->off == 0);
}

static void test_functions__hand_over_batches_and_windows(void **state)
{
	struct flextrace_marker_batch batch;

	(void)state;
	memset(&batch, 0, sizeof(batch));
	batch.n_words = 5;
	flextrace_emit_marker_batch(&batch); /* before there is a provider */
	flextrace_window_begin("w");
	start_recording();
	flextrace_emit_marker_batch(&batch);
	flextrace_window_begin("w");
	flextrace_window_end("w");
	set_all(0);
	flextrace_emit_marker_batch(&batch);
	assert_string_equal(emitted, "batch of 5\nwindow 0 w\nwindow 1 w\n");
}

/* -- definitions and the process; the table lives as long as the program, so ids are by test -- */

static void test_process__keeps_its_start_when_the_rank_comes_late(void **state)
{
	char text[] = "flex";

	(void)state;
	start_recording();
	flextrace_process(text, "2.1");
	text[0] = 'X'; /* it has a copy */
	flextrace_set_rank(3, 8);
	assert_string_equal(emitted, "process -1/0 start=7 flex 2.1 in s\n"
	                             "process 3/8 start=7 flex 2.1 in s\n");
	clear();
	client->dump();
	assert_int_equal(count("process 3/8 start=7 flex 2.1 in s\n"), 1);
}

static void test_process__has_the_dialect_that_it_chose_and_a_neutral_one_else(void **state)
{
	char text[] = "aiu";

	(void)state;
	start_recording();
	flextrace_process("r", "v");
	assert_string_equal(dialect, "neutral");
	flextrace_set_dialect(text);
	text[0] = 'X'; /* it has a copy */
	assert_string_equal(dialect, "aiu");
	client->dump();
	assert_string_equal(dialect, "aiu");
	flextrace_set_dialect(NULL);
	assert_string_equal(dialect, "neutral");
}

static void test_process__does_not_forget_the_rank_that_another_copy_knows(void **state)
{
	(void)state;
	identity.rank = 5;
	identity.world_size = 6;
	start_recording();
	flextrace_process("r", "v");
	assert_string_equal(emitted, "process 5/6 start=7 r v in s\n");
}

static void test_definitions__are_emitted_when_made_and_all_again_on_request(void **state)
{
	struct flextrace_device device = {.device = 10, .uuid = "pci", .n_cores = 4};
	const struct flextrace_clock_domain domain = {
		.device = 10, .domain = 1, .counter_bits = 32};
	const struct flextrace_name marker = {
		.device = 10, .id = 16, .name = "zone", .file = "fw.c", .line = 3};

	(void)state;
	start_recording();
	set_all(0);
	flextrace_device(&device); /* no session yet */
	set_all(1);
	flextrace_clock_domain(&domain);
	FLEXTRACE_QUEUE_NAME(10, 2, "dma");
	flextrace_marker_name(&marker);
	assert_string_equal(emitted, "domain 10.1 32 bits\n"
	                             "name 10.2 dma :0\n"
	                             "name 10.16 zone fw.c:3\n");
	clear();
	client->dump();
	assert_non_null(strstr(emitted, "device 10 pci \n"
	                                "domain 10.1 32 bits\n"
	                                "name 10.2 dma :0\n"
	                                "name 10.16 zone fw.c:3\n"));
}

static void test_definitions__made_before_the_provider_are_emitted_by_attach(void **state)
{
	const struct flextrace_device device = {
		.device = 11, .uuid = "early", .n_cores = 1, .name = "d"};

	(void)state;
	flextrace_i_tracer_init(&plain_environment);
	flextrace_device(&device);
	set_all(1);
	flextrace_i_tracer_attach(&api);
	assert_int_equal(count("process -1/0"), 1);
	assert_int_equal(count("device 11 early d\n"), 1);
}

static void test_definitions__of_the_same_thing_replace(void **state)
{
	char name[] = "old";
	struct flextrace_device device = {.device = 12, .uuid = "u", .n_cores = 1, .name = name};

	(void)state;
	start_recording();
	flextrace_device(&device);
	memcpy(name, "new", 3);
	flextrace_device(&device);
	memcpy(name, "xxx", 3);
	FLEXTRACE_QUEUE_NAME(12, 0, "queue of twelve");
	FLEXTRACE_QUEUE_NAME(13, 0, "queue of thirteen");
	assert_int_equal(count("device 12 u old\n"), 1);
	clear();
	client->dump();
	assert_int_equal(count("device 12 "), 1);
	assert_int_equal(count("device 12 u new\n"), 1);
	assert_int_equal(count("queue of t"), 2);
}

#define N_THREADS 4
#define N_NAMES   500

static void *define_names(void *arg)
{
	uint32_t device = 100 + *(const uint32_t *)arg;
	uint32_t i;

	for (i = 0; i < N_NAMES; i++)
		FLEXTRACE_QUEUE_NAME(device, i, "a queue");
	return NULL;
}

static void test_definitions__may_be_made_by_many_while_they_are_read(void **state)
{
	uint32_t numbers[N_THREADS];
	pthread_t threads[N_THREADS];
	uint32_t i;

	(void)state;
	start_recording();
	set_all(0); /* the list of emitted things is no thread's friend */
	for (i = 0; i < N_THREADS; i++) {
		numbers[i] = i;
		assert_int_equal(pthread_create(&threads[i], NULL, define_names, &numbers[i]), 0);
	}
	for (i = 0; i < 100; i++)
		client->dump();
	for (i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	set_all(1);
	client->dump();
	assert_int_equal(count(" a queue "), N_THREADS * N_NAMES);
}

static void *name_thread(void *arg)
{
	FLEXTRACE_THREAD_NAME((const char *)arg);
	return NULL;
}

static void test_fork__takes_only_the_calling_thread_along(void **state)
{
	char name[] = "worker";
	pthread_t thread;
	int status;
	pid_t child;

	(void)state;
	start_recording();
	FLEXTRACE_THREAD_NAME("main");
	assert_int_equal(pthread_create(&thread, NULL, name_thread, name), 0);
	pthread_join(thread, NULL);
	clear();
	client->dump();
	assert_int_equal(count("thread self main\n"), 1);
	assert_int_equal(count("thread other worker\n"), 1);

	child = fork();
	assert_true(child >= 0);
	if (!child) {
		clear();
		client->forked();
		client->dump();
		_exit(count("thread self main\n") == 1 && count("worker") == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void test_detach__leaves_late_destructors_recording(void **state)
{
	(void)state;
	start_recording();
	flextrace_i_tracer_detach();
	assert_null(client);
	FLEXTRACE_INSTANT("from a destructor");
	assert_string_equal(emitted, "instant from a destructor\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_macros__off_evaluate_nothing_and_call_nothing, set_up),
		cmocka_unit_test_setup(test_macros__drop_what_comes_before_the_table, set_up),
		cmocka_unit_test_setup(test_scope__is_one_record_at_its_end, set_up),
		cmocka_unit_test_setup(test_scope__needs_the_event_on_at_both_ends, set_up),
		cmocka_unit_test_setup(
			test_scope_args__come_right_before_their_scope_with_its_number, set_up),
		cmocka_unit_test_setup(test_scope_args__are_cut_to_their_buffer, set_up),
		cmocka_unit_test_setup(test_op_scope__is_an_op_and_a_scope, set_up),
		cmocka_unit_test_setup(test_device_off__keeps_device_records_off, set_up),
		cmocka_unit_test_setup(test_functions__hand_over_batches_and_windows, set_up),
		cmocka_unit_test_setup(test_process__keeps_its_start_when_the_rank_comes_late,
	                               set_up),
		cmocka_unit_test_setup(
			test_process__has_the_dialect_that_it_chose_and_a_neutral_one_else, set_up),
		cmocka_unit_test_setup(
			test_process__does_not_forget_the_rank_that_another_copy_knows, set_up),
		cmocka_unit_test_setup(
			test_definitions__are_emitted_when_made_and_all_again_on_request, set_up),
		cmocka_unit_test_setup(
			test_definitions__made_before_the_provider_are_emitted_by_attach, set_up),
		cmocka_unit_test_setup(test_definitions__of_the_same_thing_replace, set_up),
		cmocka_unit_test_setup(test_definitions__may_be_made_by_many_while_they_are_read,
	                               set_up),
		cmocka_unit_test_setup(test_fork__takes_only_the_calling_thread_along, set_up),
		cmocka_unit_test_setup(test_detach__leaves_late_destructors_recording, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
