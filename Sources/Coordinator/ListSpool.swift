// Owns a list of customers that comes in parts, until it is whole: the first part in memory, the rest in a file that
// has no name. A client can be slow, or vanish, without holding anything up, and a long list takes no memory.
// It knows no queue. Every entry is checked before it is kept.

import BankModel
import Glibc
import Posix
import Wire

/// The parts of one list.
final class ListSpool {
  /// The request that the list belongs to.
  let number: UInt32
  private(set) var count: Int64 = 0
  /// Why the list cannot be taken; it is answered with the last part.
  private(set) var failure: Failure?

  /// Whether more than the first part has come.
  private(set) var hasSeveralParts = false

  private let directory: String
  private var first: [EnqueueEntry]?
  private var file: FileDescriptor?
  private var decoder = FrameDecoder(maximumBodyLength: FrameLimits.control)
  private var offset: Int64 = 0

  init(number: UInt32, directory: String) {
    self.number = number
    self.directory = directory
  }

  /// Keeps a part.
  func append(_ entries: [EnqueueEntry]) {
    guard failure == nil else { return }
    count += Int64(entries.count)
    guard entries.count <= EnqueueList.partLimit else {
      return refuse("a part has at most \(EnqueueList.partLimit) entries, not \(entries.count)")
    }
    guard count <= BankModel.Limits.customersPerCommand else {
      return refuse("at most \(BankModel.Limits.customersPerCommand) customers a command")
    }
    for entry in entries {
      if let reason = entry.fault { return refuse(reason) }
    }
    if first == nil {
      first = entries
    } else {
      hasSeveralParts = true
      write(entries)
    }
  }

  /// Whether somebody of the first part has this key, or there are more parts, of which nobody knows.
  func hasKey(_ key: String) -> Bool {
    hasSeveralParts || first?.contains { $0.key?.utf8.elementsEqual(key.utf8) ?? false } ?? true
  }

  private func refuse(_ detail: String) {
    failure = Failure(.badRequest, detail: detail)
    first = []
    file = nil
  }

  /// A file that vanishes with this process.
  private static func unnamedFile(in directory: String) throws(SystemError) -> FileDescriptor {
    let path = Paths.join(directory, "list-\(CurrentProcess.pid)-\(RandomSeed.fromSystem())")
    let file = try FileDescriptor.open(path, [.readWrite, .create, .exclusive], mode: 0o600)
    try? Directory.unlink(path)
    return file
  }

  private func write(_ entries: [EnqueueEntry]) {
    do throws(SystemError) {
      if file == nil { file = try Self.unnamedFile(in: directory) }
      var bytes: [UInt8] = []
      do throws(FrameEncodingError) {
        try FrameEncoder().append(
          EnqueueList(entries: entries, isLast: false), to: &bytes, limit: FrameLimits.control)
      } catch {
        return refuse(error.description)
      }
      try file!.writeAll(bytes)
    } catch {
      let isFull = error.code == ENOSPC || error.code == EDQUOT || error.code == EFBIG
      failure = Failure(isFull ? .diskFull : .system, subject: directory, detail: error.description)
      file = nil
    }
  }

  /// The next part; nil when there is none left.
  func next() throws(Failure) -> [EnqueueEntry]? {
    if let entries = first {
      first = file == nil ? nil : .some([])
      if !entries.isEmpty { return entries }
    }
    guard file != nil else { return nil }
    first = nil
    do {
      while true {
        if let body = try decoder.next() {
          return try CBORDecoder().decode(EnqueueList.self, from: body).entries
        }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = try buffer.withUnsafeMutableBytes { try file!.read(into: $0, at: offset) }
        guard count > 0 else { return nil }
        offset += Int64(count)
        decoder.append(buffer[..<count])
      }
    } catch {
      throw Failure(.system, subject: directory, remark: Remark(.listUnreadable, "\(error)"))
    }
  }
}

extension EnqueueEntry {
  /// What is wrong with this entry; nil for nothing.
  var fault: String? {
    if !service.movesMoney { return "customers for \(service.name) do not come in a list" }
    if !(1...BankModel.Limits.amount).contains(amount) {
      return "an amount is 1 to \(BankModel.Limits.amount) won, not \(amount)"
    }
    if !(0...BankModel.Limits.account).contains(account) {
      return "an account is 0 to \(BankModel.Limits.account), not \(account)"
    }
    return key.flatMap(keyFault)
  }
}

/// What is wrong with an idempotency key; nil for nothing.
func keyFault(_ key: String) -> String? {
  if key.isEmpty || key.utf8.count > BankModel.Limits.keyLength {
    return "a key has 1 to \(BankModel.Limits.keyLength) bytes, not \(key.utf8.count)"
  }
  return nil
}
