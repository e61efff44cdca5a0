// Owns the tellers' side of the simulated coordinator, after the real one's `WindowStaff`: starting, greeting, hearing,
// ending and replacing the processes behind the windows. It must not know customers.
// Invariant: a teller that has ended is reported exactly once, after its process was reaped and its connection closed.
// What is heard of it later is handed to the core all the same, which must let it change nothing.

import BankModel
import QueueCore
import Supervision
import Wire

/// The coordinator's end of a connection to a teller.
final class TellerStation {
  let post: SimulatedPost
  let generation: Generation
  var decoder = FrameDecoder(maximumBodyLength: FrameLimits.teller)
  /// Nothing that comes on this connection can be understood any more.
  var isBroken = false

  init(post: SimulatedPost, generation: Generation) {
    self.post = post
    self.generation = generation
  }
}

extension SimulatedCoordinator {
  private static let patience = TimeSpan.seconds(10)
  private static let abortGrace = TimeSpan.milliseconds(200)
  private static let exitGrace = TimeSpan.seconds(1)
  private static let leaveGrace = TimeSpan.seconds(3)
  private static let drainGrace = TimeSpan.milliseconds(100)

  private func post(_ window: Window) -> SimulatedPost? { posts.first { $0.window == window } }

  // MARK: - Orders from the queue

  func openWindow(_ window: Window) {
    let post =
      post(window)
      ?? SimulatedPost(window: window, history: RestartHistory(policy: RestartPolicy(), seed: chance.next()))
    if self.post(window) == nil {
      posts.append(post)
      posts.sort { $0.window < $1.window }
    }
    post.isWanted = true
    if post.phase == .empty, post.restartAt == nil {
      post.history.forgive()
      post.isGivenUp = false
      start(post)
    }
  }

  func closeWindow(_ window: Window) {
    guard let post = post(window) else { return }
    post.isWanted = false
    post.restartAt = nil
    switch post.phase {
    case .empty:
      posts.removeAll { $0 === post }
      happen(.tellerLost(window, post.generation, .code(0)))
    case .starting, .welcomed:
      post.phase = .leaving
      signal(post, SimulatedTeller.Signal.kill)
    case .ready, .leaving: break
    }
  }

  func dismiss(_ window: Window) {
    guard let post = post(window), post.link != nil else { return }
    post.phase = .leaving
    tell(window, .close)
    // Its hands are free, so it goes at once, unless it stands still.
    if bug != .waitsForTheDismissed { post.killAt = now.monotonic + Self.leaveGrace }
  }

  func tell(_ window: Window, _ message: WindowMessage) {
    guard let link = post(window)?.link, let bytes = world.encode(message, limit: FrameLimits.teller) else {
      return
    }
    toTellers.append((link, bytes))
  }

  func abort(_ window: Window, _ generation: Generation) {
    guard let post = post(window), post.generation == generation, post.teller != nil else { return }
    post.phase = .leaving
    signal(post, SimulatedTeller.Signal.abort)
    post.killAt = now.monotonic + Self.abortGrace
  }

  func expel(_ window: Window, _ generation: Generation) {
    guard let post = post(window), post.generation == generation else { return }
    post.phase = .leaving
    signal(post, SimulatedTeller.Signal.kill)
  }

  /// Ends everyone, whatever they are doing.
  func killAllTellers() { for post in posts { signal(post, SimulatedTeller.Signal.kill) } }

  private func signal(_ post: SimulatedPost, _ signal: Int32) {
    guard let teller = post.teller, post.ended == nil else { return }
    let delay = TimeSpan(nanoseconds: chance.draw(10_000...300_000))
    world.agenda.add(.tellerSignalled(teller, signal: signal), at: world.clock.now + delay)
  }

  // MARK: - Time

  var windowDeadline: MonotonicTime? {
    var earliest: MonotonicTime?
    for post in posts {
      for moment in [post.restartAt, post.readyBy, post.killAt, post.drainBy] {
        if let moment { earliest = min(earliest ?? moment, moment) }
      }
    }
    return earliest
  }

  func keepWindowTime() {
    for post in posts where isAlive {
      if let moment = post.restartAt, moment <= now.monotonic {
        post.restartAt = nil
        start(post)
      }
      if let moment = post.readyBy, moment <= now.monotonic {
        post.readyBy = nil
        expel(post.window, post.generation)
      }
      if let moment = post.killAt, moment <= now.monotonic {
        post.killAt = nil
        signal(post, SimulatedTeller.Signal.kill)
      }
      if let moment = post.drainBy, moment <= now.monotonic { settleEnd(of: post) }
    }
  }

  // MARK: - The life of a teller

  private func start(_ post: SimulatedPost) {
    guard isAlive else { return }
    // A window that was closed and is opened again goes on with its generations.
    post.generation = (bug == .startsGenerationsAnew ? post.generation : generations[post.window] ?? 0) + 1
    generations[post.window] = post.generation
    let teller = world.spawn(window: post.window, generation: post.generation, by: self)
    post.teller = teller.number
    post.link = teller.link
    stations[teller.link] = TellerStation(post: post, generation: post.generation)
    post.phase = .starting
    post.readyBy = now.monotonic + Self.patience
  }

