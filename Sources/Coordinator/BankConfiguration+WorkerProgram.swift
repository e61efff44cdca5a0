// Program at a window of a service with a configured worker: its arguments, environment and limits.
// Invariant: like a command, the program inherits only the variables of `InheritedEnvironment` from the bank's
// own environment.

import BankModel
import ByteText
import CommandRunner
import Configuration
import Glibc
import Posix
import Time
import Wire

extension BankConfiguration {
  /// The configured worker program for a window of a service, with arguments, environment and limits.
  ///
  /// - Parameter key: Value in the worker's environment. It identifies the worker and its child processes after the
  ///   worker and this process were killed.
  /// - Throws: ENOENT if the program is not found, EACCES if it cannot be run.
  func worker(
    of service: ServiceName, window: String, key: String, home: BankHome
  ) throws(SystemError) -> ChildProcess.Program {
    let settings = self[service]
    guard let words = settings.worker, let name = words.first else {
      throw SystemError(call: "execve", subject: window, code: ENOENT)
    }
    var environment = InheritedEnvironment.common(
      settings.environment.settings, own: Environment.all())
    environment[Orphans.variable] = key
    environment["BANK_WINDOW"] = window
    environment["BANK_SERVICE"] = service.text
    let directory = settings.directory.map { Paths.join(home.path, $0) } ?? home.path
    let path: String
    switch ProgramSearch.find(name, path: environment["PATH"], directory: directory) {
    case .success(let found): path = found
    case .failure(let refusal):
      var code = ENOENT
      if case .notExecutable = refusal { code = EACCES }
      throw SystemError(call: "execve", subject: name, code: code)
    }
    let limits = CommandLimits(
      memory: settings.memory.map { UInt64(max(0, $0)) },
      processorSeconds: settings.cpuTime.map { UInt64(max(1, $0.milliseconds / 1_000)) },
      openFiles: settings.files.map { UInt64(max(0, $0)) })
    return ChildProcess.Program(
      path: path, words: words.map { ByteText.bytes(of: $0) }, environment: environment, directory: directory,
      limits: limits.all, mask: settings.mask, isSubreaper: true)
  }
}
