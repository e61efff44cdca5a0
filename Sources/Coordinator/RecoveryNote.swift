// Owns how a coordinator leaves a note for the one that is started after it was killed, and the copy of its configuration
// among those notes: somebody may be in the middle of editing the file when the next one reads it.
// Invariant: a note is replaced whole, so a reader finds all of one moment. They are for the death of a process and not of
// the machine, so no disk is waited for.
// Failure: a note that cannot be kept is taken away: rather none than one of another moment.

import BankModel
import Configuration
import Glibc
import Posix
import Wire

enum RecoveryNote {
  /// The longest configuration that is copied, in bytes: longer ones are refused when they are read.
  private static let longest = 1 << 20

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
    let bytes = options.config.flatMap { try? FileDescriptor.open($0, .readOnly).readAll(limit: longest) }
    if let bytes {
      keep(bytes, at: home.configurationCopy)
    } else {
      try? Directory.unlink(home.configurationCopy)
    }
  }

  /// The configuration; after a crash that with which the bank was open before, where the file is not good any more, and in any
  /// case with the books that it had opened.
  /// - Parameter trouble: what is wrong with the file then.
  static func configuration(
    of options: CoordinatorOptions, _ home: BankHome, trouble: inout Failure?
  ) throws(Failure) -> BankConfiguration {
    let kept = options.isRecovery ? StoreRecord.read(from: home.storeNote) : nil
    let read = try self.read(options, home, trouble: &trouble)
    return kept.map { read.keeping($0) } ?? read
  }

  private static func read(
    _ options: CoordinatorOptions, _ home: BankHome, trouble: inout Failure?
  ) throws(Failure) -> BankConfiguration {
    do throws(Failure) { return try options.configuration() } catch {
      guard options.isRecovery else { throw error }
      var former = options
      former.config = home.configurationCopy
      guard let configuration = try? former.configuration() else { throw error }
      trouble = error
      return configuration
    }
  }
}

/// The note of how many windows are wanted, beside the sockets: what the next coordinator opens after this one has been
/// killed.
/// Invariant: the file is replaced whole, so a reader finds all of the numbers of one moment.
/// Failure: a note that cannot be written or read is none, and the configuration says how many windows there are.
enum WindowsRecord {
  private static let longest = 1 << 17

  /// Keeps the numbers. It is for the death of a process and not of the machine, so the disk is not waited for.
  static func keep(_ windows: [ServiceName: Int32], at path: String) {
    RecoveryNote.keep(Array(text(windows).utf8), at: path)
  }

  /// Takes away what was kept for a bank that was open before, and is opened anew.
  static func remove(_ path: String) { try? Directory.unlink(path) }

  /// What was kept; nil where nothing was, or it cannot be relied on.
  static func read(from path: String) -> [ServiceName: Int32]? {
    guard let file = try? FileDescriptor.open(path, [.readOnly, .noFollow]),
      let bytes = try? file.readAll(limit: longest)
    else { return nil }
    return parse(String(decoding: bytes, as: UTF8.self))
  }

  static func text(_ windows: [ServiceName: Int32]) -> String {
    let others = windows.keys.filter { !ServiceName.branch.contains($0) }.sorted()
    return (ServiceName.branch + others).map { "\($0) \(windows[$0] ?? 0)\n" }.joined() + "end\n"
  }

  static func parse(_ text: String) -> [ServiceName: Int32]? {
    guard text.hasSuffix("\n") else { return nil }
    var lines = text.split(separator: "\n")
    guard lines.popLast() == "end" else { return nil }
    var windows: [ServiceName: Int32] = [:]
    for line in lines {
      let parts = line.split(separator: " ", omittingEmptySubsequences: false)
      guard parts.count == 2, let service = ServiceName(parts[0]), windows[service] == nil,
        let count = Int32(parts[1]), (0...Int32(Limits.windowsPerService)).contains(count)
      else { return nil }
      windows[service] = count
    }
    return ServiceName.branch.allSatisfy { windows[$0] != nil } ? windows : nil
  }
}
