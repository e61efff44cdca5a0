// Entry point of `bank-web`: passes the arguments to `WebProcess`.
// Errors: the exit code.

import Glibc
import Posix
import WebInterface

exit(WebProcess.run(arguments: Array(CurrentProcess.arguments.dropFirst())))
