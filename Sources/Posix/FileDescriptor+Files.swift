// Opening of files by path; reads and writes at an offset; complete reads and writes; syncing and truncating.
// Invariant: descriptors opened here are closed on exec.
// Errors: SystemError with the path, if the call had one. Treat a failed sync as fatal.
import CLinux
import Glibc

/// Flags for opening a file. Close-on-exec is added. `open(2)`
public struct OpenOptions: OptionSet, Sendable, Hashable {
  /// The bits of `open(2)`.
  public let rawValue: CInt
  public init(rawValue: CInt) { self.rawValue = rawValue }

  /// Reading only. It is the default without ``writeOnly`` and ``readWrite``.
  public static let readOnly = OpenOptions([])
  /// Writing only.
  public static let writeOnly = OpenOptions(rawValue: O_WRONLY)
  /// Reading and writing.
  public static let readWrite = OpenOptions(rawValue: O_RDWR)
  /// Creates the file if it is missing.
  public static let create = OpenOptions(rawValue: O_CREAT)
  /// With `create`: fails (EEXIST) if the file exists.
  public static let exclusive = OpenOptions(rawValue: O_EXCL)
  /// Truncates an existing file to zero length.
  public static let truncate = OpenOptions(rawValue: O_TRUNC)
  /// A write is appended at the current end of the file.
  public static let append = OpenOptions(rawValue: O_APPEND)
  /// Fails (ELOOP) if the last component of the path is a symbolic link.
  public static let noFollow = OpenOptions(rawValue: O_NOFOLLOW)
  /// Fails (ENOTDIR) if the path is not a directory.
  public static let directory = OpenOptions(rawValue: O_DIRECTORY)
  /// Calls return EAGAIN instead of blocking.
  public static let nonBlocking = OpenOptions(rawValue: O_NONBLOCK)
}

extension FileDescriptor {
  /// Opens a file. `open(2)`
  ///
  /// - Parameter mode: the permissions of a file that is created, less the umask.
  public static func open(
    _ path: String, _ options: OpenOptions, mode: mode_t = 0o600
  ) throws(SystemError) -> FileDescriptor {
    FileDescriptor(owning: try pathCall("open", path) { Kernel.open($0, flags: options.rawValue, mode) })
  }

  /// Reads at an offset without moving the file position. Fewer bytes than requested mean the end of the file.
  /// `pread(2)`
  public borrowing func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(SystemError) -> Int {
    let number = rawValue
    var done = 0
    while done < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
      let count = try systemCall("pread", on: number) { Kernel.read($0, rest, at: offset + Int64(done)) }
      if count == 0 { break }
      done += count
    }
    return done
  }

  /// Writes all bytes at an offset without moving the file position. `pwrite(2)`
  public borrowing func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) {
    let number = rawValue
    var done = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
      done += try systemCall("pwrite", on: number) { Kernel.write($0, rest, at: offset + Int64(done)) }
    }
  }

  /// Writes all bytes. If the descriptor is non-blocking, it waits until the descriptor is writable.
  ///
  /// - Throws: EPIPE if the reader has closed its end. Bytes written before an error stay written.
  public borrowing func writeAll(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    var rest = bytes
    while !rest.isEmpty {
      switch try write(rest) {
      case .bytes(let count): rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      case .wouldBlock: try waitUntilWritable()
      case .peerClosed: throw SystemError(call: "write", subject: subject, code: EPIPE)
      }
    }
  }

  /// Writes all bytes of an array; see ``writeAll(_:)-(UnsafeRawBufferPointer)``.
  public borrowing func writeAll(_ bytes: [UInt8]) throws(SystemError) {
    // `withUnsafeBytes` does not rethrow a typed error, so the closure returns the error as a value.
    let failure: SystemError? = bytes.withUnsafeBytes { buffer in
      do throws(SystemError) { try writeAll(buffer) } catch { return error }
      return nil
    }
    if let failure { throw failure }
  }

  /// Reads from the current position to the end. Throws EFBIG for more than `limit` bytes.
  public borrowing func readAll(limit: Int = 16 << 20) throws(SystemError) -> [UInt8] {
    let number = rawValue
    var bytes: [UInt8] = []
    while true {
      // The buffer is not filled with zeros: without optimization, filling takes longer than reading.
      let (count, code) = withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 16) { room in
        let count = uninterrupted { Kernel.read(number, room) }
        let code = errno
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: room[..<max(count, 0)]))
        return (count, code)
      }
      if count == 0 { return bytes }
      if count == -1 { throw SystemError(call: "read", subject: subject, code: code) }
      if bytes.count > limit { throw SystemError(call: "read", subject: subject, code: EFBIG) }
    }
  }

  /// Waits until the data and the metadata of the file are on disk. `fsync(2)`
  ///
  /// After an error it is unknown which data is on disk, and a second call may wrongly succeed.
  public borrowing func sync() throws(SystemError) {
    try systemCall("fsync", on: rawValue) { Kernel.sync($0) }
  }

  /// Sets the size. The file is cut off, or extended with zeros. `ftruncate(2)`
  public borrowing func truncate(to size: Int64) throws(SystemError) {
    try systemCall("ftruncate", on: rawValue) { Kernel.truncate($0, to: size) }
  }

  /// The size of the file in bytes. `fstat(2)`
  public borrowing func size() throws(SystemError) -> Int64 { try metadata().size }
  private borrowing func waitUntilWritable() throws(SystemError) { try Self.waitUntilWritable(rawValue) }

  /// Waits until the descriptor with this number is writable. `poll(2)`
  static func waitUntilWritable(_ number: CInt) throws(SystemError) {
    var item = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
    try systemCall("poll", on: number) { _ in Glibc.poll(&item, 1, -1) }
  }
}
