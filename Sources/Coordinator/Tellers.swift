// Link between tellers and the queue: the orders that a teller receives, the queue events for its messages, and its
// replacement after a number of customers or above a memory limit. This replacement happens between two customers, one
// window at a time.
// Invariants: the queue receives the events of each teller in the order in which the supervisor reported them. A teller
// is replaced for its age only while idle, so that the replacement ends no attempt. No teller is replaced for its age
// while the bank closes.

import BankModel
import Posix
import QueueCore
import Supervision
import Time
import Wire

final class Tellers: BankPart {
  /// Called when a window was given up, with the exit of the last teller or the reason why none could start.
  var onGivenUp: (Window, Remark) -> Void = { _, _ in }

  private var recycling = Recycling<Window>()

  func listen() {
    tellerSupervisor.orders = { [unowned self] window, generation in orders(for: window, generation) }
    tellerSupervisor.onEvent = { [unowned self] window, generation, word in
      hear(word, from: window, generation)
    }
    tellerSupervisor.workerAt = { [unowned self] window throws(SystemError) in try worker(at: window) }
    tellerSupervisor.onSpeech = { [unowned self] window, generation, pid, spoken in
      queue.journal.note(spoken, at: window, generation, pid: pid)
    }
    tellerSupervisor.workerTerms = { [unowned self] window in
      context.configuration.workerTerms(of: [context.services.directory[window.service]])
    }
  }

  /// Ignores all further events of tellers.
  func stopListening() { tellerSupervisor.onEvent = nil }

  private func hear(_ word: TellerSupervisor.Word, from window: Window, _ generation: Generation) {
    switch word {
    case .ready(let pid): becameReady(.tellerReady(window, generation, pid: pid), at: window, generation, pid)
    case .workerReady(let pid, let inHand):
      let name = context.services.directory[window.service]
      let room = context.configuration.workerRoom(of: [name], offering: inHand)
      queue.journal.open([window], generation, pid: pid)
      becameReady(
        .workerReady(window, generation, pid: pid, inHand: room), at: window, generation, pid)
    case .said(let message):
      hear(message, from: window, generation)
      // Send the next assignment before the next teller is handled: waiting for the end of the iteration
      // would leave a core idle. A teller with several messages in one read gets all answers together.
      if tellerSupervisor.posts[window]?.channel?.isMidFrame != true, !context.isCutOff {
        tellerSupervisor.flush()
      }
    case .ended(let end):
      context.takeTime()
      // Exit code 0 is the requested exit, and not a failure.
      if end != .code(0) {
        followers.noteDeath(
          at: window, generation, pid: tellerSupervisor.posts[window]?.lastPid ?? 0, end,
          ticket: queue.machine.numbers(of: window)?.lease?.ticket, at: context.now.wall)
      }
      queue.happen(.tellerLost(window, generation, end))
      if let post = tellerSupervisor.posts[window], post.kind == .worker {
        queue.journal.close([window], post.lastEnd?.description ?? "")
      }
      followers.changed = true
    case .givenUp(let lastEnd): onGivenUp(window, lastEnd)
    }
  }

  private func becameReady(
    _ event: QueueEvent, at window: Window, _ generation: Generation, _ pid: Int32
  ) {
    context.write(event: "window_open") {
      $0.field("window", context.name(of: window))
      $0.field("child", pid)
      $0.field("child_gen", generation)
    }
    queue.happen(event)
    // The orders have changed after this teller received them, and before it was ready.
    if tellerSupervisor.posts[window]?.isOutdated == true { queue.happen(.replace(window)) }
    followers.changed = true
  }

  private func hear(_ message: TellerMessage, from window: Window, _ generation: Generation) {
    switch message {
    case .done(let lease): answered(lease, .done, window, generation)
    case .outOfStock(let lease, let missing): answered(lease, .outOfStock(missing), window, generation)
    case .worked(let lease, let result):
      answered(lease, context.answer(result, at: window), window, generation)
    case .failed(let lease, let failure): answered(lease, .failed(failure), window, generation)
    case .returned(let lease): queue.happen(.tellerAnswered(window, generation, lease, .returned))
    case .beat(let lease): queue.happen(.tellerProgressed(window, generation, lease))
    case .progressed(let lease, let progress):
      queue.happen(.tellerProgressed(window, generation, lease))
      queue.note(progress, of: lease, at: window)
    case .hello, .ready: break
    }
  }

