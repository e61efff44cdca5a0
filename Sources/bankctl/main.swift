// Entry point of `bankctl`: passes the arguments to `Program`, and exits with its code.

import Console
import Glibc

exit(Program.run(BankctlTable.table, Commands.run))
