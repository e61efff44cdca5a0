// Owns nothing: hands the command line to the page's server, and its exit code to the system.
// It must not hold any logic.

import Glibc
import Posix
import WebInterface

exit(WebProcess.run(arguments: Array(CurrentProcess.arguments.dropFirst())))
