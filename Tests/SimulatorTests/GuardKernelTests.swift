// The same requests about locks and datagrams to Linux and to the simulated kernel, through the same code.

import BankModel
import Glibc
import Posix
import Testing
import Time

@testable import Simulator

@Suite("Locks and datagrams of the simulated kernel are those of Linux")
struct GuardKernelTests {
  /// Runs a closure in a directory of its own.
  private func onBothKernels(_ body: (_ directory: String) throws -> Void) throws {
    var template = Array("/tmp/guard-XXXXXX".utf8CString)
    let made = template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!) }
    let directory = String(cString: try #require(made))
    defer {
      for name in ["lock", "a", "b"] { unlink("\(directory)/\(name)") }
      rmdir(directory)
    }
    try body(directory)
    let host = SimulatedHost(seed: 1)
    host.files.makeDirectories("/names")
    let outcome = host.start { _ in nil }.call { Result { try body("/names") } }
    host.shutDown()
    try outcome.get()
  }

  private func acquires(_ path: String) throws -> Bool {
    switch try LockFile.acquire(path: path) {
    case .acquired(let lock):
      lock.release()
      return true
    default: return false
    }
  }

  @Test("a lock keeps others off until its last holder has gone, and visitors share it")
  func locks() throws {
    try onBothKernels { directory in
      let path = "\(directory)/lock"
      guard case .acquired(let lock) = try LockFile.acquire(path: path) else {
        Issue.record("it was free")
        return
      }
      #expect(try !acquires(path))
      let share = try lock.share()
      lock.release()
      #expect(try !acquires(path), "it is shared")
      guard case .acquired(let joined) = try LockFile.join(share, path: path) else {
        Issue.record("it is the same open file")
        return
      }
      let isThere = joined.isAt(path: path)
      #expect(isThere)
      joined.unlock()
      #expect(try acquires(path), "it was given up for all who share it")
    }
  }

  @Test("datagrams arrive whole and in order at a receiver, and nowhere else")
  func datagrams() throws {
    try onBothKernels { directory in
      let path = "\(directory)/a"
      #expect(try Datagrams.send([1], to: path) == .noReceiver)
      #expect(Datagrams.hasReceiver(at: path) == false)
      let socket = try Datagrams.bind(path: path)
      #expect(Datagrams.hasReceiver(at: path) == true)
      #expect(try Datagrams.receive(from: socket) == nil)
      #expect(try Datagrams.send([1, 2], to: path) == .sent)
      #expect(try Datagrams.send([3, 4, 5], to: path) == .sent)
      #expect(try Datagrams.receive(from: socket, limit: 1) == [1], "a longer one is cut")
      #expect(try Datagrams.receive(from: socket) == [3, 4, 5])
      try socket.close()
      #expect(try Datagrams.send([6], to: path) == .noReceiver)
      #expect(Datagrams.hasReceiver(at: path) == false)
      let again = try Datagrams.bind(path: path)
      #expect(try Datagrams.send([7], to: path) == .sent)
      #expect(try Datagrams.receive(from: again) == [7])
    }
  }
}
