// Owns the one who keeps every rule: lets customers come all the time, and must be served as if nobody else were there.
// It must not know attacks. Invariant: a customer counts only when the coordinator has said that it is on disk.
// Failure: FuzzFailure, where an answer is wrong or does not come.
import BankModel
import ControlClient
import Wire

final class NormalClient {
  private let connection: ControlConnection
  private var chance: SeededGenerator
  private(set) var commands = 0
  private(set) var customers: Int64 = 0
  /// How often the attackers had filled the queue.
  private(set) var refusals = 0

  init(_ bank: FuzzBank, seed: UInt64) throws {
    connection = try bank.home.connect()
    chance = SeededGenerator(seed: ~seed)
  }

  /// Lets a few customers come.
  func enqueue() throws {
    let count = chance.draw(1...5)
    let order = EnqueueOrder(
      count: count, service: nil, grade: .regular, amount: nil, account: nil, seed: chance.next(), key: nil)
    let answer = try FuzzBank.ask(.enqueue(order), on: connection)
    commands += 1
    switch answer {
    case .enqueued(let report) where report.count == count && report.last - report.first + 1 == count:
      customers += count
    case .failure(let failure) where failure.code == .queueFull: refusals += 1
    default: throw FuzzFailure.unserved("\(count) customers were answered with \(answer)")
    }
  }

  func resume() throws {
    guard case .status = try FuzzBank.ask(.resume(nil), on: connection) else {
      throw FuzzFailure.unserved("the services were not resumed")
    }
    commands += 1
  }
}
