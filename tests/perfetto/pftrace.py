# SPDX-License-Identifier: Apache-2.0
"""pftrace.py: reads trace.pftrace as Perfetto's trace processor does, through the schema of trace.proto alone, and says
what it would trip over. Shares no code with what writes it."""
import collections
import gzip
import json
import zlib

import trace_pb2 as pb

REALTIME, MONOTONIC, BOOTTIME, OURS = 1, 3, 6, 64
STATE_CLEARED, NEEDS_STATE = 1, 2
EXPLICIT, MERGE_NONE = 3, 2
MAX_COMPRESSED = 512 * 1024

Slice = collections.namedtuple("Slice", "track start end name category args file line depth uuid")
Instant = collections.namedtuple("Instant", "track time name category args slice_start has_flow")
Counter = collections.namedtuple("Counter", "process name unit time value")
Flow = collections.namedtuple("Flow", "track time slice_start machine")
Track = collections.namedtuple("Track", "process pid tid name")


class Wrong(Exception):
    pass


def each_unknown(message, path):
    """Fields that are not in the schema, however deep."""
    for field in message.UnknownFields():
        yield f"{path}.{field.field_number}"
    for descriptor, value in message.ListFields():
        if descriptor.type == descriptor.TYPE_MESSAGE:
            for one in value if descriptor.label == descriptor.LABEL_REPEATED else [value]:
                yield from each_unknown(one, f"{path}.{descriptor.name}")


def read_bytes(path):
    with open(path, "rb") as file:
        data = file.read()
    return gzip.decompress(data) if path.endswith(".gz") else data


def read_packets(data):
    """All packets, those of compressed ones in their place."""
    trace = pb.Trace()
    if trace.ParseFromString(data) != len(data):
        raise Wrong("bytes behind the last packet")
    unknown = sorted(set(each_unknown(trace, "Trace")))
    if unknown:
        raise Wrong(f"unknown fields: {unknown}")
    packets, n_compressed = [], 0
    for packet in trace.packet:
        if not packet.HasField("compressed_packets"):
            packets.append(packet)
            continue
        n_compressed += 1
        if len(packet.ListFields()) != 1 or packet.ByteSize() + 8 > MAX_COMPRESSED:
            raise Wrong("a compressed packet has more than packets, or is too long")
        inner, _ = read_packets(zlib.decompress(packet.compressed_packets))
        packets += inner
    if n_compressed and n_compressed != len(trace.packet):
        raise Wrong("some packets are compressed and some are not")
    return packets, n_compressed


MAX_DEPTH = 512  # of viewers, which drop begins that are deeper, and no ends


class Sequence:
    """What is known of the packets of one machine."""

    def __init__(self):
        self.interned = collections.defaultdict(dict)
        self.used = set()
        self.has_root = False


