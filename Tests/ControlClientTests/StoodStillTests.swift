// A machine that was suspended, as a virtual one may be: neither the waiting client nor the other side has
// run in that time.
import Dispatch
import Glibc
import Posix
import Testing
import Time
import Wire

@testable import ControlClient

/// The handler of the signal reports here that it has ended.
nonisolated(unsafe) private var ended: CInt = -1

@Suite("A suspended machine", .serialized)
struct StoodStillTests {
  @Test("for longer than a welcome may take: it comes all the same")
  func welcome() throws {
    let pipe = try UnixSocket.pair()
    ended = pipe.second.rawValue
    // While the handler runs the waiting thread does not.
    signal(SIGUSR2) { _ in
      _ = poll(nil, 0, 400)
      var byte: UInt8 = 1
      _ = write(ended, &byte, 1)
    }
    // The threads on which tests run block signals.
    var (mask, before) = (sigset_t(), sigset_t())
    sigemptyset(&mask)
    sigaddset(&mask, SIGUSR2)
    pthread_sigmask(SIG_UNBLOCK, &mask, &before)
    defer {
      pthread_sigmask(SIG_SETMASK, &before, nil)
      signal(SIGUSR2, SIG_DFL)
    }
    let pair = try UnixSocket.pair()
    let (far, note, waiter) = (pair.second.rawValue, pipe.first.rawValue, pthread_self())
    var welcome: [UInt8] = []
    try FrameEncoder().append(
      BankMessage.welcome(Welcome(build: "another")), to: &welcome, limit: FrameLimits.control)
    let done = DispatchSemaphore(value: 0)
    DispatchQueue(label: "coordinator").async { [welcome] in
      var item = pollfd(fd: far, events: Int16(POLLIN), revents: 0)
      _ = poll(&item, 1, 60_000)
      pthread_kill(waiter, SIGUSR2)
      item.fd = note
      _ = poll(&item, 1, 60_000)
      // The coordinator has not run either, and needs a moment.
      _ = poll(nil, 0, 30)
      _ = write(far, welcome, welcome.count)
      done.signal()
    }
    let connection = try ControlConnection.greet(
      pair.first, timeouts: ControlConnection.Timeouts(hello: .milliseconds(300)))
    #expect(connection.coordinator.build == "another")
    done.wait()
    try pair.second.close()
    try pipe.first.close()
    try pipe.second.close()
  }
}
