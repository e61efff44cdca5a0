// Entry point of the simulator.
import Console
import Glibc

exit(Program.run(tool: SimulateProgram.table, SimulateProgram.run))
