// Entry point of bank-chaos.
import Console
import Glibc
import Posix

if let code = ChaosRelay.run(Array(CurrentProcess.arguments.dropFirst())) { exit(code) }
if let code = WorkMode.run(Array(CurrentProcess.arguments.dropFirst())) { exit(code) }
exit(Program.run(BankctlTable.chaosProgram, ChaosProgram.run))
