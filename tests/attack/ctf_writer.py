# SPDX-License-Identifier: Apache-2.0
"""Writes recordings as LTTng-UST writes them: CTF 1.8, little-endian, one file for each stream."""
import os
import struct
import uuid

from ctf_classes import CLASSES, fields_of, metadata

METADATA_MAGIC = 0x75D11D57
PACKET_MAGIC = 0xC1FC1FC1
METADATA_BYTES = 30000  # of text in one packet
METADATA_HEAD_BYTES = 37
PACKET_HEAD_BYTES = 4 + 16 + 4 + 8 + 6 * 8 + 4
PACKET_BYTES = 400000  # a packet ends with the event that reaches this
EXTENDED_ID = 65535

FIELDS = {name: fields_of(name) for name in CLASSES}


def encode(name, time_ns, pid, values):
    """The bytes of one event. Its thread has the number of its process."""
    parts = [struct.pack("<HIQii", EXTENDED_ID, CLASSES[name][1], time_ns, pid, pid)]
    for kind, field in FIELDS[name]:
        value = values[field]
        if kind == "s":
            parts.append(value.encode() + b"\0")
        elif kind == "5I":
            parts.append(struct.pack("<5I", *value))
        elif kind == "q":
            parts.append(struct.pack(f"<I{len(value)}Q", len(value), *value))
        else:
            parts.append(struct.pack("<" + kind, value))
    return b"".join(parts)


class Trace:
    """One trace to be written. What is added with a tag can be found again by `write()`."""

    def __init__(self, path, rng, host="h0", clock_uuid="00000000-0000-4000-8000-000000000001",
                 clock_offset_ns=0):
        self.path = path
        self.host = host
        self.clock_uuid = clock_uuid
        self.clock_offset_ns = clock_offset_ns
        self.uuid = uuid.UUID(int=rng.getrandbits(128), version=4)
        self.streams = {}  # (stream class, instance): [(time_ns, bytes, tag)]
        self.n_discarded = {}  # (stream class, instance): events that LTTng says it discarded

    def add(self, name, time_ns, values, pid=100, instance=0, tag=None):
        """Adds an event. Streams are sorted by time when they are written."""
        stream = (CLASSES[name][0], instance)
        event = (time_ns, encode(name, time_ns, pid, values), tag)
        self.streams.setdefault(stream, []).append(event)

    def add_process(self, start_ns, time_ns, pid=100, rank=-1, world_size=0, instance=0):
        """Adds the event that describes a program, which is recorded at time_ns."""
        self.add("process", time_ns, {
            "rank": rank, "world_size": world_size, "pid": pid, "start_ns": start_ns,
            "time_ns": time_ns, "boot_id": self.clock_uuid, "time_namespace": 4026531834,
            "host": self.host, "program": "p", "runtime": "", "version": "", "session": "",
            "real_ns": time_ns + self.clock_offset_ns}, pid=pid, instance=instance)

    def write(self):
        """Writes all files. Returns {place: tag}, a place being what rows name in `source`."""
        os.makedirs(self.path, exist_ok=True)
        self._write_metadata()
        tags = {}
        for stream, events in self.streams.items():
            events.sort(key=lambda event: event[0])
            self._write_stream(stream, events)
            for index, (_, _, tag) in enumerate(events):
                if tag is not None:
                    tags[f"{stream[0]}.{stream[1]}:{index}"] = tag
        return tags

    def _write_metadata(self):
        text = metadata(self.uuid, self.clock_uuid, self.clock_offset_ns, self.host, "t").encode()
        with open(os.path.join(self.path, "metadata"), "wb") as file:
            for at in range(0, len(text), METADATA_BYTES):
                part = text[at:at + METADATA_BYTES]
                n_bits = (len(part) + METADATA_HEAD_BYTES) * 8
                file.write(struct.pack("<I", METADATA_MAGIC) + self.uuid.bytes)
                file.write(struct.pack("<IIIBBBBB", 0, n_bits, n_bits, 0, 0, 0, 1, 8) + part)

    def _write_stream(self, stream, events):
        stream_class, instance = stream
        name = f"{'definitions' if stream_class else 'events'}_{instance}"
        with open(os.path.join(self.path, name), "wb") as file:
            number = begin = 0
            while begin < len(events):
                end, n_bytes = begin, 0
                while end < len(events) and n_bytes < PACKET_BYTES:
                    n_bytes += len(events[end][1])
                    end += 1
                file.write(self._packet(stream, number, events[begin:end]))
                number += 1
                begin = end

    def _packet(self, stream, number, events):
        body = b"".join(event[1] for event in events)
        n_bits = (PACKET_HEAD_BYTES + len(body)) * 8
        return b"".join((
            struct.pack("<I", PACKET_MAGIC), self.uuid.bytes, struct.pack("<IQ", *stream),
            struct.pack("<QQQQQQI", events[0][0], events[-1][0], n_bits, n_bits, number,
                        self.n_discarded.get(stream, 0), stream[1]), body))
