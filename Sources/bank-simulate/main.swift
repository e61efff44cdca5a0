// Owns nothing but the start of the simulator's executable: everything is in `SimulateProgram`.
// It must not decide anything. Whatever fails comes back as the code to exit with.

import Glibc

exit(SimulateProgram.run(Array(CommandLine.arguments.dropFirst())))
