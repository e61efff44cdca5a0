// The door of bank-chaos: hands the words to the program and ends with its exit code.
// It must not hold any logic.
import Console
import Glibc
import Posix

if let code = ChaosRelay.run(Array(CurrentProcess.arguments.dropFirst())) { exit(code) }
if let code = WorkMode.run(Array(CurrentProcess.arguments.dropFirst())) { exit(code) }
exit(Program.run(BankctlTable.chaosProgram, ChaosProgram.run))
