// A child that was started and cannot be watched, because the kernel has no watch left: its parent ends and
// reaps it, be it a teller, a service or a coordinator. Each case has a process of its own, whose event loop
// is spoiled after it was made.

import BankModel
import Configuration
import Glibc
import Guardian
import Logging
import Posix
import PosixFixture
import Supervision
import Testing
import Wire

@testable import Coordinator

@Suite("A child that cannot be watched")
struct UnwatchedChildTests {
  @Test("no teller is left at a window") func teller() async {
    await #expect(processExitsWith: .success) {
      let place = try UnwatchableFixture()
      let tellerSupervisor = TellerSupervisor(
        home: place.home, loop: place.loop, log: try place.log(), programs: try ProgramPaths(),
        services: ServiceDirectory(), policy: RestartPolicy(), seed: 1)
      let window = Window(service: .deposit, place: 1)
      tellerSupervisor.open(window, at: SystemClock.moment())
      place.expectNoProcessesLeft()
      #expect(
        tellerSupervisor.slots[window]?.isGivenUp == true
          && tellerSupervisor.slots[window]?.lastExitReason?.description.contains("epoll_ctl") == true)
      #expect(tellerSupervisor.isEmpty)
    }
  }

  @Test("no service is left") func service() async {
    await #expect(processExitsWith: .success) {
      let place = try UnwatchableFixture()
      let tellerSupervisor = ServiceSupervisor(
        loop: place.loop, log: try place.log(), policy: RestartPolicy(), seed: 1)
      tellerSupervisor.open(
        SupervisedService.Specification(
          name: "stock", peerRole: .stock, workerRole: .stock, program: "/bin/sleep", arguments: ["1000"]),
        at: SystemClock.moment())
      place.expectNoProcessesLeft()
      #expect(
        tellerSupervisor.slots[0].lastExitReason?.description.contains("epoll_ctl") == true
          && tellerSupervisor.count == 0)
    }
  }

  @Test("no coordinator is left under a guardian") func coordinator() async {
    await #expect(processExitsWith: .success) {
      let place = try UnwatchableFixture { home in
        let guardian = try Guardian(
          Guardian.Order(home: home, program: "/bin/sh", words: ["-c", "exec sleep 1000"]))
        return (guardian.loop, guardian)
      }
      (place.owner as? Guardian)?.begin(channel: nil)
      place.expectNoProcessesLeft()
      let log = try FileDescriptor.open(place.home + "/logs/guardian.log", .readOnly)
      #expect(String(decoding: try log.readAll(), as: UTF8.self).contains("epoll_ctl"))
    }
  }

  @Test(
    "no coordinator is left under a guardian without descriptors for it, whichever one is missing"
  )
  func tooFewDescriptors() async {
    await #expect(processExitsWith: .success) {
      var troubles: [String] = []
      for room in CInt(0)..<16 {
        let place = try UnwatchableFixture(isSpoiled: false) { home in
          let guardian = try Guardian(
            Guardian.Order(home: home, program: "/bin/sh", words: ["-c", "exec sleep 1000"]))
          return (guardian.loop, guardian)
        }
        try UnwatchableFixture.withDescriptors(room) { (place.owner as? Guardian)?.begin(channel: nil) }
        if let child = ProcessTable.children(of: getpid()).first {
          // There were enough: this one is watched.
          kill(child, SIGKILL)
          break
        }
        place.expectNoProcessesLeft()
        let log = try FileDescriptor.open(place.home + "/logs/guardian.log", .readOnly)
        troubles.append(String(decoding: try log.readAll(), as: UTF8.self))
      }
      #expect(troubles.contains { $0.contains("pidfd_open") }, "\(troubles)")
    }
  }
}

/// An event loop that cannot watch any more, and a home for those that need one.
private final class UnwatchableFixture {
  let home: String
  let loop: EventLoop
  let owner: AnyObject?

  /// - Parameters:
  ///   - isSpoiled: false if the loop stays as it is.
  ///   - make: makes the loop, and its owner.
  init(
    isSpoiled: Bool = true,
    _ make: (_ home: String) throws -> (EventLoop, AnyObject?) = { _ in (try EventLoop(), nil) }
  ) throws {
    home = "/tmp/bank-spoiled-\(CurrentProcess.pid)-\(RandomSeed.fromSystem())"
    try Directory.create(path: home)
    let (made, loops) = try BrokenEventLoops.find { [home] in try make(home) }
    (loop, owner) = made
    if isSpoiled { loops.breakLoops() }
  }

  deinit { Self.remove(home) }

  func log() throws -> LogFile {
    try LogFile(
      path: home + "/coordinator.log", worker: "coordinator", generation: 1, limit: 1 << 20, keep: 1)
  }

  /// There is no child: neither a running one nor one to be reaped.
  func expectNoProcessesLeft() {
    #expect(waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD)
  }

  /// Runs an action while this process may open only this many descriptors.
  static func withDescriptors(_ room: CInt, _ action: () -> Void) throws {
    let used = Set(try Directory.entries(of: "/proc/self/fd").compactMap { CInt($0) })
    var (limit, free): (CInt, CInt) = (0, 0)
    while free < room || used.contains(limit) {
      if !used.contains(limit) { free += 1 }
      limit += 1
    }
    var before = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &before)
    var narrow = before
    narrow.rlim_cur = rlim_t(limit)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &narrow)
    defer { setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &before) }
    action()
  }

  private static func remove(_ path: String) {
    for name in (try? Directory.entries(of: path)) ?? [] {
      let inner = "\(path)/\(name)"
      if (try? FileMetadata.inspect(inner, followLinks: false))?.isDirectory == true {
        remove(inner)
      } else {
        unlink(inner)
      }
    }
    rmdir(path)
  }
}
