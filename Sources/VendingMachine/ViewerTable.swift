// Owns who follows the machine, and what each of them has seen. It knows no rule of the machine.
// Invariant: a viewer gets every purchase behind its place, in order and once, and the products as they are now; one
// that does not read gets them when it reads, and what has changed twice meanwhile is told once.

import BankModel
import Wire

/// The viewers of a machine.
struct ViewerTable {
  /// Viewers of one client.
  static let viewersOfOne = 8
  /// Purchases in one message.
  static let page = 200

  private struct Viewer {
    var asker: VendingService.Asker
    var showsLots: Bool
    var sequence: Int64
    var version: UInt64
    var free: Won
    var today: DayNumber
    /// There was no room for everything that is new.
    var isBehind = false
  }

  private var viewers: [Viewer] = []

  /// Takes a viewer in, who gets a picture.
  ///
  /// - Returns: whether there was room for another view of this client.
  mutating func admit(_ asker: VendingService.Asker, showsLots: Bool, _ service: VendingService) -> Bool {
    guard viewers.count(where: { $0.asker.session === asker.session }) < Self.viewersOfOne else {
      return false
    }
    guard asker.session.channel.isOpen else { return true }
    let products = service.shelf.reports(on: service.today, withLots: showsLots)
    let picture = service.picture(products, withLots: showsLots)
    service.tell(asker, .picture(picture), more: true)
    viewers.append(
      Viewer(
        asker: asker, showsLots: showsLots, sequence: picture.sequence, version: service.shelf.version,
        free: picture.free, today: picture.today))
    return true
  }

  /// Forgets the views of a client that has left.
  mutating func remove(_ session: VendingSession) { viewers.removeAll { $0.asker.session === session } }

  /// Tells everybody what has changed, as far as they read. Nothing may be staged.
  mutating func tell(_ service: VendingService) {
    for place in viewers.indices {
      viewers[place].isBehind = true
      while viewers[place].isBehind, viewers[place].asker.hasRoom {
        guard let news = news(for: place, service) else {
          viewers[place].isBehind = false
          break
        }
        service.tell(viewers[place].asker, .news(news), more: true)
      }
    }
  }

  /// Whether a viewer that was behind has taken everything meanwhile.
  var hasMoreToSay: Bool { viewers.contains { $0.isBehind && $0.asker.hasRoom } }

  private mutating func news(for place: Int, _ service: VendingService) -> VendingNews? {
    let (viewer, machine) = (viewers[place], service.desk.machine)
    let isNewDay = viewer.today != service.today
    guard
      isNewDay || viewer.sequence < machine.settledSequence || viewer.version < service.shelf.version
        || viewer.free != machine.settledFree
    else { return nil }
    let purchases =
      viewer.sequence < machine.settledSequence ? self.purchases(after: viewer.sequence, service) : []
    let isWhole = purchases.count < Self.page
    let products = service.shelf.reports(
      on: service.today, withLots: viewer.showsLots, since: isNewDay ? nil : viewer.version)
    let news = VendingNews(
      sequence: isWhole ? machine.settledSequence : purchases.last?.sequence ?? viewer.sequence,
      balance: machine.settledAccount.balance, free: machine.settledFree, today: service.today,
      products: products, purchases: purchases)
    viewers[place].sequence = news.sequence
    viewers[place].version = service.shelf.version
    viewers[place].free = news.free
    viewers[place].today = news.today
    // Another item of the stock has changed, which is nothing to a viewer of drinks.
    let isNothing =
      !isNewDay && products.isEmpty && viewer.sequence == news.sequence && viewer.free == news.free
    return isNothing ? nil : news
  }

  /// Purchases behind a place: from memory for whoever keeps up, and from the disk for the others.
  private func purchases(after sequence: Int64, _ service: VendingService) -> [MoneyChange] {
    let recent = service.desk.recent
    if recent.count < VendingDesk.remembered || (recent.first?.sequence ?? 0) <= sequence + 1 {
      return Array(recent.drop { $0.sequence <= sequence }.prefix(Self.page))
    }
    return service.desk.purchases(after: sequence, limit: Self.page)
  }
}
