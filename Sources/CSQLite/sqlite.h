// The system's SQLite as a Swift module. Of our own is only a call that Swift cannot make, because it takes what it is
// given by number and kind as it comes.
#include <sqlite3.h>

/// Leaves out the counting of allocated memory, which takes a lock at every allocation. Before the first connection of
/// the process; later it is refused and changes nothing. See sqlite3_config and SQLITE_CONFIG_MEMSTATUS.
static inline int sqlite_leave_out_memory_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
