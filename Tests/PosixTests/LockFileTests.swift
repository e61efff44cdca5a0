// The lock: one holder, its pid, and its release however the holder ends. Invariant: contention is by a
// second open file of the same name, as a second process would do it.
import Glibc
import Posix
import PosixFixture
import Testing
import Time

@Suite struct LockFileTests {
  private func holder(of outcome: consuming LockFile.Outcome) -> pid_t? {
    switch outcome {
    case .acquired: nil
    case .heldBy(let pid): pid
    case .underInspection: nil
    }
  }

  @Test("a lock has one holder, whose pid the others get, and is free again afterwards")
  func contention() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("bank.lock")
    switch try LockFile.acquire(path: path) {
    case .heldBy: Issue.record("no other holder")
    case .underInspection: Issue.record("no visitor")
    case .acquired(let lock):
      #expect(holder(of: try LockFile.acquire(path: path)) == getpid())
      #expect(try contents(of: path) == "\(getpid())\n")
      #expect(try FileMetadata.inspect(path)?.mode == 0o600)
      lock.release()
    }
    #expect(try eventually { holder(of: try LockFile.acquire(path: path)) == nil })
    #expect(try FileMetadata.inspect(path) != nil, "the file stays")
  }

  @Test("a lock held by another process is released when that is killed")
  func otherProcess() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("bank.lock")
    let file = try FileDescriptor.open(path, [.readWrite, .create])
    // The child holds the lock through the open file it inherits as descriptor 3.
    #expect(flock(file.rawValue, LOCK_EX | LOCK_NB) == 0)
    try file.writeAll(Array("12345\n".utf8))
    let child = try ChildProcess.spawn(
      executable: "/bin/sleep", arguments: ["600"], environment: [:], channel: try file.duplicate())
    try file.close()
    #expect(holder(of: try LockFile.acquire(path: path)) == 12345)
    child.kill(SIGKILL)
    _ = child.wait()
    #expect(try eventually { holder(of: try LockFile.acquire(path: path)) == nil })
    #expect(try contents(of: path) == "\(getpid())\n")
  }

  @Test(
    "a shared lock is held until its last sharer has ended, or until one of them unlocks it")
  func sharing() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("bank.lock")
    guard case .acquired(let first) = try LockFile.acquire(path: path) else {
      Issue.record("no other holder")
      return
    }
    guard case .acquired(let second) = try LockFile.join(try first.share(), path: path) else {
      Issue.record("it is shared")
      return
    }
    #expect(first.isAt(path: path) && !first.isAt(path: directory.file("another")))
    first.release()
    #expect(holder(of: try LockFile.acquire(path: path)) == getpid())
    guard case .acquired(let third) = try LockFile.join(try second.share(), path: path) else {
      Issue.record("it is shared")
      return
    }
    third.unlock()
    #expect(holder(of: try LockFile.acquire(path: path)) == nil)
    second.release()
  }

  @Test("a lock cannot be joined by a descriptor of another file, or while another process has it")
  func joining() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("bank.lock")
    guard case .acquired(let lock) = try LockFile.acquire(path: path) else {
      Issue.record("no other holder")
      return
    }
    let stranger = try FileDescriptor.open(directory.file("other"), [.readWrite, .create])
    guard case .heldBy = try LockFile.join(stranger, path: path) else {
      Issue.record("it is another file")
      return
    }
    let unshared = try FileDescriptor.open(path, .readWrite)
    guard case .heldBy(let pid) = try LockFile.join(unshared, path: path) else {
      Issue.record("it is another open file")
      return
    }
    #expect(pid == getpid())
    lock.release()
  }

  @Test("a holder that has not written its pid, or wrote nonsense, is reported as unknown")
  func unknownHolder() throws {
    for text in ["", "nonsense\n", String(repeating: "9", count: 500)] {
      let directory = try TemporaryDirectory()
      let path = directory.file("bank.lock")
      let file = try FileDescriptor.open(path, [.readWrite, .create])
      #expect(flock(file.rawValue, LOCK_EX | LOCK_NB) == 0)
      try file.writeAll(Array(text.utf8))
      switch try LockFile.acquire(path: path) {
      case .acquired: Issue.record("the lock is held")
      case .underInspection: Issue.record("it is not visited")
      case .heldBy(let pid): #expect(pid == nil)
      }
      #expect(try contents(of: path) == text, "a loser of the lock writes nothing")
    }
  }

  private enum Kind { case acquired, held, underInspection }

  private func kind(_ outcome: borrowing LockFile.Outcome) -> Kind {
    switch outcome {
    case .acquired: .acquired
    case .heldBy: .held
    case .underInspection: .underInspection
    }
  }

  @Test("a visitor is alone, is distinguished from a holder, and writes nothing")
  func visitors() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("bank.lock")
    var first: LockFile.Outcome? = try LockFile.acquireForInspection(path: path)
    #expect(try contents(of: path).isEmpty)
    #expect(kind(try LockFile.acquireForInspection(path: path)) == .underInspection)
    #expect(kind(try LockFile.acquire(path: path)) == .underInspection)
    #expect(kind(try LockFile.acquire(path: path, patience: .milliseconds(20))) == .underInspection)
    first = nil
    // A child that another test is just spawning has the descriptor until its exec.
    #expect(try eventually { kind(try LockFile.acquireForInspection(path: path)) == .acquired })
    guard case .acquired(let lock) = try LockFile.acquire(path: path, patience: .seconds(10)) else {
      Issue.record("no visitor any more")
      return
    }
    #expect(
      holder(of: try LockFile.acquireForInspection(path: path)) == getpid(), "a holder keeps visitors off")
    lock.release()
    withExtendedLifetime(first) {}
  }

  @Test("a future holder waits for a visitor to end, and not for a holder")
  func patience() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("bank.lock")
    let file = try FileDescriptor.open(path, [.readWrite, .create])
    #expect(flock(file.rawValue, LOCK_SH | LOCK_NB) == 0)
    // The child visits through the open file it inherits as descriptor 3, and ends by itself.
    let child = try ChildProcess.spawn(
      executable: "/bin/sleep", arguments: ["0.2"], environment: [:], channel: try file.duplicate())
    try file.close()
    #expect(kind(try LockFile.acquire(path: path)) == .underInspection)
    guard case .acquired(let lock) = try LockFile.acquire(path: path, patience: .seconds(60)) else {
      Issue.record("the visitor has ended")
      return
    }
    _ = child.wait()
    let start = SystemClock.monotonic()
    #expect(kind(try LockFile.acquire(path: path, patience: .seconds(60))) == .held)
    #expect(SystemClock.monotonic().since(start) < .seconds(30))
    lock.release()
  }

  @Test("a lock is not taken through a symbolic link")
  func link() throws {
    let directory = try TemporaryDirectory()
    let target = directory.file("target")
    try FileDescriptor.open(target, [.writeOnly, .create]).writeAll(Array("keep".utf8))
    #expect(symlink(target, directory.file("bank.lock")) == 0)
    let path = directory.file("bank.lock")
    let error = #expect(throws: SystemError.self) { _ = holder(of: try LockFile.acquire(path: path)) }
    #expect(error?.code == ELOOP)
    #expect(try contents(of: target) == "keep")
  }
}
