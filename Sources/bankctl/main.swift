// The door of bankctl: hands the words to the program and ends with its exit code.
// It must not hold any logic.

import Glibc

exit(Program.run(Array(CommandLine.arguments.dropFirst())).rawValue)
