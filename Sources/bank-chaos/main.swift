// Entry point of bank-chaos. It runs a relay, a command or a worker if the arguments request it, and the chaos run in
// all other cases.
import BankctlCommands
import Glibc
import Posix

if let code = ChaosRelay.run(Array(CurrentProcess.arguments.dropFirst())) { exit(code) }
if let code = WorkMode.run(Array(CurrentProcess.arguments.dropFirst())) { exit(code) }
exit(Program.run(BankctlTable.chaosProgram, ChaosProgram.run))