  func hearTeller(_ arrival: Arrival, on link: Int) {
    guard let station = stations[link], !station.isBroken else { return }
    let isPresent = station.post.link == link
    guard case .bytes(let bytes) = arrival else {
      station.isBroken = true
      if isPresent { connectionEnded(station.post, isBroken: false) }
      return
    }
    station.decoder.append(bytes)
    do {
      while isAlive, !station.isBroken, let body = try station.decoder.next() {
        let message = try CBORDecoder().decode(TellerMessage.self, from: body)
        if station.post.link == link { hear(message, from: station.post) } else { hearLate(message, station) }
      }
    } catch {
      station.isBroken = true
      if station.post.link == link { connectionEnded(station.post, isBroken: true) }
    }
  }

  /// The real shell closes the connection of a dead teller. Here its words still come, to show that they could.
  private func hearLate(_ message: TellerMessage, _ station: TellerStation) {
    guard posts.contains(where: { $0 === station.post }) else { return }
    world.statistics.note(.messageLate)
    happen(.tick)
    pass(message, from: station.post.window, station.generation)
  }

  private func hear(_ message: TellerMessage, from post: SimulatedPost) {
    switch (post.phase, message) {
    case (.starting, .hello):
      post.phase = .welcomed
      tell(post.window, .welcome(orders(post)))
    case (.welcomed, .ready):
      post.phase = .ready
      post.readyBy = nil
      post.history.becameReady(at: now.monotonic)
      happen(
        .tellerReady(post.window, post.generation, pid: Int32(truncatingIfNeeded: post.teller ?? 0) + 100))
    case (.ready, .done), (.ready, .outOfStock):
      post.history.didWork()
      pass(message, from: post.window, post.generation)
    case (.ready, .failed), (.ready, .returned), (.ready, .beat):
      pass(message, from: post.window, post.generation)
    case (.leaving, _): break
    case (_, _):
      expel(post.window, post.generation)
      // Whatever is due by itself is done before, so that nothing of it is taken for the work of this word.
      happen(.tick)
      pass(message, from: post.window, post.generation)
    }
  }

  private func pass(_ message: TellerMessage, from window: Window, _ generation: Generation) {
    switch message {
    case .done(let lease): happen(.tellerAnswered(window, generation, lease, .done))
    case .outOfStock(let lease, let missing):
      happen(.tellerAnswered(window, generation, lease, .outOfStock(missing)))
    case .failed(let lease, let reason):
      happen(.tellerAnswered(window, generation, lease, .failed(reason: reason)))
    case .returned(let lease): happen(.tellerAnswered(window, generation, lease, .returned))
    case .beat(let lease): happen(.tellerProgressed(window, generation, lease))
    case .hello, .ready: break
    }
  }

  private func orders(_ post: SimulatedPost) -> TellerOrders {
    TellerOrders(
      name: post.window.description, service: post.window.service, generation: post.generation,
      workMicroseconds: plan.workMicroseconds,
      beatMicroseconds: plan.policy.lease.nanoseconds / 4_000, language: .english, logPath: "", logLimit: 0,
      logKeep: 0, logsCustomers: false)
  }

  private func connectionEnded(_ post: SimulatedPost, isBroken: Bool) {
    post.link = nil
    if post.ended != nil { return settleEnd(of: post) }
    if !isBroken, post.phase == .leaving {
      post.killAt = now.monotonic + Self.exitGrace
      return
    }
    post.phase = .leaving
    signal(post, SimulatedTeller.Signal.kill)
  }

  /// A process has ended. What it said before may still be on its way.
  func reap(_ teller: SimulatedTeller) {
    guard isAlive, let end = teller.end, let post = posts.first(where: { $0.teller == teller.number }) else {
      return
    }
    now = world.clock.moment
    post.ended = end
    post.readyBy = nil
    post.killAt = nil
    if post.link == nil { settleEnd(of: post) } else { post.drainBy = now.monotonic + Self.drainGrace }
    wake(at: world.clock.now)
  }

  private func settleEnd(of post: SimulatedPost) {
    guard post.teller != nil, let end = post.ended else { return }
    post.link = nil
    post.teller = nil
    post.ended = nil
    post.drainBy = nil
    post.phase = .empty
    happen(.tellerLost(post.window, post.generation, end))
    guard isAlive, post.teller == nil else { return }
    decide(post)
  }

  private func decide(_ post: SimulatedPost) {
    guard post.isWanted else { return posts.removeAll { $0 === post } }
    switch post.history.died(at: now.monotonic) {
    case .atOnce: start(post)
    case .after(let pause): post.restartAt = now.monotonic + pause
    case .giveUp:
      post.isGivenUp = true
      disappointWindowWaiters(.windowsFailed)
    }
  }

  /// Whether every window has a teller at work, and those that were to be closed are gone.
  var isSettled: Bool { posts.allSatisfy { $0.isWanted && $0.phase == .ready } }

  /// Tries the windows again that were given up.
  func retryGivenUp() { for post in posts where post.isGivenUp && post.isWanted { openWindow(post.window) } }
}
