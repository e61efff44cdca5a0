// Entry point of `bank-teller`: everything is in `TellerProgram`.
// Errors: the exit code.

import Glibc
import Teller

exit(TellerProgram.run())
