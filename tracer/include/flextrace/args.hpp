/* SPDX-License-Identifier: Apache-2.0 */
/*
 * args.hpp: names and arguments of flextrace.hpp, which includes it: how a text of any type becomes
 * a name, and a value of any type an argument (args.h).
 */
#ifndef FLEXTRACE_ARGS_HPP
#define FLEXTRACE_ARGS_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <flextrace/flextrace.h>

#if __cplusplus < 201703L
#error "flextrace.hpp needs C++17; flextrace.h is for C++11"
#endif

/* Inlined everywhere: no function of this file is one that several libraries share, as each has its
 * own libflextrace. */
#define FLEXTRACE_I_HERE __attribute__((__always_inline__)) inline

/* Files that are compiled with FLEXTRACE_DISABLE have classes of their own. */
#ifdef FLEXTRACE_DISABLE
#define FLEXTRACE_I_NAMESPACE disabled
#else
#define FLEXTRACE_I_NAMESPACE format_2
#endif

namespace flextrace
{
inline namespace FLEXTRACE_I_NAMESPACE
{

inline constexpr std::size_t name_bytes = 128; /* with the NUL */

namespace detail
{
#ifdef FLEXTRACE_DISABLE
inline constexpr bool is_there = false;
#else
inline constexpr bool is_there = true;
#endif

struct text {
	char bytes[name_bytes];
};

FLEXTRACE_I_HERE void copy(text &to, std::string_view from)
{
	std::size_t n = from.size();

	if (n >= name_bytes) {
		n = name_bytes - 1;
		while (n > 0 && (from[n] & 0xc0) == 0x80) /* inside a character of UTF-8 */
			n--;
	}
	if (n) /* else there may be no bytes */
		__builtin_memcpy(to.bytes, from.data(), n);
	to.bytes[n] = '\0';
}

template <class T>
inline constexpr bool is_c_string = std::is_convertible_v<const T &, const char *>;
template <class T>
inline constexpr bool is_text = is_c_string<T> ||
                                std::is_convertible_v<const T &, std::string_view>;

template <class T> constexpr bool find_is_name()
{
	if constexpr (std::is_invocable_v<const T &>)
		return is_text<std::remove_reference_t<std::invoke_result_t<const T &>>>;
	else
		return is_text<T>;
}
template <class T> using if_name = std::enable_if_t<find_is_name<T>(), int>;
template <class T>
using if_number = std::enable_if_t<std::is_arithmetic_v<T> || std::is_enum_v<T>, int>;

template <class Name> FLEXTRACE_I_HERE void copy_name(text &to, const Name &name)
{
	if constexpr (std::is_invocable_v<const Name &>) {
		copy_name(to, name());
	} else if constexpr (is_c_string<Name>) {
		const char *bytes = name;

		copy(to, bytes ? std::string_view(bytes) : std::string_view());
	} else {
		copy(to, name);
	}
}

/* `name` with a NUL behind it, for as long as `room` and `name` are there. */
template <class Name> FLEXTRACE_I_HERE const char *end_name(text &room, const Name &name)
{
	if constexpr (!std::is_invocable_v<const Name &> && is_c_string<Name>)
		return name;
	copy_name(room, name);
	return room.bytes;
}

FLEXTRACE_I_HERE const char *cut_folders(const char *file)
{
	const char *slash = __builtin_strrchr(file, '/');

	return slash ? slash + 1 : file;
}
} // namespace detail

/* -- arguments ------------------------------------------------------------------------------- */

/* The value of an argument that is no number and no text. */
struct bytes {
	const void *data;
	std::size_t size;
};

/* A key and a value, which are read by what takes the argument. */
class arg
{
public:
	template <class Value>
	FLEXTRACE_I_HERE arg(const char *key, const Value &value) : key_(key)
	{
		set(value);
	}

	template <class Value>
	FLEXTRACE_I_HERE arg(std::string_view key, const Value &value)
		: key_(key.data()), n_key_(key.size())
	{
		set(value);
	}

	FLEXTRACE_I_HERE void add_to(flextrace_args &args) const;

private:
	enum class type { boolean, integer, natural, real, pointer, text, bytes };
	static constexpr std::size_t to_nul = static_cast<std::size_t>(-1);

	template <class Value> FLEXTRACE_I_HERE void set(const Value &value)
	{
		if constexpr (std::is_enum_v<Value>) {
			set(static_cast<std::underlying_type_t<Value>>(value));
		} else if constexpr (std::is_same_v<Value, bool>) {
			type_ = type::boolean;
			value_.natural = value;
		} else if constexpr (std::is_floating_point_v<Value>) {
			type_ = type::real;
			value_.real = static_cast<double>(value);
		} else if constexpr (std::is_integral_v<Value>) {
			type_ = std::is_signed_v<Value> ? type::integer : type::natural;
			value_.natural = static_cast<std::uint64_t>(value);
		} else if constexpr (std::is_same_v<Value, bytes>) {
			type_ = type::bytes;
			value_.pointer = value.data;
			size_ = value.size;
		} else if constexpr (std::is_null_pointer_v<Value> || !detail::is_text<Value>) {
			type_ = type::pointer;
			value_.pointer = value;
		} else if constexpr (detail::is_c_string<Value>) {
			type_ = type::text;
			value_.pointer = static_cast<const char *>(value);
			size_ = to_nul;
		} else {
			const std::string_view text = value;

			type_ = type::text;
			value_.pointer = text.data();
			size_ = text.size();
		}
	}

	const char *key_;
	std::size_t n_key_ = to_nul;
	std::size_t size_ = 0;
	union {
		std::uint64_t natural; /* an integer's bits, too */
		double real;
		const void *pointer;
	} value_;
	type type_;
};

FLEXTRACE_I_HERE void arg::add_to(flextrace_args &args) const
{
	const char *text = static_cast<const char *>(value_.pointer), *key = key_;
	detail::text room;

	if (n_key_ != to_nul) {
		detail::copy(room, {key_, n_key_});
		key = room.bytes;
	}
	switch (type_) {
	case type::boolean:
		return flextrace_args_add_bool(&args, key, value_.natural != 0);
	case type::integer:
		return flextrace_args_add_i64(&args, key,
		                              static_cast<std::int64_t>(value_.natural));
	case type::natural:
		return flextrace_args_add_u64(&args, key, value_.natural);
	case type::real:
		return flextrace_args_add_double(&args, key, value_.real);
	case type::pointer:
		return flextrace_args_add_pointer(&args, key, text);
	case type::text:
		if (size_ == to_nul)
			return flextrace_args_add_string(&args, key, text);
		return flextrace_args_add_text(&args, key, size_ ? text : "", size_);
	case type::bytes:
		return flextrace_args_add_bytes(&args, key, text, size_);
	}
}

namespace detail
{
using argument = arg; /* where a member has its name */

struct no_args {
};

struct some_args {
	template <std::size_t... I>
	FLEXTRACE_I_HERE const char *put(const arg *list, std::index_sequence<I...>)
	{
		flextrace_i_args_clear(&args);
		(list[I].add_to(args), ...);
		return args.text;
	}

	flextrace_args args;
};
} // namespace detail

} // namespace
} // namespace flextrace

#endif
