// Entry point of `bank-runner`, the worker that starts one command for each customer.
// Exits with the code of `TellerProgram`.

import CommandExecutor
import Glibc
import Posix
import Teller

exit(
  TellerProgram.run(as: "bank-runner", role: .runner) { loop throws(SystemError) -> (any ResourceProvider)? in
    // Arguments: NAME GENERATION COORDINATOR HOME [MARK [GROUP]]
    let arguments = CurrentProcess.arguments.dropFirst(4)
    // Commands inherit the mark, which identifies their processes.
    arguments.dropFirst().first.flatMap { ProcessMark($0) }?.adopt()
    let group = arguments.dropFirst(2).first.flatMap { $0.isEmpty ? nil : ControlGroup(path: $0) }
    let provider = CommandProvider(loop: loop, home: arguments.first, group: group)
    try provider.adoptDescendants()
    return provider
  })
