// SPDX-License-Identifier: Apache-2.0
//
// The tables and views of an exported database. Names are stable; columns and views may be added.
// Times are CLOCK_MONOTONIC nanoseconds, sizes are bytes; NULL: not known or none.
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
CREATE TABLE span(thread_id INTEGER REFERENCES thread, stage TEXT, name_id INTEGER REFERENCES string,
  start_ns INTEGER, duration_ns INTEGER, cpu_ns INTEGER, busy_ns INTEGER, bytes INTEGER,
  sample INTEGER, batch INTEGER, epoch INTEGER, object_id INTEGER REFERENCES string,
  flags INTEGER, depth INTEGER);
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
  SELECT span.rowid AS id, stage, n.text AS name, start_ns, duration_ns, cpu_ns, busy_ns, bytes,
    sample, batch, epoch, o.text AS object, pid, tid, role, worker_id, depth, flags
  FROM span JOIN thread ON thread.id = thread_id JOIN process ON process.id = process_id
    LEFT JOIN string n ON n.id = name_id LEFT JOIN string o ON o.id = object_id;
-- What does each stage take? A stage inside itself (a transform in another) counts once.
CREATE VIEW stage_summary AS
  SELECT stage, COUNT(*) AS count, SUM(duration_ns) AS wall_ns, SUM(cpu_ns) AS cpu_ns,
    MIN(duration_ns) AS min_ns, AVG(duration_ns) AS mean_ns, MAX(duration_ns) AS max_ns,
    SUM(bytes) AS bytes
  FROM span GROUP BY stage ORDER BY wall_ns DESC;
-- And each function or transform?
CREATE VIEW name_summary AS
  SELECT stage, text AS name, COUNT(*) AS count, SUM(duration_ns) AS wall_ns, SUM(cpu_ns) AS cpu_ns,
    AVG(duration_ns) AS mean_ns, MAX(duration_ns) AS max_ns
  FROM span LEFT JOIN string ON string.id = name_id GROUP BY stage, name_id ORDER BY wall_ns DESC;
-- Which files are slow to read?
CREATE VIEW file_reads AS
  SELECT text AS file, COUNT(*) AS reads, SUM(bytes) AS bytes, SUM(duration_ns) AS wall_ns,
    MAX(duration_ns) AS max_ns
  FROM span JOIN string ON string.id = object_id WHERE stage = 'read'
  GROUP BY object_id ORDER BY wall_ns DESC;
-- How long is the way of a batch, and how long did the program wait for it?
CREATE VIEW batches AS
  SELECT epoch, batch,
    MIN(CASE WHEN stage = 'fetch' THEN start_ns END) AS fetch_ns,
    MAX(CASE WHEN stage = 'fetch' THEN start_ns + duration_ns END) AS fetched_ns,
    MAX(CASE WHEN stage = 'wait' THEN start_ns + duration_ns END) AS delivered_ns,
    SUM(CASE WHEN stage = 'wait' THEN duration_ns END) AS waited_ns,
    MAX(CASE WHEN stage = 'fetch' THEN thread_id END) AS worker_thread
  FROM span WHERE batch IS NOT NULL GROUP BY epoch, batch ORDER BY delivered_ns;
-- Is one worker slower than the others?
CREATE VIEW workers AS
  SELECT process_id, worker_id, COUNT(*) AS batches, SUM(duration_ns) AS busy_ns,
    AVG(duration_ns) AS mean_ns, MAX(duration_ns) AS max_ns
  FROM span JOIN thread ON thread.id = thread_id JOIN process ON process.id = process_id
  WHERE stage = 'fetch' GROUP BY process_id ORDER BY worker_id;
)sql";

}  // namespace penstock::traces
