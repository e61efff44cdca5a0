// Entry point of `bankctl`: passes the table of commands and their implementations to `Program`,
// which reads the arguments, prints errors, and returns the exit code.

import BankctlCommands
import Glibc

exit(Program.run(BankctlTable.table, Commands.run))
