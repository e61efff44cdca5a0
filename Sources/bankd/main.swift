// Owns nothing: hands the command line to the coordinator, and its exit code to the system.
// It must not hold any logic.

import Coordinator
import Glibc

exit(CoordinatorProcess.run(arguments: Array(CommandLine.arguments.dropFirst())))
