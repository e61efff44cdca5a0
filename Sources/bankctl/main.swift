// Entry point of `bankctl`: passes the arguments to `Program`.
// Errors: the exit code.

import BankctlCommands
import Glibc

exit(Program.run(BankctlTable.table, Commands.run))
