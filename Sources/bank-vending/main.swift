// Owns nothing: hands the command line to the vending machine, and its exit code to the system.
// It must not hold any logic.

import Glibc
import Posix
import VendingMachine

exit(VendingProcess.run(arguments: Array(CurrentProcess.arguments.dropFirst())))
