// The system's SQLite as a Swift module. This header adds calls that Swift cannot make because they are
// variadic.
#include <sqlite3.h>

/// Disables the accounting of allocated memory, which takes a lock at each allocation. Call it before the first
/// connection of the process is opened. A later call returns SQLITE_MISUSE and has no effect. See sqlite3_config and
/// SQLITE_CONFIG_MEMSTATUS.
static inline int sqlite_leave_out_memory_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

/// If `keeps` is positive, closing the connection leaves the write-ahead log as it is, without a checkpoint. See
/// sqlite3_db_config and SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE.
static inline int sqlite_keep_log_on_close(sqlite3 *connection, int keeps) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps, (int *)0);
}
