// Entry point of bank-chaos.
// It passes the arguments to the program and exits with its code; it contains no logic.
import Console
import Glibc
import Posix

if let code = ChaosRelay.run(Array(CurrentProcess.arguments.dropFirst())) { exit(code) }
if let code = WorkMode.run(Array(CurrentProcess.arguments.dropFirst())) { exit(code) }
exit(Program.run(BankctlTable.chaosProgram, ChaosProgram.run))
