// Entry point of `bank-web`: passes the arguments to `WebProcess`,
// and exits with its code.

import Glibc
import Posix
import WebInterface

exit(WebProcess.run(arguments: Array(CurrentProcess.arguments.dropFirst())))
