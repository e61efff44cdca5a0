// Entry point of `bank-teller`: everything is in `TellerProgram`.
// Exits with its code.

import Glibc
import Teller

exit(TellerProgram.run())