class Trace:
    """Slices, instants, counters, flows and losses of a file; raises Wrong."""

    def __init__(self, data):
        self.packets, self.n_compressed = read_packets(data)
        self.sequences = {}  # by machine, 0: what is of none
        self.sequence = None
        self.machine_names = {}
        self.descriptors = {}
        self.machine_of = {}
        self.tracks = {}
        self.ids = set()
        self.stacks = collections.defaultdict(list)
        self.slices, self.instants, self.counters = [], [], []
        self.departures, self.flows = {}, []
        self.things = None
        self.n_lost = 0
        self.last = {}
        for number, packet in enumerate(self.packets):
            try:
                self.enter(packet, number == 0)
            except Wrong as error:
                raise Wrong(f"packet {number}: {error}") from None
        self.finish()

    # -- state of the sequence ---------------------------------------------------------------

    def enter(self, packet, is_first_of_all):
        """A machine's packets are read by a reader of its own, which knows nothing of other machines. The first
        packet must be of none: viewers would take its machine for their own. Descriptors of threads are of no sequence:
        viewers would take the last one for the thread of other tracks' events."""
        if packet.track_descriptor.HasField("thread"):
            if packet.trusted_packet_sequence_id or packet.sequence_flags or packet.machine_id not in self.sequences:
                raise Wrong(f"a thread is of sequence {packet.trusted_packet_sequence_id}")
            self.machine, self.sequence = packet.machine_id, self.sequences[packet.machine_id]
            self.read_descriptor(packet.track_descriptor)
            return
        if packet.trusted_packet_sequence_id != 1 + packet.machine_id or is_first_of_all and packet.machine_id:
            raise Wrong(f"sequence {packet.trusted_packet_sequence_id} of machine {packet.machine_id}")
        is_first = packet.machine_id not in self.sequences
        if is_first:
            self.sequences[packet.machine_id] = Sequence()
        self.machine, self.sequence = packet.machine_id, self.sequences[packet.machine_id]
        if packet.HasField("system_info"):
            self.machine_names[packet.machine_id] = packet.system_info.machine_name
        self.read(packet, is_first)

    def read(self, packet, is_first):
        if packet.sequence_flags != (STATE_CLEARED | NEEDS_STATE if is_first else NEEDS_STATE):
            raise Wrong(f"sequence_flags are {packet.sequence_flags}")
        if is_first != packet.HasField("clock_snapshot") or is_first != packet.first_packet_on_sequence:
            raise Wrong("the snapshot is not in the first packet, which says that it is the first")
        if is_first:
            self.read_snapshot(packet)
        self.read_interned(packet.interned_data)
        if packet.HasField("track_descriptor"):
            self.read_descriptor(packet.track_descriptor)
        if packet.HasField("track_event") != packet.HasField("timestamp"):
            raise Wrong("an event without a time, or a time without an event")
        if packet.HasField("track_event"):
            if packet.timestamp >= 1 << 63:
                raise Wrong("time goes back")
            self.sequence.time += packet.timestamp
            self.time = self.sequence.time
            if self.time >= 1 << 63:
                raise Wrong("a time is none")
            self.read_event(packet.track_event)
        for attribute in packet.trace_attributes.attribute:
            if attribute.key != "flextrace" or self.things:
                raise Wrong(f"the attribute {attribute.key}")
            self.things = json.loads(attribute.string_value)
        if packet.HasField("trace_stats"):
            self.n_lost += sum(buffer.trace_writer_packet_loss for buffer in packet.trace_stats.buffer_stats)

    def read_snapshot(self, packet):
        clocks = {clock.clock_id: clock for clock in packet.clock_snapshot.clocks}
        if set(clocks) != {REALTIME, MONOTONIC, BOOTTIME, OURS} or len(packet.clock_snapshot.clocks) != 4:
            raise Wrong(f"the snapshot has clocks {sorted(clocks)}")
        if packet.clock_snapshot.primary_trace_clock != REALTIME:
            raise Wrong("REALTIME is not the primary clock: all times would be lost")
        if [i for i, clock in clocks.items() if clock.is_incremental] != [OURS]:
            raise Wrong("our clock alone is incremental")
        if any(clock.timestamp >= 1 << 63 for clock in clocks.values()):
            raise Wrong("a clock is before its epoch")
        if packet.trace_packet_defaults.timestamp_clock_id != OURS:
            raise Wrong("times are not on our clock by default")
        self.sequence.time = clocks[REALTIME].timestamp - clocks[OURS].timestamp
        self.sequence.start = {i: clock.timestamp for i, clock in clocks.items()}
        if self.sequence.start != self.sequences[0].start:
            raise Wrong("machines do not begin at one time")

    def read_interned(self, interned):
        known = self.sequence.interned
        for descriptor, values in interned.ListFields():
            for value in values:
                if not value.iid or value.iid in known[descriptor.name]:
                    raise Wrong(f"{descriptor.name} {value.iid} is defined twice")
                if descriptor.name == "debug_annotation_string_values":
                    known[descriptor.name][value.iid] = value.str.decode("utf-8")
                elif descriptor.name == "source_locations":
                    known[descriptor.name][value.iid] = (value.file_name, value.line_number)
                else:
                    known[descriptor.name][value.iid] = value.name

    def find(self, kind, iid):
        if iid not in self.sequence.interned[kind]:
            raise Wrong(f"{kind} {iid} is used before it is defined")
        self.sequence.used.add((kind, iid))
        return self.sequence.interned[kind][iid]

    # -- tracks ------------------------------------------------------------------------------

    def read_descriptor(self, track):
        if not track.HasField("uuid") or track.uuid in self.descriptors and track.uuid:
            raise Wrong(f"track {track.uuid} is described twice")
        if track.uuid == 0:
            if track.process_ordering != 1 or track.thread_ordering != 1 or track.parent_uuid:
                raise Wrong("the root does not say that processes and threads are ordered")
        elif track.sibling_merge_behavior != MERGE_NONE or track.child_ordering != EXPLICIT:
            raise Wrong(f"track {track.uuid} is merged by its name, or does not order its children")
        if track.parent_uuid and self.machine_of.get(track.parent_uuid) != self.machine:
            raise Wrong(f"the parent of track {track.uuid} is not described")
        if track.sibling_order_rank < 0:
            raise Wrong(f"track {track.uuid} has the rank {track.sibling_order_rank}")
        if track.uuid and not (track.name or track.HasField("process") or track.HasField("thread")):
            raise Wrong(f"track {track.uuid} has no name")
        self.descriptors[track.uuid] = track
        self.machine_of[track.uuid] = self.machine
        self.sequence.has_root |= track.uuid == 0
        for kind, key in (("process", ("p", track.process.pid)), ("thread", ("t", track.thread.pid, track.thread.tid))):
            if not track.HasField(kind):
                continue
            if key in self.ids or 0 in key:
                raise Wrong(f"{kind} {key} stands for two tracks, or is 0")
            self.ids.add(key)

    def is_deep(self, track):
        """What lies too deep on a line for viewers is on another one within it, of the same name."""
        line = self.descriptors.get(track.parent_uuid) if track.parent_uuid else None
        return bool(track.name) and line is not None and track.name == (line.thread.thread_name or line.name)

    def track_of(self, uuid):
        if uuid in self.tracks:
            return self.tracks[uuid]
        if uuid not in self.descriptors or not uuid:
            raise Wrong(f"track {uuid} is not described")
        of = at = self.descriptors[uuid]
        while not at.HasField("process") and not at.HasField("thread") and at.parent_uuid:
            at = self.descriptors[at.parent_uuid]
        if at.HasField("thread"):
            at = [d for d in self.descriptors.values() if d.HasField("process") and d.process.pid == at.thread.pid]
            if len(at) != 1:
                raise Wrong(f"the process of thread {of.thread.tid} is not described")
            at = at[0]
        name = of.thread.thread_name if of.HasField("thread") else of.name
        process = at.process.process_name if at.HasField("process") else at.name
        self.tracks[uuid] = Track(process, at.process.pid, of.thread.tid or None, name)
        return self.tracks[uuid]

    # -- events ------------------------------------------------------------------------------

    def value_of(self, annotation):
        kind = annotation.WhichOneof("value")
        if annotation.dict_entries:
            return self.args_of(annotation.dict_entries)
        if annotation.array_values:
            return [self.value_of(value) for value in annotation.array_values]
        if kind == "string_value_iid":
            return self.find("debug_annotation_string_values", annotation.string_value_iid)
        if kind == "legacy_json_value" and annotation.legacy_json_value in ("[]", "{}"):
            return json.loads(annotation.legacy_json_value)
        if kind in (None, "legacy_json_value"):
            raise Wrong(f"an argument or element is nothing, or more JSON than that: {annotation}")
        return getattr(annotation, kind)

    def args_of(self, annotations):
        args = {}
        for one in annotations:
            if not one.WhichOneof("name_field"):
                raise Wrong("an argument has no name")
            name = one.name if one.HasField("name") else self.find("debug_annotation_names", one.name_iid)
            args[name] = self.value_of(one)
        return args

    def read_event(self, event):
        uuid = event.track_uuid
        if self.machine_of.get(uuid) != self.machine:
            raise Wrong(f"track {uuid} is of another machine")
        track, stack = self.track_of(uuid), self.stacks[uuid]
        is_counter = self.descriptors[uuid].HasField("counter")
        if is_counter != (event.type == event.TYPE_COUNTER):
            raise Wrong("a counter's track has what is no value, or another one has values")
        if event.type == event.TYPE_COUNTER:
            self.read_counter(event, track)
        elif event.type == event.TYPE_SLICE_BEGIN:
            if len(stack) == MAX_DEPTH:
                raise Wrong(f"{len(stack)} intervals within each other on {track}")
            stack.append([self.time, self.describe(event)])
            self.read_flows(event, track, self.time)
        elif event.type == event.TYPE_SLICE_END:
            if not stack:
                raise Wrong(f"an end without a begin on {track}")
            if event.debug_annotations or event.category_iids or event.HasField("name_iid"):
                raise Wrong("an end says more than that it is one")
            start, said = stack.pop()
            self.slices.append(Slice(track, start, self.time, *said, len(stack), uuid))
            self.read_flows(event, track, start)
        elif event.type == event.TYPE_INSTANT:
            said = self.describe(event)
            has_flow = bool(event.flow_ids or event.terminating_flow_ids)
            start = stack[-1][0] if stack else None
            self.instants.append(Instant(track, self.time, *said[:3], start, has_flow))
            self.read_flows(event, track, self.time)
        else:
            raise Wrong(f"type {event.type}")

    def describe(self, event):
        if event.name or event.categories or len(event.category_iids) > 1 or not event.HasField("name_iid"):
            raise Wrong("a name or category is not interned")
        category = self.find("event_categories", event.category_iids[0]) if event.category_iids else ""
        file, line = "", 0
        if event.HasField("source_location_iid"):
            file, line = self.find("source_locations", event.source_location_iid)
        return self.find("event_names", event.name_iid), category, self.args_of(event.debug_annotations), file, line

    def read_counter(self, event, track):
        kind = event.WhichOneof("counter_value_field")
        descriptor = self.descriptors[event.track_uuid]
        value = getattr(event, kind)
        if event.track_uuid in self.last and self.last[event.track_uuid] == value:
            raise Wrong("a counter says the same again")
        self.last[event.track_uuid] = value
        self.args_of(event.debug_annotations)  # of memory: the record behind it
        unit = descriptor.counter.unit_name or {0: "", 3: "bytes"}[descriptor.counter.unit]
        self.counters.append(Counter((track.process, track.pid), descriptor.name, unit, self.time, value))

    def read_flows(self, event, track, slice_start):
        """The trace processor drops an end that comes before its begin, and turns an arrow round whose slices
        began in the other order."""
        for flow in event.flow_ids:
            if flow in self.departures:
                raise Wrong(f"flow {flow} leaves twice")
            self.departures[flow] = Flow(track, self.time, slice_start, self.machine)
        for flow in event.terminating_flow_ids:
            if self.departures.get(flow) is None:
                raise Wrong(f"flow {flow} arrives before it leaves, or twice")
            start = self.departures[flow]
            if start.machine != self.machine:
                raise Wrong(f"flow {flow} leads to another machine, where none arrives")
            if start.slice_start > slice_start:
                raise Wrong(f"flow {flow} would be drawn backwards")
            self.flows.append((start.track, start.time, track, self.time))
            self.departures[flow] = None

    def finish(self):
        if any(self.stacks.values()):
            raise Wrong("slices without an end")
        if any(flow for flow in self.departures.values()):
            raise Wrong("flows that arrive nowhere")
        for machine, sequence in self.sequences.items():
            if not sequence.has_root:
                raise Wrong(f"the order of processes of machine {machine} is not said")
            for kind, values in sequence.interned.items():
                unused = [iid for iid in values if (kind, iid) not in sequence.used]
                if unused:
                    raise Wrong(f"{kind} that nobody uses: {unused[:5]}")
        untold = [uuid for uuid in self.tracks if str(uuid) not in self.things and uuid not in self.last and
                  not self.is_deep(self.descriptors[uuid])]
        if untold or any(self.things.get(str(thing.get("of")), {"is": "process"})["is"] not in ("process", "device")
                         for thing in self.things.values() if isinstance(thing, dict)):
            raise Wrong(f"what tracks stand for is not told: {untold[:5]}")
        siblings = collections.defaultdict(list)
        for uuid, track in self.descriptors.items():
            kind = "t" if track.HasField("thread") else "p" if track.HasField("process") else track.parent_uuid
            if uuid and not track.HasField("counter"):
                siblings[kind if kind != "t" else ("t", track.thread.pid)].append(track.sibling_order_rank)
        for parent, ranks in siblings.items():
            if len(ranks) != len(set(ranks)):
                raise Wrong(f"which children of {parent} stand first is not said: {ranks[:10]}")
