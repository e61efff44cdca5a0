// System calls for files and their names.
// Invariant: results are modelled on those of Linux; what is not simulated fails with ENOSYS. Calls of a killed process
// have no effect.
import BankModel
import Glibc
import Posix
import Time

extension SimulatedProcess {
  /// Opens or creates a file. `open(2)`
  func open(_ path: String, flags: CInt, mode: mode_t) -> CInt {
    guard survives() else { return fail(EMFILE) }
    if path == "/dev/null" { return give(.nothing) }
    guard !isSocket(path) else { return fail(ENXIO) }
    // As on Linux, which allocates the descriptor before it looks up the path.
    guard descriptors.count < openFiles else { return fail(EMFILE) }
    if let file = environ(path) { return give(.file(file)) }
    switch host.files.open(path, flags: flags, mode: mode) {
    case .success(let file): return give(.file(file))
    case .failure(let error): return fail(error.code)
    }
  }

  /// Reads at an offset, and leaves the position of the file as it is. `pread(2)`
  func read(_ descriptor: CInt, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
    guard survives() else { return fail(EIO) }
    guard case .file(let file)? = descriptors[descriptor] else { return misuse(descriptor) }
    guard offset >= 0 else { return fail(EINVAL) }
    return read(file, buffer, at: offset)
  }

  /// Reads from an open file, unless it is a directory or was opened for writing only.
  func read(_ file: OpenedFile, _ buffer: UnsafeMutableRawBufferPointer, at offset: Int64? = nil) -> Int {
    if file.file.isDirectory { return fail(EISDIR) }
    return file.isReadable ? file.read(into: buffer, at: offset) : fail(EBADF)
  }

  /// Writes at an offset, and leaves the position of the file as it is. `pwrite(2)`
  func write(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int {
    guard survives() else { return bytes.count }
    guard case .file(let file)? = descriptors[descriptor] else { return misuse(descriptor) }
    guard offset >= 0 else { return fail(EINVAL) }
    return write(file, bytes, at: offset)
  }

  /// Writes to an open file, unless the disk is full or it was opened for reading only.
  func write(_ file: OpenedFile, _ bytes: UnsafeRawBufferPointer, at offset: Int64? = nil) -> Int {
    guard file.isWritable else { return fail(EBADF) }
    guard host.diskFullUntil <= clock else { return fail(ENOSPC) }
    file.write(bytes, at: offset)
    return bytes.count
  }

  /// Error of a positioned call: EBADF if the descriptor is not open, and ESPIPE if it is not a file.
  private func misuse(_ descriptor: CInt) -> Int { fail(descriptors[descriptor] == nil ? EBADF : ESPIPE) }

  /// Spends the time of a sync. `fsync(2)`
  func sync(_ descriptor: CInt) -> CInt {
    guard survives() else { return 0 }
    switch descriptors[descriptor] {
    case .file?:
      spend(TimeSpan(nanoseconds: host.chance.draw(50_000...400_000)))
      return 0
    case nil: return fail(EBADF)
    default: return fail(EINVAL)
    }
  }

  func truncate(_ descriptor: CInt, to size: Int64) -> CInt {
    guard survives() else { return 0 }
    guard case .file(let file)? = descriptors[descriptor] else {
      return fail(descriptors[descriptor] == nil ? EBADF : EINVAL)
    }
    guard file.isWritable, size >= 0 else { return fail(EINVAL) }
    file.truncate(to: Int(size))
    return 0
  }

  /// True if a socket has this name.
  private func isSocket(_ path: String) -> Bool { host.names[path] != nil || host.receivers[path] != nil }

  /// Returns size, owner and kind of what has this name. `stat(2)`
  func metadata(of path: String) -> FileMetadata? {
    if let file = host.files[path] { return metadata(of: file) }
    if isSocket(path) { return metadata(isSocket: true) }
    if path == "/dev/null" || isProcess(path) { return metadata(isSocket: false) }
    return none(host.files.objection(to: path) ?? ENOENT)
  }

  /// Returns size, owner and kind of an open file. `fstat(2)`
  func metadata(of descriptor: CInt) -> FileMetadata? {
    switch descriptors[descriptor] {
    case nil: return none(EBADF)
    case .file(let file)?: return metadata(of: file.file)
    case .nothing?: return metadata(isSocket: false)
    default: return metadata(isSocket: true)
    }
  }

  /// Returns size, owner and kind of a file or directory.
  private func metadata(of file: SimulatedFile) -> FileMetadata {
    FileMetadata(
      owner: effectiveUser, group: 0, mode: file.mode, size: Int64(file.bytes.count), device: 2,
      inode: file.inode, isDirectory: file.isDirectory, isFile: !file.isDirectory, isSocket: false)
  }

  /// Returns owner and kind of something that is not a file.
  private func metadata(isSocket: Bool) -> FileMetadata {
    FileMetadata(
      owner: effectiveUser, group: 0, mode: 0o600, size: 0, device: 1, inode: isSocket ? 2 : 1,
      isDirectory: false, isFile: false, isSocket: isSocket)
  }

  func unlink(_ path: String) -> CInt {
    guard survives() else { return 0 }
    if host.names.removeValue(forKey: path) != nil { return 0 }
    if host.receivers.removeValue(forKey: path) != nil { return 0 }
    return host.files.unlink(path).map { fail($0) } ?? 0
  }

  func rename(_ path: String, to other: String) -> CInt {
    guard survives() else { return 0 }
    // Renaming or replacing a socket is not simulated.
    guard !isSocket(path), !isSocket(other) else { return fail(ENOSYS) }
    return host.files.rename(path, to: other).map { fail($0) } ?? 0
  }

  func makeDirectory(_ path: String, mode: mode_t) -> CInt {
    guard survives() else { return 0 }
    guard host.files[path] == nil, !isSocket(path) else { return fail(EEXIST) }
    if let code = host.files.objection(to: path) { return fail(code) }
    _ = host.files.make(path, isDirectory: true, mode: mode)
    return 0
  }

  /// Returns the names in a directory in random order, as `readdir(3)` may.
  func entries(of path: String) -> [String]? {
    guard let file = host.files[path] else { return none(host.files.objection(to: path) ?? ENOENT) }
    guard file.isDirectory else { return none(ENOTDIR) }
    let sockets = ([String](host.names.keys) + host.receivers.keys).filter { Paths.directory(of: $0) == path }
      .map(Paths.lastPart(of:))
    return (host.files.entries(of: path) + sockets.sorted()).shuffled(using: &host.chance)
  }

  /// Returns the target of `/proc/self/exe`; no other symbolic link is simulated. `readlink(2)`
  func target(ofLink path: String) -> String? {
    if path == "/proc/self/exe" { return executable }
    return none(metadata(of: path) == nil ? ENOENT : EINVAL)
  }

  /// Fails with ENOSYS: a watch of files is not simulated.
  func makeWatch() -> CInt { fail(ENOSYS) }
}
