// Owns looking at the file behind an open descriptor, whatever its name is by now.
// It must not know why somebody wants to tell one file from another.
// Invariant: the facts are of the open file and not of a path, so no rename can come between.
// Failure: SystemError.
import CLinux
import Glibc

extension FileDescriptor {
  /// What the kernel says about the open file. `fstat(2)`
  public borrowing func facts() throws(SystemError) -> FileFacts {
    let number = rawValue
    if let kernel = Kernel.simulated { return try Kernel.found(kernel.facts(of: number), number) }
    var facts = linux_file_facts()
    try systemCall("fstat", on: "descriptor \(number)") { linux_descriptor_facts(number, &facts) }
    return FileFacts(facts)
  }

  /// When the file was last written to, in nanoseconds since 1970 UTC, by the grain of the file system's
  /// clock. `fstat(2)`
  public borrowing func lastWritten() throws(SystemError) -> Int64 {
    let number = rawValue
    var status = stat()
    try systemCall("fstat", on: "descriptor \(number)") { fstat(number, &status) }
    let (seconds, overflow) = Int64(status.st_mtim.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .max : seconds &+ Int64(status.st_mtim.tv_nsec)
  }
}

extension FileFacts {
  /// What the shim has found out, in Swift's words.
  init(_ facts: linux_file_facts) {
    self.init(
      owner: facts.owner, group: facts.group, mode: facts.mode & 0o7777, size: facts.size,
      device: facts.device, inode: facts.inode, isDirectory: linux_is_directory(facts.mode),
      isFile: linux_is_regular(facts.mode), isSocket: linux_is_socket(facts.mode))
  }
}
