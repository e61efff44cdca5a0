// Files that a coordinator stores for its successor, for the case that the coordinator is killed. One of them is a copy
// of the configuration, because a user may be editing the original when the successor starts.
// Invariant: a file is replaced as a whole, so it contains the state of one moment. The files are needed after the
// death of the process, but not of the machine, so they are not synced.
// Errors: a file that cannot be written is removed: no file is better than an outdated one.

import BankModel
import Configuration
import Glibc
import Posix
import Wire

enum RecoveryMarkerFile {
  /// Longest configuration that is copied, in bytes.
  private static let longest = 1 << 20

  /// Replaces a file as a whole, or removes the file if it cannot be written.
  static func write(_ bytes: [UInt8], at path: String) {
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

  /// Copies the configuration file for the next coordinator, if this process has a guardian. Without a configuration
  /// file, an earlier copy is removed.
  static func copyConfiguration(of options: CoordinatorOptions, _ home: BankHome) {
    guard options.guardian != nil else { return }
    let bytes = options.config.flatMap { try? FileDescriptor.open($0, .readOnly).readAll(limit: longest) }
    if let bytes {
      write(bytes, at: home.configurationCopy)
    } else {
      try? Directory.unlink(home.configurationCopy)
    }
  }

  /// Configuration for this start. After a crash the bank keeps the database that was open before, and the previous
  /// configuration replaces an invalid file.
  /// - Parameter fileError: Set to the error of an invalid file that the previous configuration replaces.
  static func configuration(
    of options: CoordinatorOptions, _ home: BankHome, fileError: inout Failure?
  ) throws(Failure) -> BankConfiguration {
    let kept = options.isRecovery ? StoreMarkerFile.read(from: home.storeMarkerFile) : nil
    let read = try self.read(options, home, fileError: &fileError)
    return kept.map { read.keeping($0) } ?? read
  }

  /// Configuration in the file or, after a crash with an invalid file, in the previous copy.
  private static func read(
    _ options: CoordinatorOptions, _ home: BankHome, fileError: inout Failure?
  ) throws(Failure) -> BankConfiguration {
    do throws(Failure) { return try options.configuration() } catch {
      guard options.isRecovery else { throw error }
      var former = options
      former.config = home.configurationCopy
      guard let configuration = try? former.configuration() else { throw error }
      fileError = error
      return configuration
    }
  }
}

/// File with the numbers of windows that the next coordinator opens after a kill of this one.
/// Invariant: the file is replaced as a whole, so its numbers were all valid at one moment.
/// Errors: a file that cannot be written or read counts as missing; then the configuration sets the numbers.
enum WindowsMarkerFile {
  private static let longest = 1 << 17

  static func write(_ windows: [ServiceName: Int32], at path: String) {
    RecoveryMarkerFile.write(Array(text(windows).utf8), at: path)
  }

  /// Removes the file of an earlier opening.
  static func remove(_ path: String) { try? Directory.unlink(path) }

  /// Stored numbers; nil if the file is missing or invalid.
  static func read(from path: String) -> [ServiceName: Int32]? {
    guard let file = try? FileDescriptor.open(path, [.readOnly, .noFollow]),
      let bytes = try? file.readAll(limit: longest)
    else { return nil }
    return parse(String(decoding: bytes, as: UTF8.self))
  }

  /// Contents of the file: one line for each service, and the last line `end`.
  static func text(_ windows: [ServiceName: Int32]) -> String {
    let others = windows.keys.filter { !ServiceName.branch.contains($0) }.sorted()
    return (ServiceName.branch + others).map { "\($0) \(windows[$0] ?? 0)\n" }.joined() + "end\n"
  }

  /// Numbers in the contents of a file; nil if the contents are invalid.
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
