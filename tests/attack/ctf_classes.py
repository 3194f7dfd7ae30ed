# SPDX-License-Identifier: Apache-2.0
"""The classes of events that flextrace's provider records, and the text of CTF metadata for them.

Written from the recordings themselves. It shares no code with the provider nor with the tests in C.
"""

DEFINITIONS = 1  # stream class of what is recorded once: programs, devices, clock domains
EVENTS = 0  # stream class of everything else

# Types of fields: i and I are 32 bits, signed and unsigned, Q is 64 bits, s a string,
# 5I an array of five I, q a sequence of Q with its length in front.
CLASSES = {  # name: (stream class, id, fields)
    "process": (DEFINITIONS, 0, "i:rank i:world_size I:pid Q:start_ns Q:time_ns s:boot_id "
                "Q:time_namespace s:host s:program s:runtime s:version s:session Q:real_ns"),
    "queue_name": (DEFINITIONS, 1, "I:device I:id s:name s:file I:line"),
    "clock_domain": (DEFINITIONS, 2,
                     "I:device I:domain I:counter_bits Q:nominal_hz I:rate_group"),
    "device": (DEFINITIONS, 3,
               "I:device s:uuid I:n_cores Q:core_hz s:name s:power_unit s:processors"),
    "device_op": (EVENTS, 1, "I:device I:domain I:queue Q:job Q:correlation I:kind s:name "
                  "Q:submit_ns Q:complete_ns 5I:ts I:power Q:bytes i:peer s:group s:type"),
    "collective": (EVENTS, 3, "s:group Q:seq s:op Q:bytes s:peers I:phase"),
    "instant": (EVENTS, 4, "s:name Q:correlation"),
    "submit": (EVENTS, 5, "I:device I:queue Q:job Q:correlation s:name Q:host_ns"),
    "complete": (EVENTS, 9, "I:device I:queue Q:job Q:correlation s:name Q:host_ns"),
    "marker_batch": (EVENTS, 13, "I:device I:core I:processor I:domain Q:first_index Q:dropped "
                     "q:words"),
    "scope": (EVENTS, 17, "Q:begin_ns I:kind s:name Q:correlation s:file I:line"),
    "clock_sync": (EVENTS, 20, "I:device I:domain Q:host_before_ns Q:ticks Q:host_after_ns"),
    "host_estimate": (EVENTS, 21,
                      "I:device I:queue Q:job I:kind Q:begin_ns Q:end_ns s:source"),
}


def fields_of(name):
    """The fields of a class of events, as pairs of type and name."""
    return [field.split(":") for field in CLASSES[name][2].split()]


def integer(size, signed):
    return (f"integer {{ size = {size}; align = 8; signed = {signed}; "
            "encoding = none; base = 10; }")


I32 = integer(32, 1)
U32 = integer(32, 0)
U64 = integer(64, 0)

HEAD = """/* CTF 1.8 */

typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = false; } := unsigned long;

trace {
	major = 1;
	minor = 8;
	uuid = "%s";
	byte_order = le;
	packet.header := struct {
		uint32_t magic;
		uint8_t  uuid[16];
		uint32_t stream_id;
		uint64_t stream_instance_id;
	};
};

env {
	domain = "ust";
	tracer_name = "lttng-ust";
	tracer_major = 2;
	tracer_minor = 13;
	tracer_buffering_scheme = "uid";
	tracer_buffering_id = 0;
	architecture_bit_width = 64;
	trace_name = "%s";
	trace_creation_datetime = "20261128T013418+0000";
	hostname = "%s";
};

clock {
	name = "monotonic";
	uuid = "%s";
	description = "Monotonic Clock";
	freq = 1000000000;
	offset = %d;
};
typealias integer {
	size = 32; align = 8; signed = false;
	map = clock.monotonic.value;
} := uint32_clock_monotonic_t;
typealias integer {
	size = 64; align = 8; signed = false;
	map = clock.monotonic.value;
} := uint64_clock_monotonic_t;
struct packet_context {
	uint64_clock_monotonic_t timestamp_begin;
	uint64_clock_monotonic_t timestamp_end;
	uint64_t content_size;
	uint64_t packet_size;
	uint64_t packet_seq_num;
	unsigned long events_discarded;
	uint32_t cpu_id;
};
struct event_header_large {
	enum : uint16_t { compact = 0 ... 65534, extended = 65535 } id;
	variant <id> {
		struct {
			uint32_clock_monotonic_t timestamp;
		} compact;
		struct {
			uint32_t id;
			uint64_clock_monotonic_t timestamp;
		} extended;
	} v;
} align(8);
"""

STREAM = """stream {
	id = %d;
	event.header := struct event_header_large;
	packet.context := struct packet_context;
	event.context := struct {
		%s _vpid;
		%s _vtid;
	};
};
"""


def field_text(kind, name):
    if kind == "5I":
        return f"\t\t{U32} _{name}[5];"
    if kind == "s":
        return f"\t\tstring _{name};"
    if kind == "q":
        return f"\t\t{U32} __{name}_length;\n\t\t{U64} _{name}[ __{name}_length ];"
    return f"\t\t{ {'i': I32, 'I': U32, 'Q': U64}[kind] } _{name};"


def metadata(trace_uuid, clock_uuid, clock_offset_ns, host, name):
    """The text of the file `metadata` of a trace."""
    text = HEAD % (trace_uuid, name, host, clock_uuid, clock_offset_ns)
    for stream_class in (DEFINITIONS, EVENTS):
        text += STREAM % (stream_class, I32, I32)
    for event, (stream_class, number, _) in CLASSES.items():
        fields = "\n".join(field_text(kind, field) for kind, field in fields_of(event))
        text += (f'event {{\n\tname = "flextrace:{event}";\n\tid = {number};\n'
                 f"\tstream_id = {stream_class};\n\tloglevel = 13;\n"
                 f"\tfields := struct {{\n{fields}\n\t}};\n}};\n")
    return text
