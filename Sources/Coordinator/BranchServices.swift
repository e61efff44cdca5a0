// Service processes of this bank, such as the stock: their orders (`WorkerOrders`), their files, and the coordinator's
// own connections to them.
// Invariant: the bank opens and serves even if a service process fails; the status contains the reason. The
// coordinator reads the file of a service when it sends the orders, directly before the service reads the file. So
// the recorded contents are those in use, unless the file changes between the two reads.

import BankModel
import Configuration
import Posix
import QueueCore
import StockClient
import Time
import VendingClient
import Wire

final class BranchServices: BankPart {
  /// Connections to the stock service, and to the manager's socket of the vending machine.
  let stock: StockClient
  let vending: VendingClient
  /// True after the services were dismissed: the stock and the vending machine cannot be queried any more.
  private(set) var isDismissed = false

  private let programs: WorkerPrograms
  private let marks: DatabaseMarks
  /// Fruits and juices read by the present stock service; nil before its first start, and if the file is invalid.
  private var assortmentAtWork: Assortment?
  /// Products read by the present vending machine; nil before its first start, and if the file is invalid.
  private var productsAtWork: ProductTable?

  init(_ ground: BankPart, _ programs: WorkerPrograms, _ stock: StockClient, _ marks: DatabaseMarks) {
    self.programs = programs
    self.stock = stock
    self.marks = marks
    let socket = VendingClient.managersSocket(inHome: ground.context.home.path)
    vending = VendingClient(socket: socket, loop: ground.context.loop)
    super.init(ground)
  }

  func open() {
    listen()
    for specification in [stockSpecification, vendingSpecification] {
      serviceSupervisor.open(specification, hasDatabase: hadDatabase(of: specification.name), at: context.now)
    }
  }

  private func listen() {
    serviceSupervisor.orders = { [unowned self] post in
      // The process reads its file after it has received its orders, so these are the contents that it uses, unless
      // the file changes in between.
      switch post.specification.workerRole {
      case .stock:
        assortmentAtWork = try? files.readAssortment()
        holdBackForJuices()
      case .vending: productsAtWork = try? files.readProducts()
      default: break
      }
      return orders(for: post)
    }
    serviceSupervisor.onDatabase = { [unowned marks] post, mark in marks.hear(mark, from: post) }
    serviceSupervisor.onChange = { [followers] in followers.changed = true }
    releases.onReleased = { [unowned self] ticket in
      // While the disk is full the record is kept, and the stock is asked again later.
      guard queue.engine.isWorking else { return releases.putOff() }
      queue.stage(.released(ticket))
      shared?.released(ticket)
    }
    releases.onTrouble = { [context] ticket, trouble in
      context.write(event: "stock_release_failed", level: .error) {
        $0.field("day", ticket.day)
        $0.field("ticket", ticket.ticket)
        $0.field("msg", "the stock did not release the reservation of this ticket: \(trouble)")
      }
    }
  }

  /// Ignores all further events of the services.
  func stopListening() {
    (serviceSupervisor.onDatabase, serviceSupervisor.onChange) = (nil, nil)
    (releases.onReleased, releases.onTrouble) = (nil, nil)
  }

  /// Asks all services to exit; they answer open requests first.
  func dismiss() {
    isDismissed = true
    serviceSupervisor.closeAll(at: context.now)
  }

  /// True if a service must already have a database: this coordinator succeeds a crashed one, and the service
  /// has written to its log.
  private func hadDatabase(of name: String) -> Bool {
    guard context.options.isRecovery else { return false }
    return ((try? FileFacts.inspect(context.home.log(of: name)))?.size ?? 0) > 0
  }

  /// Replaces the stock and the vending machine if their orders or files have changed, after a reload.
  func renew(_ assortment: Assortment, _ products: ProductTable) {
    serviceSupervisor.policy = context.configuration.restarts
    for post in serviceSupervisor.posts where post.specification.workerRole != .web {
      let isStock = post.specification.workerRole == .stock
      let specification = isStock ? stockSpecification : vendingSpecification
      let isAsTold = post.told == nil || post.told == orders(for: post)
      let isAtWork = isStock ? assortmentAtWork == assortment : productsAtWork == products
      if !isAsTold || post.specification.arguments != specification.arguments || !isAtWork {
        post.specification = specification
        serviceSupervisor.replace(post, at: context.now)
      }
    }
  }

