// Entry point of the simulator.
// It passes the arguments to the program and exits with its code.
import BankctlCommands
import Glibc

exit(Program.run(tool: SimulateProgram.table, SimulateProgram.run))
