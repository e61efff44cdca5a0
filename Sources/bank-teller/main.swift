// The executable of a teller: composition only. See `TellerProgram`.

import Glibc
import Teller

exit(TellerProgram.run())
