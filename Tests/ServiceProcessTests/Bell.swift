// A third service for tests, as small as possible: it and its messages (ServiceFixture/BellMessages.swift)
// show what a service needs. Its core is a count of rings.

import BankModel
import Logging
import Posix
import QueueCore
import ServiceFixture
import ServiceProcess
import Time
import Transport
import Wire

// MARK: - The core

/// Events of a bell.
enum BellEvent: StoreEvents {
  case ring(UInt64)
  case committed
  case commitRefused
  case roomChanged(isLowOnSpace: Bool)
}

/// Effects of an event.
enum BellEffect {
  case stage(Int64)
  case reply(UInt64, BellAnswer)
}

/// A bell that counts its rings.
struct BellMachine: PureStateMachine {
  let identity: Int64 = 7
  private(set) var durableSequence: Int64
  private var staged: [UInt64] = []

  init(rings: Int64) { durableSequence = rings }

  var hasUncommittedChanges: Bool { !staged.isEmpty }

  mutating func apply(_ event: BellEvent, at now: WallTime, into effects: inout [BellEffect]) {
    switch event {
    case .ring(let request):
      staged.append(request)
      effects.append(.stage(durableSequence + Int64(staged.count)))
    case .committed:
      for request in staged {
        durableSequence += 1
        effects.append(.reply(request, BellAnswer(rings: durableSequence)))
      }
      staged = []
    case .commitRefused:
      for request in staged { effects.append(.reply(request, BellAnswer())) }
      staged = []
    case .roomChanged: break
    }
  }
}

// MARK: - The store

/// Stores a bell, and fails on request.
final class BellStore: EntryStore {
  private(set) var rings: [Int64] = []
  private(set) var commits = 0
  private(set) var audits = 0
  var fault: StoreError?
  private var staged: [Int64] = []

  var hasStagedChanges: Bool { !staged.isEmpty }
  func stage(_ entry: Int64) throws(StoreError) { staged.append(entry) }
  func rollBack() { staged = [] }

  func commit() throws(StoreError) {
    if let fault { throw fault }
    rings += staged
    staged = []
    commits += 1
  }

  func audit() -> Int64 {
    audits += 1
    return Int64(rings.count)
  }
}

/// The store of a bell, as its machine is driven over it.
final class BellPersistence: ServicePersistence {
  let bell: BellStore
  private(set) var last: Int64?

  init(_ store: BellStore) { bell = store }

  var store: any EntryStore<Int64, StoreError> { bell }

  func step(for effect: BellEffect) throws(StoreError) -> EffectStep<BellEvent, Int64, BellAnswer> {
    switch effect {
    case .stage(let ring): .stage(ring)
    case .reply(let request, let answer): .reply(request, answer)
    }
  }

  func committed(_ entries: [Int64]) { last = entries.last }

  func takeLast() -> Int64? {
    defer { last = nil }
    return last
  }
}

// MARK: - The service

/// The running bell.
final class BellService: ServiceHandler {
  static let executable = "bank-bell"
  static let lowSpaceNotice = "it rings all the same"
  static let audit = BellCommand.audit

  let driver: MachineDriver<BellMachine, BellPersistence>
  let clock = IterationClock()
  let endpoints = [ServiceEndpoint("bell")]
  let views = Views(tooSlow: BellAnswer())

  typealias Command = BellCommand
  typealias Reply = BellAnswer

  init(_ store: BellStore) {
    driver = MachineDriver(BellPersistence(store), BellMachine(rings: Int64(store.rings.count)))
  }

  func begin() {}
  func describe(in fields: inout LogFields) { fields.field("rings", driver.machine.durableSequence) }

  func react(
    to request: ServiceRequest<BellCommand>, _ call: Call
  ) -> ServiceReaction<BellEvent, BellAnswer> {
    switch request.command {
    case .look: return .answer(BellAnswer(rings: driver.machine.durableSequence))
    case .ring: return .event(.ring(call.id))
    case .audit: return .query()
    case .follow:
      guard let view = call.open(in: views) else { return .answer(BellAnswer()) }
      call.answer(BellAnswer(rings: driver.machine.durableSequence), more: true)
      views.begin(view)
      return .later
    }
  }

  static func changesData(_ answer: BellAnswer) -> Bool { answer.rings != nil }
  func reply(_ answer: BellAnswer, to call: Call) { call.answer(answer) }

  func answer(_ query: BellCommand, of call: Call) -> BellAnswer? {
    driver.read { persistence in BellAnswer(rings: persistence.bell.audit()) }
  }

  func publish() { if let ring = driver.persistence.takeLast() { views.publish(BellAnswer(rings: ring)) } }
}
