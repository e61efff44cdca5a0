// Owns nothing: hands the command line to the guardian, and its exit code to the system.
// It must not hold any logic.

import Glibc
import Posix
import Guardian

exit(GuardianProcess.run(arguments: Array(CurrentProcess.arguments.dropFirst())))
