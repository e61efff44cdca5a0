// The note of the windows that a coordinator leaves for its successor.
import BankModel
import Glibc
import Posix
import Testing

@testable import Coordinator

@Suite struct WindowsMarkerFileTests {
  @Test("a stored note is read, and a later note replaces it")
  func roundTrip() throws {
    let path = "/tmp/bank-windows-\(getpid())-\(RandomSeed.fromSystem())"
    defer { unlink(path) }
    #expect(WindowsMarkerFile.read(from: path) == nil)
    WindowsMarkerFile.write([.deposit: 2, .loan: 1], at: path)
    let thumbs = try #require(ServiceName("thumbs-2"))
    WindowsMarkerFile.write([.deposit: 5, thumbs: 4, .juice: 2], at: path)
    #expect(WindowsMarkerFile.read(from: path) == [.deposit: 5, .loan: 0, .juice: 2, thumbs: 4])
    #expect(try FileMetadata.inspect(path)?.mode == 0o600)
    #expect(try FileMetadata.inspect(path + ".new") == nil)
  }

  @Test("a note that cannot be stored removes the old one")
  func cannotBeKept() throws {
    let path = "/tmp/bank-windows-\(getpid())-\(RandomSeed.fromSystem())"
    defer { unlink(path) }
    WindowsMarkerFile.write([.deposit: 2, .loan: 1], at: path)
    try Directory.create(path: path + ".new")
    defer { rmdir(path + ".new") }
    WindowsMarkerFile.write([.deposit: 3, .loan: 1], at: path)
    #expect(WindowsMarkerFile.read(from: path) == nil)
  }

  @Test("every prefix of a note, and every damage to it, is refused")
  func damage() {
    let text = WindowsMarkerFile.text([.deposit: 12, .loan: 1, .juice: 3])
    #expect(WindowsMarkerFile.parse(text) == [.deposit: 12, .loan: 1, .juice: 3])
    for length in 0..<text.count { #expect(WindowsMarkerFile.parse(String(text.prefix(length))) == nil) }
    for damaged in [
      "deposit 1\nloan 257\njuice 1\nend\n", "deposit -1\nloan 1\njuice 1\nend\n",
      "deposit 1\ndeposit 1\njuice 1\nend\n",
      "deposit 1\nloan x\njuice 1\nend\n", "deposit 1\nloan 1\nFruit 2\njuice 1\nend\n",
      "deposit  1\nloan 1\njuice 1\nend\n",
      "deposit 99999999999999999999\nloan 1\njuice 1\nend\n", "end\n", "\u{0}\n",
      "deposit 1\nloan 1\nend\n",
    ] {
      #expect(WindowsMarkerFile.parse(damaged) == nil, "\(damaged.debugDescription)")
    }
  }

  @Test("a link in the note's place is not followed")
  func link() {
    let path = "/tmp/bank-windows-\(getpid())-\(RandomSeed.fromSystem())"
    let target = path + "-target"
    defer {
      unlink(path)
      unlink(target)
    }
    WindowsMarkerFile.write([.deposit: 2, .loan: 1], at: target)
    #expect(symlink(target, path) == 0)
    #expect(WindowsMarkerFile.read(from: path) == nil)
  }
}
