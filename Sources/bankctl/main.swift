// The door of bankctl: hands the words to the program and ends with its exit code.
import Glibc

exit(Program.run(Array(CommandLine.arguments.dropFirst())).rawValue)
