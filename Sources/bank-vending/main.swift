// Entry point of `bank-vending`: passes the arguments to `VendingProcess`,
// and exits with its code.

import Glibc
import Posix
import VendingMachine

exit(VendingProcess.run(arguments: Array(CurrentProcess.arguments.dropFirst())))
