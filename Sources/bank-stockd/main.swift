// Owns nothing: hands the command line to the stock service, and its exit code to the system.
// It must not hold any logic.

import Glibc
import Posix
import StockService

exit(StockProcess.run(arguments: Array(CurrentProcess.arguments.dropFirst())))
