// Owns the file that keeps what a command has said, up to a bound. Invariant: it is of this attempt alone, never longer
// than the bound, and the beginning of what was said. There is none where nothing was said, because most commands say
// nothing and a file costs more than all else; the directories that it stands in are made with it. Failure: the first one is
// kept, and nothing is written after it; a file that was removed before its end is a failure, too.
import Glibc
import Posix

/// A bounded file, made with its first byte.
final class OutputFile {
  private let path: String
  private let bound: Int64
  private var file: FileDescriptor?
  private(set) var length: Int64 = 0
  /// Why the file is shorter than it could be; nil where it is not.
  private(set) var failure: SystemError?

  /// - Parameter path: what an earlier attempt left there goes.
  init(path: String, bound: Int64) {
    (self.path, self.bound) = (path, max(0, bound))
    do throws(SystemError) { try Directory.unlink(path) } catch {
      // A directory that is missing is found with the first byte, if there is one.
      if !error.isMissing { failure = error }
    }
  }

  func append(_ bytes: UnsafeRawBufferPointer) {
    guard failure == nil, length < bound else { return }
    var rest = UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(clamping: bound - length)))
    do throws(SystemError) {
      if file == nil { file = try create() }
      while !rest.isEmpty {
        let count = try write(rest)
        length += Int64(count)
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      }
    } catch {
      failure = error
      file = nil
    }
  }

  /// Ends the file. One that was removed meanwhile is known by its name, and nothing stands in it any more.
  func close() {
    defer { file = nil }
    guard failure == nil, isLost else { return }
    (failure, length) = (SystemError(call: "write", subject: path, code: ENOENT), 0)
  }

  private var isLost: Bool {
    // No simulated machine loses a file.
    guard Kernel.isLinux else { return false }
    switch file {
    case .some(let open):
      do throws(SystemError) {
        return try FileFacts.inspect(path, followLinks: false)?.identity != open.facts().identity
      } catch { return false }
    case .none: return false
    }
  }

  /// Makes the file, and the directory where there is none: it may be the first of its day.
  private func create() throws(SystemError) -> FileDescriptor {
    let options: OpenOptions = [.writeOnly, .create, .exclusive, .noFollow]
    do throws(SystemError) { return try FileDescriptor.open(path, options, mode: 0o600) } catch {
      guard error.isMissing else { throw error }
      let day = Paths.directory(of: path)
      do throws(SystemError) { try Directory.create(path: day, recursive: false) } catch {
        guard error.isMissing else { throw error }
        // The directory of all days was removed. A home that is gone is not made again.
        try Directory.create(path: Paths.directory(of: day), recursive: false)
        try Directory.create(path: day, recursive: false)
      }
      return try FileDescriptor.open(path, options, mode: 0o600)
    }
  }

  private func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
    switch file {
    case .some(let open):
      guard case .bytes(let count) = try open.write(bytes) else { return 0 }
      return count
    case .none: preconditionFailure("a file that is written to is open")
    }
  }
}
