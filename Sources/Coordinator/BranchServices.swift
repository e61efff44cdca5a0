// Owns which processes stand behind the windows of this bank, what they are told, and by which files they work; and the way
// to them for what the coordinator itself has to ask. It knows nothing of what they do, and no process: the supervisor does.
// Invariant: the bank opens and serves whether they come or not; why one does not is told in a status. What was read of a
// file is what the present process has read: the file is read when a process is told its orders, and by it afterwards.

import BankModel
import Configuration
import Posix
import QueueCore
import StockClient
import Time
import VendingClient
import Wire

final class BranchServices: BankPart {
  /// The way to the stock service, and to the manager's side of the vending machine.
  let stock: StockClient
  let vending: VendingClient
  /// Whether everybody was sent home: the stock and the machine can be asked no more.
  private(set) var isDismissed = false

  private let programs: WorkerPrograms
  private let marks: DatabaseMarks
  /// The fruits and juices by which the present stock service works; nil where their file made no sense.
  private var assortmentAtWork: Assortment?
  /// The products that the present vending machine has read; nil where they could not be read.
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
      // It reads its file after it was told its orders, so what stands there now is what it works by.
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
      // While the disk is full the note stays, and the stock is asked again.
      guard queue.engine.isWorking else { return releases.putOff() }
      queue.stage(.released(ticket))
      shared?.released(ticket)
    }
    releases.onTrouble = { [context] ticket, trouble in
      context.write(event: "not_released", level: .error) {
        $0.field("day", ticket.day)
        $0.field("ticket", ticket.ticket)
        $0.field("msg", "the stock does not give back what this ticket holds: \(trouble)")
      }
    }
  }

  /// Whatever they say or do from here on, nothing follows from it.
  func stopListening() {
    (serviceSupervisor.onDatabase, serviceSupervisor.onChange) = (nil, nil)
    (releases.onReleased, releases.onTrouble) = (nil, nil)
  }

  /// Sends everybody home: what was asked of them is answered first.
  func dismiss() {
    isDismissed = true
    serviceSupervisor.closeAll(at: context.now)
  }

  /// Whether there must be a database of a service: it has worked while the bank was open, and only the coordinator is new.
  private func hadDatabase(of name: String) -> Bool {
    guard context.options.isRecovery else { return false }
    return ((try? FileFacts.inspect(context.home.log(of: name)))?.size ?? 0) > 0
  }

  /// After the configuration was read again: whoever works by what is not true any more makes way for a successor.
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

  /// Why there is no use in asking one of them now; nil where there is.
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

  /// Asks the stock to give back what cancelled tickets hold, and writes what is to be written of the databases.
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

  /// When something has to be done by itself next; see also ``ServiceSupervisor/nextDeadline``.
  var nextDeadline: MonotonicTime? {
    // While the disk is full nothing is given back, and a moment that has passed must not keep the loop awake.
    let release = queue.engine.isWorking ? releases.nextDeadline : nil
    let other = MonotonicTime.earlier(
      stock.nextDeadline.map { MonotonicTime(nanoseconds: $0.nanoseconds) },
      vending.nextDeadline.map { MonotonicTime(nanoseconds: $0.nanoseconds) })
    return .earlier(release, other)
  }

  /// What is held back for those who want juice follows the recipes that the present or the next stock service reads.
  func holdBackForJuices() {
    // A file that makes no sense makes no juice; what was held back before is held back still.
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

  /// All files of the bank as they are now. Throws `badConfiguration` with what is wrong in the first bad one.
  func readFiles() throws(Failure) -> (
    configuration: ReadConfiguration, assortment: Assortment, products: ProductTable
  ) {
    do throws(ConfigurationError) { return try files.readAll() } catch {
      throw Failure(error, in: context.language)
    }
  }
}

extension Remark {
  /// Why a process that ends so again and again has nothing to say.
  fileprivate init(cannotBegin lastEnd: Remark) {
    switch lastEnd.kind {
    case .processCode: self.init(.cannotBeginCode, lastEnd.values.first ?? "")
    case .processSignal: self.init(.cannotBeginSignal, lastEnd.values.first ?? "")
    case .quoted, .processUnseen, nil: self.init(.cannotBegin, lastEnd)
    // It has said itself why.
    default: self = lastEnd
    }
  }
}