  /// Reason why a service cannot be queried now; nil if it can be, and during a start before which no start has
  /// failed.
  func trouble(of role: WorkerRole) -> Remark? {
    guard let post = serviceSupervisor.posts.first(where: { $0.specification.workerRole == role }),
      post.phase != .ready, post.isGivenUp || post.history.deathsInARow > 0
    else { return nil }
    return post.lastEnd.map { Remark(cannotBegin: $0) } ?? Remark(.endedAtOnce)
  }

  private func orders(for post: SupervisedService) -> WorkerOrders {
    let configuration = context.configuration
    return WorkerOrders(
      name: post.specification.name, generation: post.generation,
      language: configuration.language ?? .english, logPath: context.home.log(of: post.specification.name),
      logLimit: configuration.log.rotateBytes, logKeep: configuration.log.keep)
  }

  /// Asks the stock to release what cancelled tickets have reserved, and stores records of the databases.
  func advance() {
    marks.keep()
    if queue.engine.canCommit {
      do throws(StoreError) { try releases.advance(store, now: context.now.monotonic) } catch {
        queue.fail(error)
      }
    }
    if stock.nextDeadline != nil { stock.endTurn() }
    if vending.nextDeadline != nil { vending.endTurn() }
  }

  /// Next deadline of this part; see also ``ServiceSupervisor/nextDeadline``.
  var nextDeadline: MonotonicTime? {
    // While the disk is full nothing is released, and a past deadline must not keep the loop awake.
    let release = queue.engine.isWorking ? releases.nextDeadline : nil
    let other = MonotonicTime.earlier(
      stock.nextDeadline.map { MonotonicTime(nanoseconds: $0.nanoseconds) },
      vending.nextDeadline.map { MonotonicTime(nanoseconds: $0.nanoseconds) })
    return .earlier(release, other)
  }

  /// Adjusts the disk space reserved for juice customers to the recipes of the present or next stock service.
  func holdBackForJuices() {
    // With an invalid file no juice is made; the present reservation stays.
    guard let assortment = assortmentAtWork ?? (try? files.readAssortment()) else { return }
    queue.engine.holdBack(forJuicesOf: assortment)
    queue.noteRoom()
  }

  private var stockSpecification: SupervisedService.Specification {
    specification("stock", .stock, .stock, programs.stock, "--config", files.assortment)
  }

  private var vendingSpecification: SupervisedService.Specification {
    specification("vending", .vending, .vending, programs.vending, "--products", files.products)
  }

  private func specification(
    _ name: String, _ peer: PeerRole, _ worker: WorkerRole, _ program: String, _ option: String,
    _ file: String?
  ) -> SupervisedService.Specification {
    SupervisedService.Specification(
      name: name, peerRole: peer, workerRole: worker, program: program,
      arguments: ["--home", context.home.path] + (file.map { [option, $0] } ?? []))
  }

  private var files: BranchFiles { context.options.files }

  /// Reads all files of the bank. Throws `badConfiguration` for the first invalid one.
  func readFiles() throws(Failure) -> (
    configuration: ReadConfiguration, assortment: Assortment, products: ProductTable
  ) {
    do throws(ConfigurationError) { return try files.readAll() } catch {
      throw Failure(error, in: context.language)
    }
  }
}

extension Remark {
  /// Reason why a process that exits repeatedly cannot start.
  fileprivate init(cannotBegin lastEnd: Remark) {
    switch lastEnd.kind {
    case .processCode: self.init(.cannotBeginCode, lastEnd.values.first ?? "")
    case .processSignal: self.init(.cannotBeginSignal, lastEnd.values.first ?? "")
    case .quoted, .processUnseen, nil: self.init(.cannotBegin, lastEnd)
    // The process has reported the reason itself.
    default: self = lastEnd
    }
  }
}
