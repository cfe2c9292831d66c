# SPDX-License-Identifier: Apache-2.0
"""read_perfetto.py TRACE.perfetto TRACE.jsonl: reads an export with Perfetto's own schema (package perfetto).

Every slice must begin and end on a track that the file describes, and must agree with a span of TRACE.jsonl.
"""
import collections
import json
import sys

from perfetto.protos.perfetto.trace import perfetto_trace_pb2

BEGIN, END = 1, 2


def main():
    trace = perfetto_trace_pb2.Trace()
    with open(sys.argv[1], "rb") as file:
        trace.ParseFromString(file.read())
    with open(sys.argv[2], encoding="utf-8") as file:
        spans = [line for line in map(json.loads, file) if line["type"] == "span"]
    names, notes, tracks = {}, {}, {}
    begun, depth, samples, threads = collections.Counter(), collections.Counter(), collections.Counter(), set()
    for packet in trace.packet:
        names.update((text.iid, text.name) for text in packet.interned_data.event_names)
        notes.update((text.iid, text.name) for text in packet.interned_data.debug_annotation_names)
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            if packet.track_descriptor.HasField("thread"):
                threads.add((packet.track_descriptor.thread.pid, packet.track_descriptor.thread.tid))
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        assert event.track_uuid in tracks
        if event.type == BEGIN:
            depth[event.track_uuid] += 1
            begun[packet.timestamp, names[event.name_iid]] += 1
            samples.update(note.int_value for note in event.debug_annotations if notes[note.name_iid] == "sample")
        elif event.type == END:
            depth[event.track_uuid] -= 1
            assert depth[event.track_uuid] >= 0
    assert not any(depth.values())
    assert begun == collections.Counter((span["start_ns"], span["name"] or span["stage"]) for span in spans)
    assert samples == collections.Counter(span["sample"] for span in spans if span["sample"] >= 0)
    assert {(span["pid"], span["tid"]) for span in spans} <= threads
    print("perfetto: %d slices read with Perfetto's schema" % len(spans))


if __name__ == "__main__":
    main()
