#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_archive.py ARCHIVE DIR: holds an archive against DIR, the same conversion without it.

flextrace.zip has every file of DIR, byte for byte. ranks.zip has the files of ranks of DIR, not gzipped, and a manifest
as Perfetto's documentation tells it ("Trace manifest format", version 1). Says every violation; exits 1 if there is
one. Shares no code with what writes them."""
import gzip
import json
import os
import struct
import sys
import zipfile

n_violations = 0


def complain(text):
    global n_violations
    n_violations += 1
    print(f"{sys.argv[1]}: {text}")


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        return file.read()


def check_head(file, info):
    """What Perfetto's reader takes, which goes from head to head: no encryption, no sizes behind the bytes."""
    file.seek(info.header_offset)
    _, version, flags, method, _, _, _, packed, _, n_name, n_extra = struct.unpack("<IHHHHHIIIHH", file.read(30))
    file.seek(n_name, 1)
    extra = file.read(n_extra)
    if version > 45 or flags or method not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        complain(f"{info.filename}: version {version}, flags {flags}, method {method}")
    if packed == 0xFFFFFFFF:
        kind, n, _, packed = struct.unpack("<HHQQ", extra[:20])
        if (kind, n) != (1, 16):
            complain(f"{info.filename}: no sizes of 64 bits")
    if packed != info.compress_size:
        complain(f"{info.filename}: {packed} bytes, {info.compress_size} at the end of the archive")
    if info.date_time != (1980, 1, 1, 0, 0, 0):
        complain(f"{info.filename}: it has a time")


def keys(what, item, required, optional=()):
    """Whether it is an object with these keys and no others."""
    good = isinstance(item, dict) and set(required) <= set(item) <= set(required) | set(optional)
    if not good:
        complain(f"{what}: {item}")
    return good


def check_clocks(entry, paths, trace):
    if not entry["path"].endswith(".json"):
        if "clocks" in entry:
            complain(f"{entry['path']}: it has clocks of its own, and cannot be pinned")
        return
    clocks = entry.get("clocks")
    if not keys(entry["path"] + ": clocks", clocks, ("sync_to", "offset_ns")):
        return
    if not keys("sync_to", clocks["sync_to"], ("file", "clock")) or clocks["sync_to"]["file"] not in paths:
        complain(f"sync_to: {clocks['sync_to']}")
    base = json.loads(trace)["baseTimeNanoseconds"]
    if clocks["offset_ns"] != max(base, 0) or not isinstance(clocks["offset_ns"], int):
        complain(f"{entry['path']}: offset {clocks['offset_ns']} instead of {max(base, 0)}")


def check_manifest(text, members):
    if not "".join(text.decode().split()).startswith('{"perfetto_manifest"'):
        complain("Perfetto does not recognise the manifest")
    root = json.loads(text)
    if not keys("manifest", root, ("perfetto_manifest",)):
        return
    manifest = root["perfetto_manifest"]
    if not keys("perfetto_manifest", manifest, ("version", "files"), ("trace_time", "attributes")):
        return
    if manifest["version"] != 1:
        complain(f"version {manifest['version']}")
    paths = [entry["path"] for entry in manifest["files"]]
    if paths != list(members):
        complain(f"its files are {paths}, the members {list(members)}")
    if paths and manifest.get("trace_time") != {"clock": "REALTIME", "file": paths[0]}:
        complain(f"trace_time: {manifest.get('trace_time')}")
    machines = []
    for entry in manifest["files"]:
        keys("a file", entry, ("path",), ("machine", "clocks"))
        if "machine" in entry and keys("machine", entry["machine"], ("name",)):
            machines.append(entry["machine"]["name"])
            if not machines[-1]:
                complain("a machine without a name")
        check_clocks(entry, paths, members[entry["path"]])
    if paths and paths[0].endswith(".json") and len(set(machines)) != len(paths):
        complain(f"devices of equal numbers are on one machine: {machines}")
    for key, value in manifest.get("attributes", {}).items():
        if not key or not isinstance(value, (str, int)):
            complain(f"attribute {key}: {value}")


def check_all(members, folder):
    files = {os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names}
    for name in sorted(files ^ set(members)):
        complain(f"{name} is only in {'the archive' if name in members else folder}")
    for name in files & set(members):
        with open(os.path.join(folder, name), "rb") as file:
            if file.read() != members[name]:
                complain(f"{name} differs")


def check_ranks(members, folder):
    manifest = members.pop("perfetto_manifest.json", None)
    if manifest is None:
        complain("there is no manifest")
        return
    check_manifest(manifest, members)
    suffix = ".pftrace" if any(name.endswith(".pftrace") for name in members) else ".pt.trace.json"
    files = {name[:-3] if name.endswith(".gz") else name: name
             for name in os.listdir(folder) if name.startswith(("trace.rank", "trace.unknown"))}
    files = {name: file for name, file in files.items() if name.endswith(suffix)}
    if sorted(files) != sorted(members):
        complain(f"it has {sorted(members)} of {sorted(files)}")
        return
    for name, file in files.items():
        if read(os.path.join(folder, file)) != members[name]:
            complain(f"{name} differs")


def main():
    archive, folder = sys.argv[1:]
    with zipfile.ZipFile(archive) as zipped:
        broken = zipped.testzip()
        if broken:
            complain(f"{broken} is broken")
        members = {info.filename: zipped.read(info) for info in zipped.infolist()}
        if len(members) != len(zipped.infolist()):
            complain("a name is there twice")
        with open(archive, "rb") as file:
            for info in zipped.infolist():
                check_head(file, info)
    if os.path.basename(archive) == "flextrace.zip":
        check_all(members, folder)
    else:
        check_ranks(members, folder)
    return n_violations > 0


sys.exit(main())