  private func answered(_ lease: Lease, _ answer: TellerAnswer, _ window: Window, _ generation: Generation) {
    considerRecycling(window)
    queue.happen(.tellerAnswered(window, generation, lease, answer))
  }

  private func orders(for window: Window, _ generation: Generation) -> TellerOrders {
    let configuration = context.configuration
    let service = context.services.directory[window.service]
    let work = configuration.scaledWork(service)
    let lease = configuration[service].lease ?? configuration.lease
    let name = context.name(of: window)
    return TellerOrders(
      name: name, service: window.service, generation: generation,
      workMicroseconds: work.nanoseconds / 1_000, beatMicroseconds: lease.nanoseconds / 4_000,
      language: configuration.language ?? .english, logPath: context.home.log(of: name),
      logLimit: configuration.log.rotateBytes, logKeep: configuration.log.keep,
      logsCustomers: configuration.log.customers,
      stockSocket: window.service.drawsOnStock ? context.home.stockSocket : nil,
      command: configuration.commandOrders(of: service, outputDirectory: context.home.output))
  }

  /// Program at a window that is served by a configured worker program.
  private func worker(at window: Window) throws(SystemError) -> ChildProcess.Program {
    let name = context.services.directory[window.service]
    return try context.configuration.worker(
      of: name, window: context.name(of: window), key: context.booksName.prefix + "worker",
      home: context.home)
  }

  /// Replaces all tellers, each when it is idle, because their orders have changed.
  func replaceAll() {
    for post in tellerSupervisor.posts.values {
      post.isOutdated = true
      queue.happen(.replace(post.window))
    }
  }

  /// Counts an answer and checks the teller's age. Called before the queue handles the answer: afterwards the
  /// teller would already hold its next customer.
  private func considerRecycling(_ window: Window) {
    guard let post = tellerSupervisor.posts[window] else { return }
    post.customers += 1
    if !context.isEnding, !context.configuration.recycling.isOff, isDue(post) != nil,
      recycling.isTurn(of: window)
    {
      recycle(post)
    }
  }

  /// Continues with the next window when the previous window has a ready teller again.
  func continueRecycling() {
    while let window = recycling.current, !context.isEnding {
      if let post = tellerSupervisor.posts[window], post.isWanted, !post.isGivenUp,
        post.phase != .ready || post.generation == post.recycledGeneration
      {
        return
      }
      // The teller may have died meanwhile, and its successor is not due.
      guard let next = recycling.settled() else { return }
      if let post = tellerSupervisor.posts[next], post.phase == .ready, isDue(post) != nil { recycle(post) }
    }
  }

  private func isDue(_ post: SupervisedTeller) -> RecyclePolicy.Reason? {
    let policy = context.configuration.recycling
    var resident: Int64?
    if policy.aboveBytes > 0 {
      if context.now.monotonic.since(post.measuredAt) >= RecyclePolicy.measurePause {
        post.measuredAt = context.now.monotonic
        post.residentBytes = ProcessMemory.residentBytes(pid: post.pid)
      }
      resident = post.residentBytes
    }
    return policy.reason(customers: post.customers, residentBytes: resident)
  }

  private func recycle(_ post: SupervisedTeller) {
    post.recycledGeneration = post.generation
    context.write(event: "recycling") {
      $0.field("window", context.name(of: post.window))
      $0.field("child", post.pid)
      $0.field("child_gen", post.generation)
      $0.field("reason", isDue(post)?.rawValue)
      $0.field("customers", post.customers)
      if let resident = post.residentBytes { $0.field("rss_kb", resident / 1024) }
    }
    queue.happen(.replace(post.window))
  }
}
