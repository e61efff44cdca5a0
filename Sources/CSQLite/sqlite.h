// The system's SQLite as a Swift module. Of our own are only calls that Swift cannot make, because they take what they are
// given by number and kind as it comes.
#include <sqlite3.h>

/// Leaves out the counting of allocated memory, which takes a lock at every allocation. Before the first connection of
/// the process; later it is refused and changes nothing. See sqlite3_config and SQLITE_CONFIG_MEMSTATUS.
static inline int sqlite_leave_out_memory_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

/// Whether the log stays as it is when the connection is closed, and nothing of it is copied. See sqlite3_db_config and
/// SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE.
static inline int sqlite_keep_log_on_close(sqlite3 *connection, int keeps) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps, (int *)0);
}
