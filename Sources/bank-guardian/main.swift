// Entry point of `bank-guardian`: passes the arguments to `GuardianProcess`,
// and exits with its code.

import Glibc
import Posix
import Guardian

exit(GuardianProcess.run(arguments: Array(CurrentProcess.arguments.dropFirst())))
