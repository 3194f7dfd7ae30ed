/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flextrace.hpp: flextrace.h for C++17: scopes are objects, and names may be any text.
 *
 *	#include <flextrace/flextrace.hpp>
 *
 *	void executor::run(const node &n)
 *	{
 *		flextrace::scope s{FLEXTRACE_RUNTIME_EXECUTE, n.name(), n.id, {{"rows", n.rows}}};
 *		...
 *		flextrace::counter("queue depth", pending.size());
 *		flextrace::device_op{device, queue}.job(n.id).kind(FLEXTRACE_DEVICE_KERNEL)
 *			.name(n.name()).bracket(submit_ns, complete_ns).stamps(block.ts).emit();
 *	}
 *
 * What flextrace.h says holds here, and its macros may stand beside this. Header only, over the
 * same libflextrace.a.
 *
 * - A name is a literal, a const char *, a std::string, a std::string_view, or a function without
 *   parameters that returns one of these, which is called only while the event is recorded:
 *   flextrace::scope s{[&] { return op.type() + "/" + op.name(); }};
 * - Names are copied, and only while the event is recorded: temporaries are safe, nothing is
 *   allocated. Those of more than name_bytes - 1 bytes are cut between two characters.
 * - Arguments with types, {{"bytes", n}, {"tensor", name}}, have a key, which is any text but a
 *   function, and a bool, an integer, an enumerator, a floating-point number, such a text, a
 *   pointer, or flextrace::bytes{data, size}. They are kept as args.h says.
 * - Parameters are evaluated even if nothing is recorded, as those of any function.
 * - Nothing throws, but what a name's function throws.
 * - With -DFLEXTRACE_DISABLE nothing of it is left in optimised code.
 *
 * Contents:
 *   intervals     scope, function_scope, open_scope, async_scope
 *   arguments     arg, bytes
 *   points        instant, counter, annotate, step
 *   device work   device_op
 *   definitions   define, define_process, name_thread, name_queue, name_marker
 *   windows       window
 *
 * C++17 and later; gcc and clang. Without exceptions and without RTTI, too.
 */
#ifndef FLEXTRACE_FLEXTRACE_HPP
#define FLEXTRACE_FLEXTRACE_HPP

#include <flextrace/args.hpp>

