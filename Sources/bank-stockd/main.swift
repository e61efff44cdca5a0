// Entry point of `bank-stockd`: passes the arguments to `StockProcess`,
// and exits with its code.

import Glibc
import Posix
import StockService

exit(StockProcess.run(arguments: Array(CurrentProcess.arguments.dropFirst())))
