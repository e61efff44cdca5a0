// Entry point: passes the command line to the web server, and its exit code to the system. It contains no
// logic.

import Glibc
import Posix
import WebInterface

exit(WebProcess.run(arguments: Array(CurrentProcess.arguments.dropFirst())))
