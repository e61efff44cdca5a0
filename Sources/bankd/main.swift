// Owns nothing: hands the command line to the coordinator. It must not hold any logic.

import Coordinator
import Glibc

exit(CoordinatorProcess.run(arguments: Array(CommandLine.arguments.dropFirst())))
