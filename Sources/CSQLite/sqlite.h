// The system's SQLite as a Swift module. Nothing of our own lives here.
#include <sqlite3.h>
