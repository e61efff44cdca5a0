// Service processes of this bank, such as the stock: their settings (`ServiceProcessSettings`), their files, and the
// coordinator's own connections to them.
// Invariant: the bank opens and serves even if a service process fails.

import BankModel
import Configuration
import Posix
import QueueCore
import StockClient
import Time
import VendingClient
import Wire

final class ServiceProcesses: CoordinatorComponent {
  /// Connections to the stock service, and to the manager's socket of the vending machine.
  let stock: StockClient
  let vending: VendingClient
  /// True after the services were dismissed: the stock and the vending machine cannot be queried any more.
  private(set) var isDismissed = false

  private let programs: ProgramPaths
  private let databaseIdentities: DatabaseIdentities
  /// Fruits and juices read by the present stock service; nil before its first start, and if the file is invalid.
  private var activeAssortment: Assortment?
  /// Products read by the present vending machine; nil before its first start, and if the file is invalid.
  private var activeProducts: ProductTable?

  init(
    _ dependencies: CoordinatorComponent, _ programs: ProgramPaths, _ stock: StockClient,
    _ databaseIdentities: DatabaseIdentities
  ) {
    self.programs = programs
    self.stock = stock
    self.databaseIdentities = databaseIdentities
    let socket = VendingClient.managersSocket(inHome: dependencies.context.home.path)
    vending = VendingClient(socket: socket, loop: dependencies.context.loop)
    super.init(dependencies)
  }

  func open() {
    listen()
    for specification in [stockSpecification, vendingSpecification] {
      serviceSupervisor.open(specification, hasDatabase: hadDatabase(of: specification.name), at: context.now)
    }
  }

  /// Sets the functions that the supervisor and the release queue call.
  private func listen() {
    serviceSupervisor.orders = { [unowned self] slot in
      // The process reads its file after it has received its settings, so these are the contents that it uses, unless
      // the file changes in between.
      switch slot.specification.workerRole {
      case .stock:
        activeAssortment = try? files.readAssortment()
        reserveForJuice()
      case .vending: activeProducts = try? files.readProducts()
      default: break
      }
      return orders(for: slot)
    }
    serviceSupervisor.onDatabase = { [unowned databaseIdentities] slot, mark in
      databaseIdentities.handle(mark, from: slot)
    }
    serviceSupervisor.onChange = { [subscriptions] in subscriptions.changed = true }
    releases.onReleased = { [unowned self] ticket in
      // While the disk is full the record is kept, and the stock is asked again later.
      guard queue.engine.isWorking else { return releases.postpone() }
      queue.stage(.released(ticket))
      shared?.released(ticket)
    }
    releases.onReleaseRefused = { [context] ticket, trouble in
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
    (releases.onReleased, releases.onReleaseRefused) = (nil, nil)
  }

  func dismiss() {
    isDismissed = true
    serviceSupervisor.closeAll(at: context.now)
  }

  /// True if a service must already have a database: this coordinator succeeds a crashed one, and the service
  /// has written to its log.
  private func hadDatabase(of name: String) -> Bool {
    guard context.options.isRecovery else { return false }
    return ((try? FileMetadata.inspect(context.home.log(of: name)))?.size ?? 0) > 0
  }

  /// Replaces the stock and the vending machine if their settings or files have changed, after a reload.
  func renew(_ assortment: Assortment, _ products: ProductTable) {
    serviceSupervisor.policy = context.configuration.restarts
    for slot in serviceSupervisor.slots where slot.specification.workerRole != .web {
      let isStock = slot.specification.workerRole == .stock
      let specification = isStock ? stockSpecification : vendingSpecification
      let hasCurrentOrders = slot.sentOrders == nil || slot.sentOrders == orders(for: slot)
      let isAtWork = isStock ? activeAssortment == assortment : activeProducts == products
      if !hasCurrentOrders || slot.specification.arguments != specification.arguments || !isAtWork {
        slot.specification = specification
        serviceSupervisor.replace(slot, at: context.now)
      }
    }
  }

  /// Reason why a service cannot be queried now; nil if it can be queried, and while it starts without an earlier
  /// failure.
  func trouble(of role: WorkerRole) -> MessageDetail? {
    guard let slot = serviceSupervisor.slots.first(where: { $0.specification.workerRole == role }),
      slot.phase != .ready, slot.isGivenUp || slot.history.consecutiveDeaths > 0
    else { return nil }
    return slot.lastExitReason.map { MessageDetail(cannotBegin: $0) } ?? MessageDetail(.exitedAtOnce)
  }

  /// Settings that a service receives with its welcome.
  private func orders(for slot: SupervisedService) -> ServiceProcessSettings {
    let configuration = context.configuration
    return ServiceProcessSettings(
      name: slot.specification.name, generation: slot.generation,
      language: configuration.language ?? .english, logPath: context.home.log(of: slot.specification.name),
      logLimit: configuration.log.rotateBytes, logKeep: configuration.log.keep)
  }

  /// Asks the stock to release what cancelled tickets have reserved, and stores identities of the services' databases.
  func advance() {
    databaseIdentities.keep()
    if queue.engine.canCommit {
      do throws(StoreError) { try releases.advance(store, now: context.now.monotonic) } catch {
        queue.fail(error)
      }
    }
    if stock.nextDeadline != nil { stock.finishIteration() }
    if vending.nextDeadline != nil { vending.finishIteration() }
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
  func reserveForJuice() {
    // With an invalid file the present reservation stays.
    guard let assortment = activeAssortment ?? (try? files.readAssortment()) else { return }
    queue.engine.holdBack(forJuicesOf: assortment)
    queue.updateDiskSpace()
  }

  private var stockSpecification: SupervisedService.Specification {
    specification("stock", .stock, .stock, programs.stock, "--config", files.assortment)
  }

  private var vendingSpecification: SupervisedService.Specification {
    specification("vending", .vending, .vending, programs.vending, "--products", files.products)
  }

  /// Program and arguments of a service, with the option for its configuration file.
  private func specification(
    _ name: String, _ peer: PeerRole, _ worker: WorkerRole, _ program: String, _ option: String,
    _ file: String?
  ) -> SupervisedService.Specification {
    SupervisedService.Specification(
      name: name, peerRole: peer, workerRole: worker, program: program,
      arguments: ["--home", context.home.path] + (file.map { [option, $0] } ?? []))
  }

  private var files: BankFiles { context.options.files }

  /// Reads all files of the bank. Throws `badConfiguration` for the first invalid one.
  func readFiles() throws(Failure) -> (
    configuration: LoadedConfiguration, assortment: Assortment, products: ProductTable
  ) {
    do throws(ConfigurationError) { return try files.readAll() } catch {
      throw Failure(error, in: context.language)
    }
  }
}

extension MessageDetail {
  /// Reason why a process that exits repeatedly cannot start.
  fileprivate init(cannotBegin lastExitReason: MessageDetail) {
    switch lastExitReason.kind {
    case .processCode: self.init(.startFailedWithCode, lastExitReason.values.first ?? "")
    case .processSignal: self.init(.startFailedWithSignal, lastExitReason.values.first ?? "")
    case .literal, .processStatusUnknown, nil: self.init(.startFailed, lastExitReason)
    // The process has reported the reason itself.
    default: self = lastExitReason
    }
  }
}
