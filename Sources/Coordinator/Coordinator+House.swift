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
    house.orders = { [unowned self] post in
      // It reads its file after it was told its orders, so what stands there now is what it works by.
      if post.trade.workerRole == .stock {
        assortmentAtWork = try? readAssortment()
        holdBackForJuices()
      } else {
        productsAtWork = try? readProducts()
      }
      return orders(for: post)
    }
    house.onDatabase = { [unowned self] post, mark in hear(mark, from: post) }
    house.onChange = { [unowned self] in followers.changed = true }
    releases.onReleased = { [unowned self] ticket in
      // While the disk is full the note stays, and the stock is asked again.
      if retryAt == nil { stage(.released(ticket)) } else { releases.putOff() }
    }
    releases.onTrouble = { [unowned self] ticket, trouble in
      log.write(event: "not_released", level: .error, at: now) {
        $0.field("day", ticket.day)
        $0.field("ticket", ticket.ticket)
        $0.field("msg", "the stock does not give back what this ticket holds: \(trouble)")
      }
    }
    for trade in [stockTrade, vendingTrade] {
      house.open(trade, hasDatabase: hadDatabase(of: trade.name), at: now)
    }
  }

  /// Whether there must be a database of a service: it has worked while the bank was open, and only the coordinator is new.
  private func hadDatabase(of name: String) -> Bool {
    guard options.isRecovery else { return false }
    let log = try? FileFacts.inspect(home.log(of: name))
    return (log?.size ?? 0) > 0
  }

  /// What is held back for those who want juice follows the recipes that the present or the next stock service reads.
  func holdBackForJuices() {
    // A file that makes no sense makes no juice; what was held back before is held back still.
    guard let assortment = assortmentAtWork ?? (try? readAssortment()) else { return }
    store.holdBack(forJuicesOf: assortment)
    noteRoom()
  }

  private var stockTrade: HousePost.Trade {
    var arguments = ["--home", home.path]
    if let file = assortmentFile { arguments += ["--config", file] }
    return HousePost.Trade(
      name: "stock", peerRole: .stock, workerRole: .stock, program: staff.programs.stock, arguments: arguments
    )
  }

  private var vendingTrade: HousePost.Trade {
    var arguments = ["--home", home.path]
    if let file = productFile { arguments += ["--products", file] }
    return HousePost.Trade(
      name: "vending", peerRole: .vending, workerRole: .vending, program: staff.programs.vending,
      arguments: arguments)
  }

  /// The fruits and juices as their file has them now.
  ///
  /// - Throws: `badConfiguration` with what is wrong in it.
  func readAssortment() throws(Failure) -> Assortment {
    guard let file = assortmentFile else { return .standard }
    do throws(ConfigurationError) { return try AssortmentFile.load(path: file) } catch {
      let language = options.language ?? configuration.language ?? .english
      throw Failure(.badConfiguration, subject: file, detail: error.message(in: language))
    }
  }

  /// The products of the vending machine as their file has them now.
  ///
  /// - Throws: `badConfiguration` with what is wrong in it.
  func readProducts() throws(Failure) -> ProductTable {
    guard let file = productFile else { return .standard }
    do throws(ConfigurationError) { return try ProductFile.load(path: file) } catch {
      let language = options.language ?? configuration.language ?? .english
      throw Failure(.badConfiguration, subject: file, detail: error.message(in: language))
    }
  }

  /// After the configuration was read again: whoever works by what is not true any more makes way for a successor.
  func renewHouse(_ assortment: Assortment, _ products: ProductTable) {
    house.policy = configuration.restarts
    for post in house.posts {
      let isStock = post.trade.workerRole == .stock
      let trade = isStock ? stockTrade : vendingTrade
      let isAsTold = post.told == nil || post.told == orders(for: post)
      let isAtWork = isStock ? assortmentAtWork == assortment : productsAtWork == products
      guard !isAsTold || post.trade.arguments != trade.arguments || !isAtWork else { continue }
      post.trade = trade
      house.replace(post, at: now)
    }
  }

  /// Asks the stock to give back what cancelled tickets hold.
  func advanceReleases() {
    noteDatabases()
    if retryAt == nil, !isEmptying {
      do throws(StoreError) { try releases.advance(store, now: now.monotonic) } catch { storeFailed(error) }
    }
    if stock.nextDeadline != nil { stock.endTurn() }
    if vending.nextDeadline != nil { vending.endTurn() }
  }

  /// The file of fruits and juices: the home's own, or the one beside the configuration; nil for the built-in ones.
  private var assortmentFile: String? { file("stock.json") }

  /// The file of products, found in the same way.
  private var productFile: String? { file("vending.json") }

  private func file(_ name: String) -> String? {
    let beside = options.config.map { Paths.join(Paths.directory(of: $0), name) }
    return [Paths.join(home.path, name), beside].compactMap(\.self).first {
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
        residentKilobytes: resident / 1024, isFailed: post.isGivenUp ? true : nil,
        trouble: post.lastEnd?.description, failure: post.failure, mismatch: post.mismatch,
        troubleRemark: post.lastEnd.flatMap { $0.kind == .quoted ? nil : $0 })
    }
  }
}