namespace flextrace
{
inline namespace FLEXTRACE_I_NAMESPACE
{

/* A place in the source: that of the call, as the default of a parameter. */
class place
{
public:
	static constexpr place here(const char *file = __builtin_FILE(),
	                            std::uint32_t line = __builtin_LINE())
	{
		return {file, line};
	}

private:
	constexpr place(const char *file, std::uint32_t line) : file_(file), line_(line)
	{
	}

	const char *file_;
	std::uint32_t line_;

	template <class> friend class scope;
	template <bool> friend class handle;
};

/* -- intervals ------------------------------------------------------------------------------- */

/*
 * An interval from here to the end of the block: one record, at its end. On one thread, nested in
 * what is around it: not to be held over a co_await (async_scope is for that). In a std::optional
 * it is a scope<>.
 */
template <class Args = detail::no_args> class [[nodiscard, maybe_unused]] scope
{
public:
	template <class Name, detail::if_name<Name> = 0>
	FLEXTRACE_I_HERE explicit scope(const Name &name, place at = place::here())
		: scope(FLEXTRACE_RUNTIME_USER, name, 0, at)
	{
	}

	template <class Name, detail::if_name<Name> = 0>
	FLEXTRACE_I_HERE scope(flextrace_runtime_kind kind, const Name &name,
	                       std::uint64_t correlation = 0, place at = place::here())
	{
		if constexpr (detail::is_there) {
			record_.begin_ns = 0;
			if (FLEXTRACE_I_ON(scope)) {
				detail::copy_name(name_, name);
				flextrace_i_scope_begin(&record_, kind, name_.bytes, correlation,
				                        detail::cut_folders(at.file_), at.line_);
			}
		}
	}

	template <class Name, std::size_t N, detail::if_name<Name> = 0>
	FLEXTRACE_I_HERE scope(const Name &name, const arg (&args)[N],
	                       place at = place::here())
		: scope(FLEXTRACE_RUNTIME_USER, name, 0, args, at)
	{
	}

	template <class Name, std::size_t N, detail::if_name<Name> = 0>
	FLEXTRACE_I_HERE scope(flextrace_runtime_kind kind, const Name &name,
	                       const arg (&args)[N], place at = place::here())
		: scope(kind, name, 0, args, at)
	{
	}

	template <class Name, std::size_t N, detail::if_name<Name> = 0>
	FLEXTRACE_I_HERE scope(flextrace_runtime_kind kind, const Name &name,
	                       std::uint64_t correlation, const arg (&args)[N],
	                       place at = place::here())
		: scope(kind, name, correlation, at)
	{
		if constexpr (detail::is_there) {
			if (__builtin_expect(record_.begin_ns != 0, 0))
				record_.args = args_.put(args, std::make_index_sequence<N>());
		}
	}

	FLEXTRACE_I_HERE ~scope()
	{
		if constexpr (detail::is_there)
			flextrace_i_scope_end(&record_);
	}

	scope(const scope &) = delete;
	scope &operator=(const scope &) = delete;

private:
	flextrace_scope record_;
	detail::text name_;
	Args args_;
};

template <class Name, std::size_t N>
scope(const Name &, const arg (&)[N]) -> scope<detail::some_args>;
template <class Name, std::size_t N>
scope(flextrace_runtime_kind, const Name &, const arg (&)[N]) -> scope<detail::some_args>;
template <class Name, std::size_t N>
scope(flextrace_runtime_kind, const Name &, std::uint64_t, const arg (&)[N])
	-> scope<detail::some_args>;

/* A scope of a function's body, by its name: flextrace::function_scope s; */
class [[nodiscard, maybe_unused]] function_scope : public scope<>
{
public:
	FLEXTRACE_I_HERE explicit function_scope(const char *name = __builtin_FUNCTION(),
	                                         place at = place::here())
		: scope(name, at)
	{
	}
};

/*
 * An interval that is held by an object: moved to where it ends, on any thread, by end() or by its
 * destructor. An object without an interval does nothing.
 */
template <bool IsAsync> class [[nodiscard, maybe_unused]] handle
{
public:
	handle() = default;

	template <class Name, detail::if_name<Name> = 0>
	FLEXTRACE_I_HERE explicit handle(const Name &name, place at = place::here())
		: handle(FLEXTRACE_RUNTIME_USER, name, 0, at)
	{
	}

	template <class Name, detail::if_name<Name> = 0>
	FLEXTRACE_I_HERE handle(flextrace_runtime_kind kind, const Name &name,
	                        std::uint64_t correlation = 0, place at = place::here())
	{
		if constexpr (detail::is_there) {
			if (IsAsync ? FLEXTRACE_I_ON(async_span) : FLEXTRACE_I_ON(span)) {
				detail::copy_name(name_, name);
				open_ = flextrace_i_open(1, kind, nullptr, correlation,
				                         detail::cut_folders(at.file_), at.line_);
			}
		}
	}

	FLEXTRACE_I_HERE handle(handle &&other) noexcept
	{
		take(other);
	}

	FLEXTRACE_I_HERE handle &operator=(handle &&other) noexcept
	{
		if (this != &other) {
			end();
			take(other);
		}
		return *this;
	}

	FLEXTRACE_I_HERE ~handle()
	{
		end();
	}

	/* Ends it, once: what is called later does nothing. */
	FLEXTRACE_I_HERE void end() noexcept
	{
		if constexpr (detail::is_there) {
			if (!open_.span.begin_ns)
				return;
			open_.span.name = name_.bytes;
			if (IsAsync)
				open_.thread = 0; /* nobody's: on a line of its own */
			if (IsAsync ? FLEXTRACE_I_ON(async_span) : FLEXTRACE_I_ON(span))
				flextrace_i_open_end(&open_);
			open_.span.begin_ns = 0;
		}
	}

	/* The same with arguments, which are known now. */
	template <std::size_t N> FLEXTRACE_I_HERE void end(const arg (&args)[N]) noexcept
	{
		if constexpr (detail::is_there) {
			detail::some_args room;

			if (!open_.span.begin_ns)
				return;
			open_.span.args = room.put(args, std::make_index_sequence<N>());
			end();
			open_.span.args = nullptr;
		}
	}

	/* Whether there is an interval that will be recorded. */
	explicit operator bool() const noexcept
	{
		return open_.span.begin_ns != 0;
	}

private:
	FLEXTRACE_I_HERE void take(handle & other) noexcept
	{
		open_ = other.open_;
		if (other.open_.span.begin_ns)
			detail::copy(name_, other.name_.bytes);
		other.open_.span.begin_ns = 0;
	}

	flextrace_open_scope open_{};
	detail::text name_;
};

/* On its thread's line if it ends on the thread it began on, nested in what is around it. */
using open_scope = handle<false>;

/* May cross others on any thread: a request, a coroutine, the life of an object. */
using async_scope = handle<true>;

/* -- points ---------------------------------------------------------------------------------- */

template <class Name, detail::if_name<Name> = 0>
FLEXTRACE_I_HERE void instant(const Name &name, std::uint64_t correlation = 0)
{
	if (FLEXTRACE_I_ON(instant)) {
		detail::text room;

		flextrace_i_instant(detail::end_name(room, name), correlation);
	}
}

/* A sample of a number, with its unit and the device that it is of, -1 = of the process. */
template <class Name, class Value, detail::if_name<Name> = 0, detail::if_number<Value> = 0>
FLEXTRACE_I_HERE void counter(const Name &name, Value value, const char *unit = "",
                              std::int32_t device = -1)
{
	if (FLEXTRACE_I_ON(counter)) {
		detail::text room;

		flextrace_i_counter(device, detail::end_name(room, name), unit,
		                    static_cast<double>(value));
	}
}

/* A fact about the run, as text. */
template <class Key, class Value, detail::if_name<Key> = 0, detail::if_name<Value> = 0>
FLEXTRACE_I_HERE void annotate(const Key &key, const Value &value)
{
	if (FLEXTRACE_I_ON(annotation)) {
		detail::text rooms[2];

		flextrace_i_annotation(detail::end_name(rooms[0], key),
		                       detail::end_name(rooms[1], value));
	}
}

/* Begins step `number` of the workload. */
FLEXTRACE_I_HERE void step(std::uint64_t number)
{
	FLEXTRACE_STEP(number);
}

/* -- device work ----------------------------------------------------------------------------- */

/*
 * One finished control block, by what is known of it. What is not said is not known. Nothing is
 * recorded without emit(), which may be called once the device is done:
 *
 *	flextrace::device_op{device, queue}.job(7).name("matmul").stamps(block.ts).emit();
 *
 * payload() has the members that no function here sets. Their strings are weak, as those of group()
 * and type() are: read by emit().
 */
class [[nodiscard]] device_op
{
public:
	FLEXTRACE_I_HERE explicit device_op(std::uint32_t device, std::uint32_t queue = 0)
	{
		op_.device = device;
		op_.queue = queue;
	}

	FLEXTRACE_I_HERE device_op &domain(std::uint32_t domain)
	{
		op_.domain = domain;
		return *this;
	}
	FLEXTRACE_I_HERE device_op &job(std::uint64_t job)
	{
		op_.job = job;
		return *this;
	}
	FLEXTRACE_I_HERE device_op &correlation(std::uint64_t correlation)
	{
		op_.correlation = correlation;
		return *this;
	}
	FLEXTRACE_I_HERE device_op &kind(flextrace_device_kind kind)
	{
		op_.kind = kind;
		return *this;
	}
	template <class Name, detail::if_name<Name> = 0>
	FLEXTRACE_I_HERE device_op &name(const Name &name)
	{
		if (FLEXTRACE_I_ON(device_op)) {
			detail::copy_name(name_, name);
			has_name_ = true;
		}
		return *this;
	}
	/* Host times: before the doorbell, and after the completion was seen. */
	FLEXTRACE_I_HERE device_op &bracket(std::uint64_t submit_ns, std::uint64_t complete_ns)
	{
		op_.submit_ns = submit_ns;
		op_.complete_ns = complete_ns;
		return *this;
	}
	/* TS1 to TS5, 0 = not taken. */
	FLEXTRACE_I_HERE device_op &stamps(const std::uint32_t (&ts)[FLEXTRACE_N_STAMPS])
	{
		__builtin_memcpy(op_.ts, ts, sizeof(op_.ts));
		return *this;
	}
	/* The same of a counter that gives all its bits. */
	FLEXTRACE_I_HERE device_op &stamps(const std::uint64_t (&ts)[FLEXTRACE_N_STAMPS])
	{
		__builtin_memcpy(op_.ts64, ts, sizeof(op_.ts64));
		return *this;
	}
	FLEXTRACE_I_HERE device_op &bytes(std::uint64_t n)
	{
		op_.bytes = n;
		return *this;
	}
	FLEXTRACE_I_HERE device_op &power(std::uint32_t power)
	{
		op_.power = power;
		return *this;
	}
	FLEXTRACE_I_HERE device_op &peer(std::int32_t rank)
	{
		op_.peer = rank;
		return *this;
	}
	FLEXTRACE_I_HERE device_op &group(const char *group)
	{
		op_.group = group;
		return *this;
	}
	FLEXTRACE_I_HERE device_op &type(const char *type)
	{
		op_.type = type;
		return *this;
	}
	template <class Key, class Value>
	FLEXTRACE_I_HERE device_op &arg(const Key &key, const Value &value)
	{
		if (FLEXTRACE_I_ON(device_op))
			detail::argument(key, value).add_to(args_);
		return *this;
	}
	FLEXTRACE_I_HERE flextrace_device_op &payload()
	{
		return op_;
	}

	FLEXTRACE_I_HERE void emit()
	{
		if (FLEXTRACE_I_ON(device_op)) {
			if (has_name_)
				op_.name = name_.bytes;
			if (args_.n_bytes || args_.n_left_out)
				op_.args = args_.text;
			flextrace_i_device_op(&op_);
		}
	}

private:
	flextrace_device_op op_ = FLEXTRACE_DEVICE_OP_INIT;
	bool has_name_ = false;
	detail::text name_;
	flextrace_args args_ = FLEXTRACE_ARGS_INIT;
};

/* -- definitions ----------------------------------------------------------------------------- */

FLEXTRACE_I_HERE void define_process(const char *runtime, const char *version)
{
	flextrace_define_process(runtime, version);
}
FLEXTRACE_I_HERE void define(const flextrace_device &device)
{
	flextrace_define_device(&device);
}
FLEXTRACE_I_HERE void define(const flextrace_clock_domain &domain)
{
	flextrace_define_clock_domain(&domain);
}

/* Names the calling thread. */
template <class Name, detail::if_name<Name> = 0> FLEXTRACE_I_HERE void name_thread(const Name &name)
{
	if constexpr (detail::is_there) {
		detail::text room;

		FLEXTRACE_THREAD_NAME(detail::end_name(room, name));
	}
}

/* Names a queue (stream) of a device. */
template <class Name, detail::if_name<Name> = 0>
FLEXTRACE_I_HERE void name_queue(std::uint32_t device, std::uint32_t queue, const Name &name)
{
	if constexpr (detail::is_there) {
		detail::text room;

		FLEXTRACE_QUEUE_NAME(device, queue, detail::end_name(room, name));
	}
}

/* Names what the firmware marks by a number, with FLEXTRACE_ZONE_BEGIN_ID(number) and the like. */
template <class Name, detail::if_name<Name> = 0>
FLEXTRACE_I_HERE void name_marker(std::uint32_t device, std::uint32_t number, const Name &name)
{
	if constexpr (detail::is_there) {
		flextrace_name marker = FLEXTRACE_NAME_INIT;
		detail::text room;

		marker.device = device;
		marker.id = FLEXTRACE_MARKER_ID(number);
		marker.name = detail::end_name(room, name);
		flextrace_marker_name(&marker);
	}
}

/* -- windows --------------------------------------------------------------------------------- */

/* A measured window, to the end of the block. */
class [[nodiscard, maybe_unused]] window
{
public:
	template <class Name, detail::if_name<Name> = 0>
	FLEXTRACE_I_HERE explicit window(const Name &name)
	{
		if constexpr (detail::is_there) {
			detail::copy_name(name_, name);
			flextrace_window_begin(name_.bytes);
		}
	}
	FLEXTRACE_I_HERE ~window()
	{
		if constexpr (detail::is_there)
			flextrace_window_end(name_.bytes);
	}

	window(const window &) = delete;
	window &operator=(const window &) = delete;

private:
	detail::text name_;
};

} // namespace
} // namespace flextrace

#undef FLEXTRACE_I_HERE
#undef FLEXTRACE_I_NAMESPACE

#endif
