// Discovery of a bank by a client, and a coordinator that it has started. The coordinators are shell scripts.
import Glibc
import Posix
import PosixFixture
import Testing
import Time
import Wire

@testable import ControlClient

/// A directory of a test, removed afterwards.
private final class ScratchDirectory {
  let path: String

  init(_ name: String = "") throws {
    path = "/tmp/bank-client-\(CurrentProcess.pid)-\(RandomSeed.fromSystem())" + name
    try Directory.create(path: path)
  }

  func write(_ name: String, _ bytes: [UInt8], mode: mode_t = 0o600) throws -> String {
    let file = Paths.join(path, name)
    let descriptor = try FileDescriptor.open(file, [.writeOnly, .create, .truncate], mode: mode)
    try descriptor.writeAll(bytes)
    try descriptor.close()
    return file
  }

  deinit {
    for name in (try? Directory.entries(of: path)) ?? [] { unlink(Paths.join(path, name)) }
    for name in ["run/bank.sock"] { unlink(Paths.join(path, name)) }
    rmdir(Paths.join(path, "run"))
    rmdir(path)
  }
}

private func frames(_ messages: BankMessage...) throws -> [UInt8] {
  var bytes: [UInt8] = []
  for message in messages { try FrameEncoder().append(message, to: &bytes, limit: FrameLimits.control) }
  return bytes
}

private func launcher(_ script: String, at place: ScratchDirectory) throws -> BankLauncher {
  BankLauncher(program: try place.write("bankd", Array("#!/bin/sh\n\(script)\n".utf8), mode: 0o700))
}

@Test("a home without a socket, or with a stale one, is not open")
func notOpen() throws {
  let place = try ScratchDirectory()
  let home = BankHome(path: place.path)
  #expect(throws: ControlError.notOpen(socket: home.socket, stale: false)) { _ = try home.connect() }
  try Directory.create(path: Paths.join(place.path, "run"))
  do { _ = try UnixSocket.listen(path: home.socket) }
  let isRefused = try eventually {
    do throws(ControlError) { _ = try home.connect() } catch {
      return error == .notOpen(socket: home.socket, stale: true)
    }
    return false
  }
  #expect(isRefused)
}

@Test("a home with a very long path is found")
func longPath() throws {
  let place = try ScratchDirectory("-" + String(repeating: "long", count: 40))
  let home = BankHome(path: place.path)
  try Directory.create(path: Paths.join(place.path, "run"))
  let listener = try UnixSocket.listen(path: home.socket)
  // The connection is not accepted, so the hello is not answered: but it was connected.
  #expect(throws: ControlError.noWelcome) {
    _ = try home.connect(timeouts: .init(hello: .milliseconds(20)))
  }
  withExtendedLifetime(listener.rawValue) {}
}

@Test("a coordinator gets its arguments, and answers on descriptor 3")
func launch() throws {
  let place = try ScratchDirectory()
  let failure = Failure(.alreadyOpen, subject: "42")
  let answer = try place.write(
    "answer",
    try frames(.welcome(Welcome(build: "b")), .reply(ControlReply(number: 1, answer: .failure(failure)))))
  let words = Paths.join(place.path, "words")
  let launched = try launcher(
    "printf '%s\\n' \"$@\" > \(words); cat \(answer) >&3; read line <&3; exit 5", at: place
  ).launch(
    LaunchSettings(
      .open, home: BankHome(path: "/h"), configuration: "/c.json", language: "ko", deposit: 3, loan: 0,
      speed: "10"))
  #expect(try launched.connection.call(.awaitOpen, within: .seconds(10)) == .failure(failure))
  let said = try FileDescriptor.open(words, .readOnly).readAll()
  #expect(
    String(decoding: said, as: UTF8.self).split(separator: "\n") == [
      "--home", "/h", "--config", "/c.json", "--lang", "ko", "--deposit", "3", "--loan", "0", "--speed", "10",
    ])
  launched.process.kill(SIGKILL)
  #expect(launched.awaitExit(until: SystemClock.monotonic() + .seconds(120)) != nil)
}

@Test("a coordinator that ends without an answer is reported by its exit code or its signal")
func endsAtOnce() throws {
  let place = try ScratchDirectory()
  let order = LaunchSettings(.inspect, home: BankHome(path: place.path))
  let ending: (String) throws -> Posix.ExitStatus.Termination? = { script in
    let error = #expect(throws: ControlError.self) { _ = try launcher(script, at: place).launch(order) }
    guard case .coordinatorEnded(let status) = error else { return nil }
    return status.ending
  }
  #expect(try ending("exit 7") == .code(7))
  #expect(try ending("kill -TERM $$") == .signal(SIGTERM, coreDumped: false))
}

@Test("a coordinator that ends after its welcome is reported by its exit code too")
func endsLater() throws {
  let place = try ScratchDirectory()
  let answer = try place.write("answer", try frames(.welcome(Welcome(build: "b"))))
  let launched = try launcher("cat \(answer) >&3; head -c 4 <&3 > /dev/null; exit 9", at: place)
    .launch(LaunchSettings(.inspect, home: BankHome(path: place.path)))
  let error = #expect(throws: ControlError.self) { try launched.connection.call(.audit, within: nil) }
  guard case .coordinatorEnded(let status)? = error.map(launched.explain) else {
    Issue.record("\(String(describing: error)) is not explained")
    return
  }
  #expect(status.ending == .code(9))
}

@Test(
  "a missing program is reported with the searched places, and an existing one is found")
func finding() throws {
  let place = try ScratchDirectory()
  let own = Paths.join(place.path, "bankctl")
  let places = [Paths.join(place.path, "bankd"), "/tmp/libexec/bank/bankd"]
  #expect(throws: ControlError.programMissing(places: places)) {
    _ = try BankLauncher.find(belongingTo: own)
  }
  _ = try place.write("bankd", [])
  #expect(try BankLauncher.find(belongingTo: own).program == places[0])
}

@Test("an option that was not given is left out of the coordinator's arguments")
func sparseWords() {
  #expect(
    LaunchSettings(.open, home: BankHome(path: "/h")).arguments == ["--home", "/h", "--lang", "en"])
  #expect(LaunchSettings(.inspect, home: BankHome(path: "/h")).arguments == ["--inspect", "--home", "/h"])
}
