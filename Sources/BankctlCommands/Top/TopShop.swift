// State of the stock and the vending machine in the dashboard.
// While the service is not connected, a notice is shown above the last state.
import BankModel
import StockClient
import VendingClient
import Wire

/// The stock and the vending machine, as the dashboard shows them.
struct TopShop {
  /// The juices and fruits; nil before the stock has sent them.
  var assortment: Assortment?
  private(set) var stock: StockSnapshot?
  private(set) var machine: VendingSnapshot?
  var isStockThere = false
  var isMachineThere = false
  /// Refusal of the subscription by the stock; nil without one.
  private(set) var stockRefusal: StockFailure?
  private(set) var machineRefusal: VendingFailure?

  /// Applies a snapshot or changes from the stock.
  mutating func handle(_ news: StockUpdate) {
    switch news {
    case .snapshot(let picture): (stock, stockRefusal) = (picture, nil)
    case .changes(let changes): stock?.apply(changes)
    case .refused(let failure): stockRefusal = failure
    }
  }

  /// Applies a snapshot or news from the vending machine.
  mutating func handle(_ update: VendingUpdate) {
    switch update {
    case .snapshot(let picture): (machine, machineRefusal) = (picture, nil)
    case .news(let news): machine?.apply(news)
    case .refused(let failure): machineRefusal = failure
    }
  }

  func stockLines(_ messages: MessageCatalog, _ palette: Palette, columns: Int) -> [String] {
    if let stockRefusal {
      return [palette.paint(messages.commandFailure(about: stockRefusal).message, .alarm)]
    }
    let absence = isStockThere ? [] : [palette.paint(messages.editorWaits, .alarm)]
    guard let stock, let assortment else { return absence }
    let menu = MenuRenderer(
      assortment: assortment, picture: stock.withoutDrinks(of: assortment), messages: messages,
      palette: palette,
      columns: columns)
    return absence + menu.lines
  }

  func machineLines(_ messages: MessageCatalog, _ palette: Palette, columns: Int) -> [String] {
    if let machineRefusal {
      return [palette.paint(messages.commandFailure(about: machineRefusal).message, .alarm)]
    }
    let absence = isMachineThere ? [] : [palette.paint(messages.machineWaits, .alarm)]
    guard let machine else { return absence }
    return absence
      + VendingListing(picture: machine, messages: messages, palette: palette, columns: columns).lines
  }
}
