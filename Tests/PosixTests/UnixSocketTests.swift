// Unix sockets: how they are created, connected, found stale, and the identity of the peer. Invariant: real
// sockets in a directory of the test's own.
import Glibc
import Posix
import PosixFixture
import Testing

@Suite struct UnixSocketTests {
  @Test("a client connects, is accepted, and each receives from the other")
  func connects() throws {
    let directory = try TemporaryDirectory()
    try converse(at: directory.file("bank.sock"))
  }

  @Test("a socket whose path is longer than an address allows works the same")
  func longPath() throws {
    let directory = try TemporaryDirectory()
    let path = Paths.join(try directory.longDirectory(), "bank.sock")
    #expect(path.utf8.count > 108)
    try converse(at: path)
    #expect(try eventually { name(try UnixSocket.connect(path: path, nonBlocking: true)) == "refused" })
    #expect(try UnixSocket.removeStaleSocket(path: path) == .removed)
    #expect(name(try UnixSocket.connect(path: path)) == "not there")
    #expect(name(try UnixSocket.connect(path: Paths.join(path, "deeper", "x"))) == "not there")
  }

  @Test("paths of 107 and of 108 bytes both work")
  func boundary() throws {
    for length in [107, 108] {
      let directory = try TemporaryDirectory()
      let fill = length - directory.path.utf8.count - 1
      let path = directory.file(String(repeating: "s", count: fill))
      #expect(path.utf8.count == length)
      try converse(at: path)
    }
  }

  private func converse(at path: String) throws {
    let listener = try UnixSocket.listen(path: path)
    let facts = try #require(try FileMetadata.inspect(path))
    #expect(facts.isSocket)
    #expect(facts.mode == 0o600)
    #expect(name(try UnixSocket.connect(path: path)) == "connected")
    let client = try connected(to: path)
    // The one that only looked has left; it is still accepted, and is at its end.
    let passerBy = try #require(try accept(listener))
    #expect(try eventually { try readOnce(passerBy.descriptor) == .endOfFile })
    let server = try #require(try accept(listener))
    #expect(try accept(listener) == nil)
    #expect(try readOnce(server.descriptor) == .wouldBlock)
    try client.writeAll(Array("ticket, please".utf8))
    #expect(try readText(server.descriptor) == "ticket, please")
    try server.descriptor.writeAll(Array("1".utf8))
    #expect(try readText(client) == "1")
    try UnixSocket.shutdownWriting(client)
    #expect(try readOnce(server.descriptor) == .endOfFile)
  }

  private func accept(_ listener: borrowing FileDescriptor) throws -> AcceptedSocket? {
    guard let descriptor = try UnixSocket.accept(listener) else { return nil }
    return AcceptedSocket(descriptor)
  }

  @Test("the peer's user, group and process come from the kernel")
  func peer() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("bank.sock")
    let listener = try UnixSocket.listen(path: path)
    let client = try connected(to: path)
    let server = try #require(try accept(listener))
    let seen = try UnixSocket.peer(of: server.descriptor)
    #expect(seen.uid == geteuid())
    #expect(seen.gid == getegid())
    #expect(seen.pid == getpid())
    #expect(try UnixSocket.peer(of: client) == seen)
  }

  @Test("a second listener on the same path is refused, and takes nothing away from the first")
  func inUse() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("bank.sock")
    let listener = try UnixSocket.listen(path: path)
    let error = #expect(throws: SystemError.self) { _ = try UnixSocket.listen(path: path) }
    #expect(error == SystemError(call: "bind", subject: path, code: EADDRINUSE))
    #expect(try UnixSocket.removeStaleSocket(path: path) == .inUse)
    #expect(name(try UnixSocket.connect(path: path)) == "connected")
    _ = try accept(listener)
  }

  @Test("the file of a dead server refuses connections, is removed once, and can be bound again")
  func stale() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("bank.sock")
    #expect(try UnixSocket.removeStaleSocket(path: path) == .noSuchFile)
    try UnixSocket.listen(path: path).close()
    #expect(try eventually { name(try UnixSocket.connect(path: path, nonBlocking: true)) == "refused" })
    #expect(try UnixSocket.removeStaleSocket(path: path) == .removed)
    #expect(try UnixSocket.removeStaleSocket(path: path) == .noSuchFile)
    try UnixSocket.listen(path: path).close()
  }

  @Test("a file that is not a socket is never removed, not even through a link")
  func notASocket() throws {
    let directory = try TemporaryDirectory()
    let file = directory.file("precious")
    try FileDescriptor.open(file, [.writeOnly, .create]).writeAll([1])
    #expect(try UnixSocket.removeStaleSocket(path: file) == .notASocket)
    let socket = directory.file("bank.sock")
    try UnixSocket.listen(path: socket).close()
    let link = directory.file("link")
    #expect(symlink(socket, link) == 0)
    #expect(try UnixSocket.removeStaleSocket(path: link) == .notASocket)
    #expect(try FileMetadata.inspect(file) != nil)
    #expect(try FileMetadata.inspect(socket) != nil)
  }

  @Test("a listener that does not accept makes a non-blocking client busy, and is not stale")
  func busy() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("bank.sock")
    let listener = try UnixSocket.listen(path: path, backlog: 1)
    var waiting: [AcceptedSocket] = []
    var outcome = "connected"
    while outcome == "connected" && waiting.count < 100 {
      switch try UnixSocket.connect(path: path, nonBlocking: true) {
      case .connected(let socket): waiting.append(AcceptedSocket(socket))
      case let other: outcome = name(other)
      }
    }
    #expect(outcome == "busy")
    #expect(try UnixSocket.removeStaleSocket(path: path) == .inUse)
    #expect(try accept(listener) != nil)
  }

  @Test("a listener can be opened to a group")
  func mode() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("customers.sock")
    let listener = try UnixSocket.listen(path: path, mode: 0o660)
    #expect(try FileMetadata.inspect(path)?.mode == 0o660)
    try listener.close()
  }
}

private final class AcceptedSocket: Equatable {
  let descriptor: FileDescriptor
  init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
  static func == (left: AcceptedSocket, right: AcceptedSocket) -> Bool { left === right }
}
