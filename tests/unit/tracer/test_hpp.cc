// SPDX-License-Identifier: Apache-2.0
// flextrace.hpp against a provider made of a list: no LTTng.
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <utility>

extern "C" {
#include <cmocka.h>
}

#include <flextrace/flextrace.hpp>

static int words[flextrace_i_n_events];
const int *flextrace_i_state[flextrace_i_n_events];
const struct flextrace_i_api *flextrace_i_api;

static std::string emitted;

extern "C" void flextrace_window_begin(const char *name)
{
	emitted += std::string("window ") + name + "\n";
}
extern "C" void flextrace_window_end(const char *name)
{
	emitted += std::string("end ") + name + "\n";
}
extern "C" void flextrace_i_thread_name(const char *name)
{
	emitted += std::string("thread ") + name + "\n";
}
extern "C" void flextrace_i_queue_name(std::uint32_t device, std::uint32_t queue, const char *name)
{
	emitted += "queue " + std::to_string(device) + " " + std::to_string(queue) + " " + name +
	           "\n";
}
extern "C" void flextrace_marker_name(const struct flextrace_name *marker)
{
	emitted += "marker " + std::to_string(marker->id) + " " + marker->name + "\n";
}

template <class Record> static void note(const char *event, const Record *record)
{
	emitted += std::string(event) + " " + std::to_string(record->kind) + " " + record->name +
	           " " + std::to_string(record->correlation) + "\n";
}

static const struct flextrace_i_api *provider()
{
	static struct flextrace_i_api api;

	api.size = sizeof(api);
	api.scope = [](const flextrace_scope *scope) { note("scope", scope); };
	api.span = [](const flextrace_span *span) { note("span", span); };
	api.async_span = [](const flextrace_span *span) { note("async", span); };
	api.instant = [](const flextrace_instant *instant) {
		emitted += std::string("instant ") + instant->name + "\n";
	};
	api.counter = [](const flextrace_counter *counter) {
		emitted += std::string("counter ") + counter->name + " " +
		           std::to_string(counter->value) + "\n";
	};
	api.annotation = [](const flextrace_annotation *fact) {
		emitted += std::string(fact->key) + "=" + fact->value + "\n";
	};
	api.device_op = [](const flextrace_device_op *op) {
		note("op", op);
		emitted += std::to_string(op->device) + " " + std::to_string(op->queue) + " " +
		           std::to_string(op->job) + " " + std::to_string(op->submit_ns) + "-" +
		           std::to_string(op->complete_ns) + " " + std::to_string(op->ts[4]) + " " +
		           std::to_string(op->bytes) + " " + std::to_string(op->peer) + "\n";
	};
	return &api;
}

static void turn(int on)
{
	for (int &word : words)
		word = on;
}

static int set_up(void **)
{
	for (int i = 0; i < flextrace_i_n_events; i++)
		flextrace_i_state[i] = &words[i];
	flextrace_i_api = provider();
	emitted.clear();
	turn(1);
	return 0;
}

static void expect(const char *text)
{
	assert_string_equal(emitted.c_str(), text);
	emitted.clear();
}

/* -- names -- */

static void test_scope__copies_names_that_do_not_outlive_it(void **)
{
	const std::string a = "a name of more than the bytes of a small string", b = "/b";
	char buffer[] = "buffer";
	const char *null = nullptr;

	{
		flextrace::scope s{a + b};
		flextrace::scope in_buffer{buffer};

		memcpy(buffer, "gone!!", 6);
	}
	expect("scope 0 buffer 0\nscope 0 a name of more than the bytes of a small string/b 0\n");
	{
		flextrace::scope s{std::string_view("views").substr(1, 3)};
	}
	expect("scope 0 iew 0\n");
	{
		flextrace::scope s{null};
	}
	expect("scope 0  0\n");
}

static void test_scope__cuts_long_names_between_characters(void **)
{
	const std::string most(flextrace::name_bytes - 1, 'x');
	const std::string umlauts = most.substr(1) + "\u00e4",
			  clefs = most.substr(3) + "\U0001d11e";

	{
		flextrace::scope s{most};
	}
	expect(("scope 0 " + most + " 0\n").c_str());
	{
		flextrace::scope s{most + "y"};
	}
	expect(("scope 0 " + most + " 0\n").c_str());
	{
		flextrace::scope s{umlauts};
	}
	expect(("scope 0 " + most.substr(1) + " 0\n").c_str());
	{
		flextrace::scope s{clefs};
	}
	expect(("scope 0 " + most.substr(3) + " 0\n").c_str());
}

static void test_scope__asks_for_a_name_only_while_recorded(void **)
{
	int n_asked = 0;
	const auto name = [&n_asked] { return "asked " + std::to_string(++n_asked); };

	turn(0);
	{
		flextrace::scope s{name};
		flextrace::async_scope async{name};

		flextrace::instant(name);
	}
	assert_int_equal(n_asked, 0);
	expect("");
	turn(1);
	{
		flextrace::scope s{name};
	}
	expect("scope 0 asked 1 0\n");
}

/* -- intervals -- */

