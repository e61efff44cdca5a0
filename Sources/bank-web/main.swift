// Entry point: passes the command line to `WebProcess`.

import Glibc
import Posix
import WebInterface

exit(WebProcess.run(arguments: Array(CurrentProcess.arguments.dropFirst())))
