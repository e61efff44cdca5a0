// Owns nothing but the start of the executable of a teller: everything is in `TellerProgram`.
// It must not decide anything. Whatever fails comes back as the code to exit with.

import Glibc
import Teller

exit(TellerProgram.run())
