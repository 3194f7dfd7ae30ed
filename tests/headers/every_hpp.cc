// SPDX-License-Identifier: Apache-2.0
// A host that types everything of flextrace.hpp. BARE: the same without flextrace, which is what FLEXTRACE_DISABLE
// leaves of it.
#ifndef BARE
#include <flextrace/flextrace.hpp>

#include <optional>
#include <utility>

namespace
{
/* Handles are members of classes that other libraries see. */
struct request {
	flextrace::async_scope whole;
	flextrace::open_scope part;
	struct flextrace_open_scope handle;
};

flextrace::async_scope begin_request(const char *name)
{
	return flextrace::async_scope{name};
}

void record_definitions()
{
	flextrace_device device = FLEXTRACE_DEVICE_INIT;
	struct flextrace_clock_domain domain = FLEXTRACE_CLOCK_DOMAIN_INIT;
	struct flextrace_device other {
	};

	(void)other;
	flextrace::define_process("runtime", "1");
	flextrace::define(device);
	flextrace::define(domain);
	flextrace::name_thread("main");
	flextrace::name_queue(0, 1, "compute");
	flextrace::name_marker(0, 1, "layer");
}

void record_device(const std::uint32_t (&ts)[FLEXTRACE_N_STAMPS])
{
	const std::uint64_t ts64[FLEXTRACE_N_STAMPS] = {1, 2, 3, 4, 5};
	flextrace::device_op op{0, 1};

	op.payload().domain = 1;
	op.domain(0).job(7).correlation(8).kind(FLEXTRACE_DEVICE_KERNEL).name("matmul");
	op.bracket(1, 2).stamps(ts).bytes(64).power(3).peer(1).group("tp").type("SingleCast");
	op.stamps(ts64).arg("rows", 16u).arg("layout", "tiled");
	op.emit();
	flextrace::device_op{0, 2}.job(8).name([] { return "callable"; }).emit();
}

void record_points(float value)
{
	flextrace::instant("point");
	flextrace::instant(std::string_view("points", 5), 3);
	flextrace::counter("float", value);
	flextrace::counter("size", sizeof(value));
	flextrace::counter("power", value, "W", 0);
	flextrace::counter("enumerator", FLEXTRACE_RUNTIME_LAUNCH);
	flextrace::annotate("key", "value");
	flextrace::step(1);
}

void end_request(request &ended, int result)
{
	ended.whole.end({{"result", result}});
}

void record_intervals()
{
	flextrace::function_scope function;
	flextrace::scope named{"scope"};
	flextrace::scope view{std::string_view("view")};
	flextrace::scope kind{FLEXTRACE_RUNTIME_LAUNCH, "launch"};
	flextrace::scope both{FLEXTRACE_RUNTIME_LAUNCH, "launch", {{"bytes", 64u}}};
	flextrace::scope with_id{FLEXTRACE_RUNTIME_LAUNCH, "launch", 7};
	flextrace::scope with_args{"launch", {{"bytes", 5}, {"text", "value"}}};
	flextrace::scope with_all{FLEXTRACE_RUNTIME_LAUNCH,
	                          "launch",
	                          7,
	                          {{"ok", true},
	                           {std::string_view("key", 3), std::string_view("text")},
	                           {"ratio", 1.5f},
	                           {"kind", FLEXTRACE_RUNTIME_LAUNCH},
	                           {"pointer", &named},
	                           {"none", nullptr},
	                           {"raw", flextrace::bytes{"ab", 2}}}};
	flextrace::scope computed{[] { return std::string_view("computed"); }};
	flextrace::open_scope empty;
	flextrace::open_scope open{FLEXTRACE_RUNTIME_WAIT, "wait", 7};
	flextrace::async_scope async = begin_request("request");
	request moved{std::move(async), std::move(open), {}};
	std::optional<flextrace::scope<>> later;
	flextrace::window window{"window"};

	later.emplace("later");
	empty = flextrace::open_scope{"assigned"};
	end_request(moved, -1);
	if (!moved.whole)
		moved.part.end();
	FLEXTRACE_SCOPE("a macro beside it");
}
} // namespace
#endif

int record_all_hpp(int n);

int record_all_hpp(int n)
{
#ifndef BARE
	const std::uint32_t ts[FLEXTRACE_N_STAMPS] = {1, 2, 3, 4, 5};

	record_definitions();
	record_device(ts);
	record_points(1.5f);
	record_intervals();
#endif
	return n + 1;
}