static void test_scope__is_recorded_if_the_event_is_on_at_both_ends(void **)
{
	turn(0);
	{
		flextrace::scope s{"began off"};

		turn(1);
	}
	{
		flextrace::scope s{FLEXTRACE_RUNTIME_LAUNCH, "ended off", 3};

		turn(0);
	}
	turn(1);
	expect("");
	{
		flextrace::scope s{FLEXTRACE_RUNTIME_LAUNCH, "on", 3};
	}
	expect(("scope " + std::to_string(FLEXTRACE_RUNTIME_LAUNCH) + " on 3\n").c_str());
}

static std::string place_of_scope;

static void test_scope__knows_its_place(void **)
{
	static struct flextrace_i_api api;
	const std::uint32_t line = __LINE__ + 8;

	api.scope = [](const flextrace_scope *scope) {
		place_of_scope = std::string(scope->name) + " " + scope->file + ":" +
		                 std::to_string(scope->line);
	};
	flextrace_i_api = &api;
	{
		flextrace::scope s{"a"};
	}
	assert_string_equal(place_of_scope.c_str(),
	                    ("a test_hpp.cc:" + std::to_string(line)).c_str());
	{
		flextrace::function_scope s;
	}
	assert_string_equal(
		place_of_scope.c_str(),
		("test_scope__knows_its_place test_hpp.cc:" + std::to_string(line + 5)).c_str());
}

static void test_handle__ends_once_wherever_it_was_moved(void **)
{
	flextrace::open_scope empty;

	assert_false(static_cast<bool>(empty));
	{
		flextrace::open_scope first{"first"};
		flextrace::open_scope second{std::move(first)};

		assert_false(static_cast<bool>(first)); // NOLINT(bugprone-use-after-move)
		assert_true(static_cast<bool>(second));
		empty = std::move(second);
		expect("");
		empty = flextrace::open_scope{"second"}; // ends the first one
		expect("span 0 first 0\n");
		empty.end();
		empty.end();
		expect("span 0 second 0\n");
	}
	expect("");
	std::optional<flextrace::open_scope> held(std::in_place, "held");
	held.reset();
	expect("span 0 held 0\n");
}

static void test_handle__tells_threads_apart(void **)
{
	flextrace::open_scope open{"open"};
	flextrace::async_scope async{FLEXTRACE_RUNTIME_WAIT, "async", 9};

	async.end();
	expect(("async " + std::to_string(FLEXTRACE_RUNTIME_WAIT) + " async 9\n").c_str());
	std::thread([moved = std::move(open)]() mutable { moved.end(); }).join();
	expect("async 0 open 0\n");
}

static void test_handle__that_ends_while_off_is_not_recorded_later(void **)
{
	flextrace::async_scope async{"async"};

	turn(0);
	async.end();
	turn(1);
	async.end();
	expect("");
}

/* -- the rest -- */

static void test_device_op__is_recorded_as_said(void **)
{
	const std::uint32_t ts[FLEXTRACE_N_STAMPS] = {1, 2, 3, 4, 5};
	const std::string name = "matmul";

	flextrace::device_op{1, 2}
		.job(7)
		.kind(FLEXTRACE_DEVICE_KERNEL)
		.name(name + "_16")
		.correlation(8)
		.bracket(10, 20)
		.stamps(ts)
		.bytes(64)
		.emit();
	expect("op 1 matmul_16 8\n1 2 7 10-20 5 64 -1\n");
	flextrace::device_op{3}.peer(4).emit();
	expect("op 0  0\n3 0 0 0-0 0 0 4\n");
	turn(0);
	flextrace::device_op{1, 2}.name(name).emit();
	expect("");
}

static void test_points__take_any_text_and_number(void **)
{
	const std::string text = "text";

	flextrace::instant(text + "!");
	flextrace::counter(std::string_view("counters", 7), std::size_t{5});
	flextrace::counter([&] { return text; }, 1.5f);
	flextrace::annotate(text, text + "s");
	expect("instant text!\ncounter counter 5.000000\ncounter text 1.500000\ntext=texts\n");
}

static void test_definitions__take_any_text(void **)
{
	const std::string text = "text";

	flextrace::name_thread(text + "1");
	flextrace::name_queue(1, 2, text + "2");
	flextrace::name_marker(0, 3, text + "3");
	{
		flextrace::window window{text + "4"};

		expect("thread text1\nqueue 1 2 text2\nmarker 134217731 text3\nwindow text4\n");
	}
	expect("end text4\n");
}

int main()
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, set_up)
		TEST(test_scope__copies_names_that_do_not_outlive_it),
		TEST(test_scope__cuts_long_names_between_characters),
		TEST(test_scope__asks_for_a_name_only_while_recorded),
		TEST(test_scope__is_recorded_if_the_event_is_on_at_both_ends),
		TEST(test_scope__knows_its_place),
		TEST(test_handle__ends_once_wherever_it_was_moved),
		TEST(test_handle__tells_threads_apart),
		TEST(test_handle__that_ends_while_off_is_not_recorded_later),
		TEST(test_device_op__is_recorded_as_said),
		TEST(test_points__take_any_text_and_number),
		TEST(test_definitions__take_any_text),
	};

	return cmocka_run_group_tests(tests, nullptr, nullptr);
}
