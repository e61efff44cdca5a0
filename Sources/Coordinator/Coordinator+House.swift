// Owns which processes stand behind the windows of this bank, and what they are told. It knows nothing of what they do.
// Invariant: the bank opens and serves whether they come or not; why one does not is told in a status.

import BankModel
import Configuration
import Posix
import QueueCore
import Wire

extension Coordinator {
  /// Starts what stands behind the windows.
  func openHouse() {
    house.orders = { [unowned self] post in orders(for: post) }
    house.onChange = { [unowned self] in followers.changed = true }
    releases.onReleased = { [unowned self] ticket in
      // While the disk is full the note stays, and the stock is asked again.
      if retryAt == nil { stage(.released(ticket)) } else { releases.look() }
    }
    releases.onTrouble = { [unowned self] ticket, trouble in
      log.write(event: "not_released", level: .error, at: now) {
        $0.field("day", ticket.day)
        $0.field("ticket", ticket.ticket)
        $0.field("msg", "the stock does not give back what this ticket holds: \(trouble)")
      }
    }
    var arguments = ["--home", home.path]
    if let file = assortmentFile { arguments += ["--config", file] }
    house.open(
      HousePost.Trade(
        name: "stock", peerRole: .stock, workerRole: .stock, program: staff.programs.stock,
        arguments: arguments),
      at: now)
  }

  /// Asks the stock to give back what cancelled tickets hold.
  func advanceReleases() {
    if retryAt == nil {
      do throws(StoreError) { try releases.advance(store, now: now.monotonic) } catch { storeFailed(error) }
    }
    if stock.nextDeadline != nil { stock.endTurn() }
  }

  /// The file of fruits and juices: the home's own, or the one beside the configuration; nil for the built-in ones.
  private var assortmentFile: String? {
    let beside = options.config.map { Paths.join(Paths.directory(of: $0), "stock.json") }
    return [Paths.join(home.path, "stock.json"), beside].compactMap(\.self).first {
      ((try? FileFacts.inspect($0)) ?? nil) != nil
    }
  }

  private func orders(for post: HousePost) -> WorkerOrders {
    WorkerOrders(
      name: post.trade.name, generation: post.generation, language: configuration.language ?? .english,
      logPath: home.log(of: post.trade.name), logLimit: configuration.log.rotateBytes,
      logKeep: configuration.log.keep)
  }

  /// The workers behind the windows, for a status.
  var houseReports: [WorkerReport] {
    house.posts.map { post in
      let state: WorkerState =
        switch post.phase {
        case .empty: post.isGivenUp ? .stopped : .backoff
        case .starting, .welcomed: .starting
        case .ready, .leaving: .idle
        }
      let resident = post.pid > 0 ? ProcessMemory.residentBytes(pid: post.pid) ?? 0 : 0
      return WorkerReport(
        name: post.trade.name, role: post.trade.workerRole, service: nil, window: nil, pid: post.pid,
        generation: post.generation, state: state, ticket: nil, restarts: post.restarts, served: 0,
        residentKilobytes: resident / 1024, isFailed: post.isGivenUp ? true : nil, trouble: post.lastEnd)
    }
  }
}
