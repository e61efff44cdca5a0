// The door of bank-chaos: hands the words to the program and ends with its exit code.
// It must not hold any logic.
import Console
import Glibc

if let code = ChaosRelay.run(Array(CommandLine.arguments.dropFirst())) { exit(code) }
if let code = WorkMode.run(Array(CommandLine.arguments.dropFirst())) { exit(code) }
exit(Program.run(BankctlTable.chaosProgram, ChaosProgram.run))
