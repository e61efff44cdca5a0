// Owns nothing but the start of the executable of a window where a command does the work: a worker that has each customer's
// whole work done. It must not decide anything. Whatever fails comes back as the code to exit with.

import CommandWindow
import Glibc
import Posix
import Teller

exit(
  TellerProgram.run(as: "bank-runner", role: .runner) { loop throws(SystemError) -> (any Provider)? in
    // NAME GENERATION COORDINATOR HOME [GROUP]
    let provider = CommandProvider(
      loop: loop, home: CommandLine.arguments.dropFirst(4).first,
      group: CommandLine.arguments.dropFirst(5).first.map { ControlGroup(path: $0) })
    try provider.adoptDescendants()
    return provider
  })
