// SPDX-License-Identifier: Apache-2.0
//
// Texts of the tables that a search or an SQL question makes, in the form of texts_table.h.
#pragma once

// clang-format off
#define PENSTOCK_QUERY_TEXTS(X) \
  X(kGroupShard, "shard or folder", "分片或文件夹") \
  X(kGroupProcess, "process", "进程") \
  X(kGroupName, "name", "名称") \
  X(kGroupEpoch, "epoch", "epoch") \
  X(kGroupNone, "(none)", "（无）") \
  X(kGroupSum, "sum", "合计") \
  X(kGroupLargest, "largest", "最长") \
  X(kGroupTitle, "Groups: {} of {}, calls: {}, {}", "显示 {} 组（共 {} 组），{} 次调用，{}") \
  X(kGroupInSelection, "Groups in the selection: {} of {}, calls: {}, {}", \
    "选区内显示 {} 组（共 {} 组），{} 次调用，{}") \
  X(kGroupSumTip, \
    "Own time, as in the report: a call inside another call counts separately. Fetches and samples only contain other stages: they count only if the search names them.", \
    "自身耗时（与报告一致）：嵌套其中的调用单独计时。生成批次与样本只是其他阶段的容器，仅在搜索中指定时计入。") \
  X(kGroupGoTip, "Click: the longest of these calls; the others are marked", \
    "单击：跳到其中最长的调用，其余同时标出") \
  X(kGroupCopy, "Copy as CSV", "复制为 CSV") \
  X(kGroupNothing, "No call has all of this.", "没有符合全部条件的调用。") \
  X(kSql, "SQL", "SQL") \
  X(kSqlRun, "Run (Ctrl+Enter)", "运行（Ctrl+Enter）") \
  X(kSqlNote, "The tables and views of penstock export --to sqlite. No query changes the trace.", \
    "表和视图与 penstock export 导出的 SQLite 数据库相同。此处的查询不会改动跟踪文件。") \
  X(kSqlExamples, "Examples:", "示例：") \
  X(kSqlTables, "tables", "表") \
  X(kSqlStages, "stages", "阶段") \
  X(kSqlNames, "names", "名称") \
  X(kSqlFiles, "files", "文件") \
  X(kSqlBatches, "batches", "批次") \
  X(kSqlWorkers, "workers", "工作进程") \
  X(kSqlSpans, "slow spans", "最慢的记录") \
  X(kSqlRow, "1 row, {}", "1 行，{}") \
  X(kSqlRows, "{} rows, {}", "{} 行，{}") \
  X(kSqlCut, "first rows only: {}, {}", "前 {} 行，{}") \
  X(kSqlPlot, "{} over {}", "{} 随 {} 的变化") \
  X(kSqlBars, "{} by {}", "{}（按 {}）") \
  X(kSqlManySpans, \
    "{} spans: the first query builds a database, which takes a while. Press Run.", \
    "共 {} 条记录：首次查询需要建立数据库，耗时较长。请点击“运行”。") \
  X(kSqlForbidden, "Only SELECT over this trace is allowed.", "只能对此跟踪执行 SELECT。") \
  X(kSqlTooLong, "It took longer than 10 s and was stopped.", "耗时超过 10 秒，已停止。") \
  X(kSqlStopped, "Stopped.", "已停止。") \
  X(kSqlEmpty, "There is no statement.", "没有语句。") \
  X(kSqlSeveral, "One statement at a time.", "一次只能执行一条语句。") \
  X(kSqlWrong, "SQLite: {}", "SQLite：{}") \
  X(kSqlNoFile, "The database cannot be made: {}", "无法建立数据库：{}") \
  X(kKeyWalk, "arrows move from item to item, Space presses; F6 again: back", \
    "方向键逐项移动，空格键按下；再按 F6 返回视图") \
  X(kKeySelectVisible, "select the visible interval", "选择可见区间") \
  X(kGroupExample, "group:file", "分组：文件") \
  X(kKeyGroup, "in the search: a table by file, shard, worker, stage, name or epoch", \
    "搜索时：按文件、工作进程、阶段等列表")
// clang-format on
