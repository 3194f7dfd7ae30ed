/* SPDX-License-Identifier: Apache-2.0 */
/* The checked mode (FLEXTRACE_CHECK=1): names that do not outlive their scopes end the program. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <flextrace/flextrace.h>

static const int on = 1;
const int *flextrace_i_state[flextrace_i_n_events];
const struct flextrace_i_api *flextrace_i_api;

static const char *recorded;

static void on_scope(const struct flextrace_scope *scope)
{
	recorded = scope->name;
}

static void on_span(const struct flextrace_span *span)
{
	recorded = span->name;
}

void flextrace_i_args_begin(struct flextrace_i_args_scope *args, const char *name, const char *file,
                            uint32_t line, const char *format, ...)
{
	(void)format;
	flextrace_i_scope_begin(&args->scope, FLEXTRACE_RUNTIME_USER, name, 0, file, line);
}

void flextrace_i_args_end(struct flextrace_i_args_scope *args)
{
	flextrace_i_scope_end(&args->scope);
}

static int set_up(void **state)
{
	static struct flextrace_i_api api;
	int i;

	(void)state;
	for (i = 0; i < flextrace_i_n_events; i++)
		flextrace_i_state[i] = &on;
	api.scope = on_scope;
	api.span = on_span;
	flextrace_i_api = &api;
	recorded = NULL;
	return 0;
}

/* -- names that outlive their scopes -- */

static void test_check__records_names_that_live_as_they_are(void **state)
{
	char longer[300];
	char name[] = "name";
	int i;

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	for (i = 0; i < 10000; i++) { /* none is kept */
		{
			FLEXTRACE_SCOPE(longer);
			FLEXTRACE_SCOPE(NULL);
		}
		assert_ptr_equal(recorded, longer);
	}
	{
		struct flextrace_open_scope open = FLEXTRACE_SCOPE_BEGIN(name);

		FLEXTRACE_SCOPE_END(&open);
	}
	assert_ptr_equal(recorded, name);
}

static void nest(int depth)
{
	FLEXTRACE_SCOPE("deep");
	if (depth)
		nest(depth - 1);
}

static void test_check__leaves_scopes_unchecked_that_are_too_many(void **state)
{
	(void)state;
	nest(6000);
	assert_string_equal(recorded, "deep");
}

/* -- names that do not -- */

static void rewrite_in_scope(void)
{
	char name[16] = "before";

	FLEXTRACE_SCOPE(name);
	strcpy(name, "after");
}

static void rewrite_in_scope_with_args(void)
{
	char name[16] = "before";

	FLEXTRACE_SCOPE_ARGS(name, "n=%d", 1);
	strcpy(name, "after");
}

static void rewrite_in_handle(void)
{
	char name[16] = "before";
	struct flextrace_open_scope open = FLEXTRACE_SCOPE_BEGIN(name);

	name[6] = '!';
	FLEXTRACE_SCOPE_END(&open);
}

static void rewrite_in_handler(void)
{
	char name[16] = "before";

	FLEXTRACE_HANDLER_SCOPE(name);
	name[0] = '\0';
}

int flextrace_i_enter_handler(enum flextrace_i_event event)
{
	return event == flextrace_i_event_scope;
}

/* Ends the program in `rewrite`, and says why. */
static void expect_end(void (*rewrite)(void))
{
	const struct rlimit no_core = {0, 0};
	char said[1024] = "";
	size_t n = 0;
	ssize_t more;
	int ends[2], status;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		setrlimit(RLIMIT_CORE, &no_core);
		dup2(ends[1], STDERR_FILENO);
		rewrite();
		_exit(0);
	}
	close(ends[1]);
	while ((more = read(ends[0], said + n, sizeof(said) - 1 - n)) > 0)
		n += (size_t)more;
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_non_null(strstr(said, "flextrace: test_check.c:"));
	assert_non_null(strstr(said, "does not outlive"));
	assert_non_null(strstr(said, "\"before\""));
}

static void test_check__ends_a_program_whose_name_was_rewritten(void **state)
{
	(void)state;
	expect_end(rewrite_in_scope);
	expect_end(rewrite_in_scope_with_args);
	expect_end(rewrite_in_handle);
	expect_end(rewrite_in_handler);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_check__records_names_that_live_as_they_are, set_up),
		cmocka_unit_test_setup(test_check__leaves_scopes_unchecked_that_are_too_many,
	                               set_up),
		cmocka_unit_test_setup(test_check__ends_a_program_whose_name_was_rewritten, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
