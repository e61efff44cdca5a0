// Owns how a coordinator leaves a note for the one that is started after it was killed, and the copy of its
// configuration among those notes: somebody may be in the middle of editing the file when the next one reads it.
// It must not know what the other notes say.
// Invariant: a note is replaced whole, so a reader finds all of one moment. They are for the death of a process and not
// of the machine, so no disk is waited for.
// Failure: a note that cannot be kept is taken away: rather none than one of another moment.

import Configuration
import Glibc
import Posix
import Wire

/// Notes for the next coordinator.
enum RecoveryNote {
  /// The longest configuration that is copied, in bytes: longer ones are refused when they are read.
  private static let longest = 1 << 20

  /// Keeps a note.
  static func keep(_ bytes: [UInt8], at path: String) {
    let fresh = path + ".new"
    do throws(SystemError) {
      let file = try FileDescriptor.open(fresh, [.writeOnly, .create, .truncate], mode: 0o600)
      try file.writeAll(bytes)
      try file.close()
    } catch {
      try? Directory.unlink(fresh)
      try? Directory.unlink(path)
      return
    }
    do throws(SystemError) { try Directory.rename(fresh, to: path) } catch { try? Directory.unlink(path) }
  }

  /// Copies the configuration that was just read and found good.
  static func keepConfiguration(of options: CoordinatorOptions, _ home: BankHome) {
    guard options.guardian != nil else { return }
    guard let config = options.config,
      let bytes = try? FileDescriptor.open(config, .readOnly).readAll(limit: longest)
    else {
      try? Directory.unlink(home.configurationCopy)
      return
    }
    keep(bytes, at: home.configurationCopy)
  }

  /// The configuration; after a crash that with which the bank was open before, where the file is not good any more.
  ///
  /// - Parameter trouble: what is wrong with the file then.
  static func configuration(
    of options: CoordinatorOptions, _ home: BankHome, trouble: inout Failure?
  ) throws(Failure) -> BankConfiguration {
    do throws(Failure) {
      return try options.configuration()
    } catch {
      guard options.isRecovery else { throw error }
      var former = options
      former.config = home.configurationCopy
      guard let configuration = try? former.configuration() else { throw error }
      trouble = error
      return configuration
    }
  }
}
