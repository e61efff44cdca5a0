// Owned descriptors: closing, reading, writing, and the meaning of the results. Invariant: real descriptors;
// a close is checked at the other end, not by numbers.
import Glibc
import Posix
import PosixFixture
import Testing

@Suite struct FileDescriptorTests {
  @Test("a descriptor closes when its value ends, and the peer reads the end")
  func closesAtTheEnd() throws {
    let pair = SocketPair()
    #expect(try readOnce(pair.near) == .wouldBlock)
    pair.closeFar()
    #expect(try eventually { try readOnce(pair.near) == .endOfFile })
  }

  @Test("a number that was given away is not closed")
  func take() throws {
    let pair = SocketPair()
    let number = try pair.far.duplicate().take()
    pair.closeFar()
    #expect(try readOnce(pair.near) == .wouldBlock)
    try FileDescriptor(owning: number).close()
    #expect(try eventually { try readOnce(pair.near) == .endOfFile })
  }

  @Test("closing a descriptor that was closed elsewhere is a broken invariant")
  func doubleClose() async {
    await #expect(processExitsWith: .failure) {
      // A number so high that no other thread gets it in between.
      let descriptor = try FileDescriptor.open("/dev/null", .readOnly).duplicate(atLeast: 200)
      Glibc.close(descriptor.rawValue)
      try descriptor.close()
    }
  }

  @Test("bytes pass through a socket, and a full one reports that it would block")
  func socketBytes() throws {
    let pair = SocketPair()
    #expect(try pair.far.write(Array("hello".utf8)) == .bytes(5))
    #expect(try readText(pair.near) == "hello")
    let chunk = [UInt8](repeating: 7, count: 1 << 16)
    var result = try pair.far.write(chunk)
    while case .bytes = result { result = try pair.far.write(chunk) }
    #expect(result == .wouldBlock)
  }

  @Test("writing to a closed peer is a result and never a signal")
  func peerGone() throws {
    let pair = SocketPair()
    pair.closeFar()
    #expect(try eventually { try [1].withUnsafeBytes { try pair.near.send($0) } == .peerClosed })
  }

  @Test("a peer that ends after unread data is read as its data and then the end")
  func reset() throws {
    let pair = SocketPair()
    try pair.near.writeAll([1, 2, 3])
    try pair.far.writeAll(Array("last words".utf8))
    pair.closeFar()
    #expect(try readText(pair.near) == "last words")
    #expect(try eventually { try readOnce(pair.near) == .endOfFile })
    #expect(try readOnce(pair.near) == .endOfFile)
  }

  @Test("a file is written and read at offsets, cut, synced and measured")
  func files() throws {
    let directory = try TemporaryDirectory()
    let file = try FileDescriptor.open(directory.file("data"), [.readWrite, .create, .exclusive])
    try file.writeAll(Array("0123456789".utf8))
    try Array("AB".utf8).withUnsafeBytes { try file.write($0, at: 4) }
    try file.sync()
    #expect(try file.size() == 10)
    #expect(try contents(of: directory.file("data")) == "0123AB6789")
    try file.truncate(to: 5)
    var buffer = [UInt8](repeating: 0, count: 8)
    let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0, at: 3) }
    #expect(buffer[..<count] == Array("3A".utf8)[...])
    #expect(try FileMetadata.inspect(directory.file("data"))?.mode == 0o600)
  }

  @Test("reading all of a file stops at the limit with EFBIG")
  func limit() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("large")
    try FileDescriptor.open(path, [.writeOnly, .create]).writeAll([UInt8](repeating: 65, count: 9000))
    #expect(try FileDescriptor.open(path, .readOnly).readAll(limit: 9000).count == 9000)
    let error = #expect(throws: SystemError.self) {
      _ = try FileDescriptor.open(path, .readOnly).readAll(limit: 8999)
    }
    #expect(error?.code == EFBIG)
  }

  @Test("a missing file is an error that names the call, the path and the reason")
  func notThere() {
    let error = #expect(throws: SystemError.self) { _ = try FileDescriptor.open("/nowhere/x", .readOnly) }
    #expect(error?.description == "open(\"/nowhere/x\"): No such file or directory (ENOENT)")
  }

  @Test("a path with a zero byte is refused instead of being cut short")
  func zeroByte() {
    let error = #expect(throws: SystemError.self) { _ = try FileDescriptor.open("/dev/null\0x", .readOnly) }
    #expect(error?.code == EINVAL)
  }

  @Test("an error about a descriptor or with control characters in a path stays one readable line")
  func errorTexts() {
    #expect(
      SystemError(call: "read", subject: "descriptor 7", code: EIO).description
        == "read(descriptor 7): Input/output error (EIO)")
    #expect(
      SystemError(call: "open", subject: "/a\nb", code: EACCES).description
        == "open(\"/a\\nb\"): Permission denied (EACCES)")
    #expect(SystemError(call: "open", subject: "", code: 9999).symbol == "errno 9999")
  }

  @Test("a write that waits for its reader survives signals and loses nothing")
  func interruptedWrite() throws {
    let pipe = try DescriptorPair.pipe()
    let directory = try TemporaryDirectory()
    let copy = directory.file("copy")
    let reader = try ChildProcess.spawn(
      executable: "/bin/cat", arguments: ["/proc/self/fd/3"], environment: [:],
      channel: pipe.first, standardOutput: .append(path: copy))
    // The reader is stopped until signals have arrived, and the bytes are more than a pipe holds: so they
    // find the writer in write(2).
    reader.kill(SIGSTOP)
    let pid = reader.pid
    let interruption = try Interruption { kill(pid, SIGCONT) }
    let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try pipe.second.writeAll(bytes)
    interruption.stop()
    try pipe.second.close()
    #expect(reader.wait().isSuccess)
    #expect(try FileDescriptor.open(copy, .readOnly).readAll() == bytes)
  }
}
