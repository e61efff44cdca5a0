// Entry point of `bankctl`: passes the arguments to `Program`.
// Errors: the exit code.

import Console
import Glibc

exit(Program.run(BankctlTable.table, Commands.run))
