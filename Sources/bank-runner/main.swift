// Entry point of `bank-runner`, the worker of a window where a command does the whole work of each customer.
// Errors: the exit code.

import CommandWindow
import Glibc
import Posix
import Teller

exit(
  TellerProgram.run(as: "bank-runner", role: .runner) { loop throws(SystemError) -> (any Provider)? in
    // Arguments: NAME GENERATION COORDINATOR HOME [MARK [GROUP]]
    let words = CurrentProcess.arguments.dropFirst(4)
    // Commands inherit the mark, which identifies their processes.
    words.dropFirst().first.flatMap { ProcessMark($0) }?.adopt()
    let group = words.dropFirst(2).first.flatMap { $0.isEmpty ? nil : ControlGroup(path: $0) }
    let provider = CommandProvider(loop: loop, home: words.first, group: group)
    try provider.adoptDescendants()
    return provider
  })
