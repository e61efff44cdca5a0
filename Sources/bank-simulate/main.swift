// Entry point of the simulator.
// It passes the arguments to the program and exits with its code; it contains no logic.
import Console
import Glibc

exit(Program.run(tool: SimulateProgram.table, SimulateProgram.run))
