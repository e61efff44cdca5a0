// Entry point of `bank-guardian`: passes the arguments to `GuardianProcess`.
// Errors: the exit code.

import Glibc
import Posix
import Guardian

exit(GuardianProcess.run(arguments: Array(CurrentProcess.arguments.dropFirst())))
