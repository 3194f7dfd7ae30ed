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
	           " " + std::to_string(record->correlation);
	for (const char *at = record->args ? record->args : ""; *at; at++)
		emitted += at == record->args ? std::string(" ") + *at
		           : *at == '\x1f'    ? std::string("=")
		           : *at == '\x1e'    ? std::string(";")
		                              : std::string(1, *at);
	emitted += "\n";
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
		           std::to_string(op->complete_ns) + " " +
		           std::to_string(op->ts[4] + op->ts64[4]) + " " +
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

/* -- arguments -- */

enum class color : unsigned char { red = 3 };

static void test_args__have_the_types_of_their_values(void **)
{
	const std::string key = "key", value = "value";
	const char *null = nullptr;
	const double ratio = 1.5;

	{
		flextrace::scope s{"a", {{"i", -1}, {"u", 16u}, {"z", sizeof(char)}, {"b", true}}};
	}
	expect("scope 0 a 0 ii=ffffffffffffffff;uu=10;uz=1;bb=1;\n");
	{
		flextrace::scope s{"a", {{"d", ratio}, {"e", color::red}, {"l", -2LL}, {"c", 'A'}}};
	}
	expect("scope 0 a 0 dd=3ff8000000000000;ue=3;il=fffffffffffffffe;ic=41;\n");
	{
		flextrace::scope s{"a", {{key + "1", value + "1"}, {"v", std::string_view("views", 4)},
		                         {"s", null}, {"e", ""}, {"p", nullptr},
		                         {"x", flextrace::bytes{"\x01\xff", 2}}}};
	}
	expect("scope 0 a 0 skey1=6:value1;sv=4:view;ss=0:;se=0:;pp=0;xx=01ff;\n");
}

static void test_args__stand_on_scopes_handles_and_operations(void **)
{
	{
		flextrace::scope s{FLEXTRACE_RUNTIME_LAUNCH, std::string("launch"), 7, {{"n", 1}}};
	}
	expect(("scope " + std::to_string(FLEXTRACE_RUNTIME_LAUNCH) + " launch 7 in=1;\n").c_str());
	flextrace::async_scope async{"async"};
	async.end({{"n", 2}});
	expect("async 0 async 0 in=2;\n");
	flextrace::device_op{0}.arg("n", 3).arg(std::string("s"), "t").emit();
	expect("op 0  0 in=3;ss=1:t;\n0 0 0 0-0 0 0 -1\n");
	turn(0);
	{
		flextrace::scope s{"a", {{"n", 1}}};

		turn(1);
		async.end({{"n", 2}});
	}
	expect("");
}

static void test_args__of_a_scope_cost_no_other_scope_its_stack(void **)
{
	assert_true(sizeof(flextrace::scope<>) < sizeof(flextrace_scope) + flextrace::name_bytes + 16);
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
		TEST(test_args__have_the_types_of_their_values),
		TEST(test_args__stand_on_scopes_handles_and_operations),
		TEST(test_args__of_a_scope_cost_no_other_scope_its_stack),
		TEST(test_device_op__is_recorded_as_said),
		TEST(test_points__take_any_text_and_number),
		TEST(test_definitions__take_any_text),
	};

	return cmocka_run_group_tests(tests, nullptr, nullptr);
}
