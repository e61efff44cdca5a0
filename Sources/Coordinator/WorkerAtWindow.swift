// Owns what stands behind a window where the configuration names a program: its words, its surroundings, its limits.
// Invariant: it is told nothing of the bank's own surroundings, as a command is not. Failure: a program that cannot be found is
// a start that fails, and is tried again as any other.

import BankModel
import ByteText
import CommandRunner
import Configuration
import Glibc
import Posix
import Time
import Wire

extension BankConfiguration {
  /// The program behind a window of a service.
  ///
  /// - Parameters:
  ///   - window: what the window is called.
  ///   - key: what it is known by, with whatever it starts, where both this process and the worker were killed.
  /// - Throws: ENOENT, EACCES for a program that is not there or cannot be run.
  func worker(
    of service: ServiceName, window: String, key: String, home: BankHome
  ) throws(SystemError) -> ChildProcess.Program {
    let settings = self[service]
    guard let words = settings.worker, let name = words.first else {
      throw SystemError(call: "execve", subject: window, code: ENOENT)
    }
    var environment = CommandSurroundings.common(
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
      processorSeconds: settings.processor.map { UInt64(max(1, $0.milliseconds / 1_000)) },
      openFiles: settings.files.map { UInt64(max(0, $0)) })
    return ChildProcess.Program(
      path: path, words: words.map { ByteText.bytes(of: $0) }, environment: environment, directory: directory,
      limits: limits.all, mask: settings.mask, isSubreaper: true)
  }
}
