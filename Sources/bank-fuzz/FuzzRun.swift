// The run: attacks, a normal client in between, and the verdict.
// Invariant: the attacks depend on the seed; only their number depends on the machine.
// Errors: FuzzFailure, or the error of the system or the client library. The latest attacks before the error can be
// saved.
import BankModel
import ControlClient
import Glibc
import Posix
import Time
import Wire

/// Attacks a coordinator for the requested time.
final class FuzzRun {
  private let options: FuzzOptions
  /// The latest attacks, with their numbers.
  private var last: [(number: UInt64, attack: Attack)] = []
  private var connections: UInt64 = 0
  private var messages = 0
  /// Number of attacks that are kept as evidence: the coordinator's exit may be noticed later.
  private static let keptAttacks = 64
  /// Number of attacks between two requests of the normal client.
  private static let attacksPerRequest: UInt64 = 8

  init(_ options: FuzzOptions) { self.options = options }

  /// Opens a bank, attacks it, checks it, and returns the report.
  func run() throws -> String {
    let bank = try FuzzBank(in: options.scratch)
    do { return try attack(bank) } catch {
      // An exit of the coordinator explains most other errors, and takes a while on a busy machine.
      let deadline = SystemClock.monotonic() + .seconds(5)
      repeat {
        do throws(FuzzFailure) { try bank.requireAlive() } catch let end { throw end.after(error) }
        _ = poll(nil, 0, 50)
      } while SystemClock.monotonic() < deadline
      throw error
    }
  }

  /// Attacks an open bank for the requested time, and closes it after the checks.
  private func attack(_ bank: FuzzBank) throws -> String {
    let client = try NormalClient(bank, seed: options.seed)
    bank.recordBaseline()
    let attackers = Attackers(path: bank.home.socket)
    let hello = try Self.hello()
    var chance = SeededGenerator(seed: options.seed)
    let start = SystemClock.monotonic()
    let end = start + options.span
    var resumeAt = start
    while SystemClock.monotonic() < end {
      connections += 1
      let attack = Attack(seed: options.seed, number: connections, hello: hello)
      if last.count == Self.keptAttacks { last.removeFirst() }
      last.append((connections, attack))
      try attackers.run(attack, &chance)
      messages += attack.messages
      guard connections % Self.attacksPerRequest == 0 else { continue }
      try client.enqueue()
      if resumeAt <= SystemClock.monotonic() {
        try client.resume()
        try bank.requireAlive()
        resumeAt = SystemClock.monotonic() + .milliseconds(500)
      }
    }
    let seconds = SystemClock.monotonic().since(start).inSeconds
    attackers.disconnect()
    let audit = try bank.checkAudit(acknowledged: client.customers)
    try bank.close()
    return """
      \(Self.rounded(seconds)) s with seed \(options.seed): \(messages) messages on \(connections) connections, \
      \(Int(Double(messages) / seconds)) messages a second.
      A normal client added \(client.customers) customers with \(client.commands) commands; the queue was full \
      \(client.refusals) times.
      The coordinator was process \(bank.pid) throughout and closed cleanly. The audit of \
      \(audit.issued) tickets is clean.
      """
  }

  /// Writes the latest attacks to the file `found`, and returns a line that names it; empty if that is impossible.
  func saveEvidence() -> String {
    guard !last.isEmpty else { return "" }
    let path = Paths.join(options.scratch, "found")
    let lines = last.map { number, attack in
      let portions = attack.portions.map { $0.map(Self.hexadecimal).joined() }
      return "\(number) \(attack.attackKind) \(portions.joined(separator: " "))\n"
    }
    guard let file = try? FileDescriptor.open(path, [.writeOnly, .create, .truncate]),
      (try? file.writeAll(Array(lines.joined().utf8))) != nil
    else { return "" }
    return "\nbank-fuzz: the last \(last.count) attacks, the newest at the end, are in \(path)"
  }

  /// The frame with which a client starts its connection.
  private static func hello() throws -> [UInt8] {
    var frame: [UInt8] = []
    let message = ClientMessage.hello(Hello(build: ControlConnection.build, role: .client))
    guard (try? FrameEncoder().append(message, to: &frame, limit: FrameLimits.control)) != nil else {
      throw FuzzFailure.requestNotServed("a hello cannot be written")
    }
    return frame
  }

  /// A number of seconds with one decimal.
  private static func rounded(_ seconds: Double) -> String { "\((seconds * 10).rounded() / 10)" }

  /// The two hexadecimal digits of a byte.
  private static func hexadecimal(_ byte: UInt8) -> String {
    let text = String(byte, radix: 16)
    return byte < 16 ? "0" + text : text
  }
}

/// Failures of a fuzzing run, worded for the developer. If an attack could not be made at all, the error of
/// the system or the client library is reported as it is.
enum FuzzFailure: Error, CustomStringConvertible {
  case coordinatorEnded(String)
  case harmed(String)
  case requestNotServed(String)

  var description: String {
    switch self {
    case .coordinatorEnded(let how): "the coordinator has exited: \(how)"
    case .harmed(let what): "the coordinator was harmed: \(what)"
    case .requestNotServed(let what): "a normal client was not served: \(what)"
    }
  }

  /// This failure, with an error that was noticed before it if the coordinator has exited.
  func after(_ first: any Error) -> any Error {
    guard case .coordinatorEnded(let how) = self else { return self }
    if case FuzzFailure.coordinatorEnded = first { return first }
    return FuzzFailure.coordinatorEnded("\(how)\nnoticed before: \(first)")
  }
}
