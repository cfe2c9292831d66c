// SPDX-License-Identifier: Apache-2.0
//
// Owners of SQLite's objects.
#pragma once

#include <sqlite3.h>

#include <memory>

namespace penstock::traces {

struct SqliteClose {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

using SqliteDatabase = std::unique_ptr<sqlite3, SqliteClose>;
using SqliteStatement = std::unique_ptr<sqlite3_stmt, SqliteClose>;

}  // namespace penstock::traces
