// SPDX-License-Identifier: Apache-2.0
//
// The tables and views of an exported database. Names are stable; columns and views may be added.
// Times are CLOCK_MONOTONIC nanoseconds, sizes are bytes; NULL: not known or none.
//
// Spans lie inside one another, so sums of durations count time several times. These columns of
// `span` may be added up (own_time.h):
//   own_ns, own_cpu_ns   what the span counts towards its stage, without what lies inside it and
//                        counts elsewhere; NULL: another span counts it. A transform is without the
//                        transforms inside it, a coalesced read is the time inside its calls,
//                        a step is without the waits for other loaders.
//   augment_ns, augment_cpu_ns   of a sample, of a transform outside of samples, or of a fetch
//                        without either: what counts as augmenting
//   queued_ns            of a sample: waiting before reads, which counts as reading
// `stage_total` and `name_total` hold their sums, so that the summaries of millions of spans are
// answered at once. If the program did not mark its steps, `span` has none; `stage_total` then
// counts the times between two waits of a thread as steps.
#pragma once

#include <string_view>

namespace penstock::traces {

inline constexpr int kSqliteSchema = 1;  // PRAGMA user_version

inline constexpr std::string_view kSqliteTables = R"sql(
CREATE TABLE fact(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE loss(what TEXT PRIMARY KEY, count INTEGER) WITHOUT ROWID;
CREATE TABLE process(id INTEGER PRIMARY KEY, pid INTEGER, parent INTEGER, role TEXT,
  worker_id INTEGER, rank INTEGER, comm TEXT, command TEXT);
CREATE TABLE process_fact(process_id INTEGER REFERENCES process, key TEXT, value TEXT,
  PRIMARY KEY(process_id, key)) WITHOUT ROWID;
CREATE TABLE thread(id INTEGER PRIMARY KEY, process_id INTEGER REFERENCES process, tid INTEGER,
  name TEXT);
CREATE TABLE string(id INTEGER PRIMARY KEY, text TEXT);
CREATE TABLE span(id INTEGER PRIMARY KEY, thread_id INTEGER REFERENCES thread, stage TEXT,
  name_id INTEGER REFERENCES string,
  start_ns INTEGER, duration_ns INTEGER, cpu_ns INTEGER, busy_ns INTEGER, bytes INTEGER,
  sample INTEGER, batch INTEGER, epoch INTEGER, object_id INTEGER REFERENCES string,
  flags INTEGER, depth INTEGER, own_ns INTEGER, own_cpu_ns INTEGER, augment_ns INTEGER,
  augment_cpu_ns INTEGER, queued_ns INTEGER);
CREATE TABLE stage_total(stage TEXT, count INTEGER, wall_ns INTEGER, cpu_ns INTEGER,
  min_ns INTEGER, max_ns INTEGER, bytes INTEGER, queued_ns INTEGER);
CREATE TABLE name_total(stage TEXT, name_id INTEGER REFERENCES string, count INTEGER,
  wall_ns INTEGER, cpu_ns INTEGER, max_ns INTEGER, own_ns INTEGER);
CREATE TABLE event(at_ns INTEGER, thread_id INTEGER REFERENCES thread, type TEXT, batch INTEGER,
  epoch INTEGER, value INTEGER);
CREATE TABLE counter(at_ns INTEGER, process_id INTEGER REFERENCES process,
  name_id INTEGER REFERENCES string, value INTEGER);
)sql";

inline constexpr std::string_view kSqliteViews = R"sql(
CREATE INDEX span_by_thread ON span(thread_id, start_ns);
CREATE INDEX span_by_stage ON span(stage);
CREATE INDEX span_by_batch ON span(epoch, batch);
-- Every span in words.
CREATE VIEW spans AS
  SELECT span.id AS id, stage, n.text AS name, start_ns, duration_ns, cpu_ns, busy_ns, bytes,
    sample, batch, epoch, o.text AS object, pid, tid, role, worker_id, depth, flags, own_ns
  FROM span JOIN thread ON thread.id = thread_id JOIN process ON process.id = process_id
    LEFT JOIN string n ON n.id = name_id LEFT JOIN string o ON o.id = object_id;
-- What does each stage take, as the report says it? A stage inside itself counts once, and what a
-- sample does besides reading, decoding and tokenizing is augmenting, with or without a name. A
-- wait for another loader inside a step is waiting. Only the steps of loaders that are used
-- together differ: of two steps that overlap, the part in which the later one is alone is missing,
-- and there are none if the program did not mark them and takes the batches of loaders by turns.
-- queued_ns is the part of wall_ns that lies before reads, outside of the calls: min_ns and max_ns
-- are those of the calls; mean_ns is wall_ns for each call, with its part of queued_ns.
CREATE VIEW stage_summary AS
  SELECT stage, count, wall_ns + queued_ns AS wall_ns, cpu_ns, min_ns,
    (wall_ns + queued_ns) / count AS mean_ns, max_ns, NULLIF(bytes, 0) AS bytes,
    NULLIF(queued_ns, 0) AS queued_ns
  FROM stage_total WHERE count > 0 ORDER BY 3 DESC;
-- And each function or transform? wall_ns holds what lies inside its calls, own_ns does not. The
-- function that opens an image has no own_ns: the decode of the image counts it.
CREATE VIEW name_summary AS
  SELECT stage, text AS name, count, wall_ns, cpu_ns, wall_ns / count AS mean_ns, max_ns, own_ns
  FROM name_total LEFT JOIN string ON string.id = name_id ORDER BY wall_ns DESC;
-- Which files are slow to read?
CREATE VIEW file_reads AS
  SELECT text AS file, COUNT(*) AS reads, SUM(bytes) AS bytes, SUM(own_ns) AS wall_ns,
    MAX(own_ns) AS max_ns
  FROM span JOIN string ON string.id = object_id WHERE stage = 'read' AND own_ns IS NOT NULL
  GROUP BY object_id ORDER BY wall_ns DESC;
-- How long is the way of a batch, and how long did the program wait for it?
CREATE VIEW batches AS
  SELECT epoch, batch,
    MIN(CASE WHEN stage = 'fetch' THEN start_ns END) AS fetch_ns,
    MAX(CASE WHEN stage = 'fetch' THEN start_ns + duration_ns END) AS fetched_ns,
    MAX(CASE WHEN stage = 'wait' THEN start_ns + duration_ns END) AS delivered_ns,
    SUM(CASE WHEN stage = 'wait' THEN own_ns END) AS waited_ns,
    MAX(CASE WHEN stage = 'fetch' THEN thread_id END) AS worker_thread
  FROM span WHERE batch IS NOT NULL GROUP BY epoch, batch ORDER BY delivered_ns;
-- Is one worker slower than the others?
CREATE VIEW workers AS
  SELECT process_id, worker_id, COUNT(*) AS batches, SUM(own_ns) AS busy_ns,
    AVG(own_ns) AS mean_ns, MAX(own_ns) AS max_ns
  FROM span JOIN thread ON thread.id = thread_id JOIN process ON process.id = process_id
  WHERE stage = 'fetch' AND own_ns IS NOT NULL GROUP BY process_id ORDER BY worker_id;
)sql";

}  // namespace penstock::traces
