// Owns nothing yet but the shape of the pages: each says its title and has an empty body.
// Invariant: every page is here.

extension BankPage {
  /// The name of the page.
  public func title(_ frame: PageFrame) -> String { "" }
  /// The parts that change.
  public func parts(_ frame: PageFrame) -> [Region] { [] }
  /// The page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML { "" }
}
extension KioskPage {
  /// The name of the page.
  public func title(_ frame: PageFrame) -> String { "" }
  /// The parts that change.
  public func parts(_ frame: PageFrame) -> [Region] { [] }
  /// The page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML { "" }
}
extension TicketPage {
  /// The name of the page.
  public func title(_ frame: PageFrame) -> String { "" }
  /// The parts that change.
  public func parts(_ frame: PageFrame) -> [Region] { [] }
  /// The page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML { "" }
}
extension LobbyPage {
  /// The name of the page.
  public func title(_ frame: PageFrame) -> String { "" }
  /// The parts that change.
  public func parts(_ frame: PageFrame) -> [Region] { [] }
  /// The page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML { "" }
}
extension WindowsPage {
  /// The name of the page.
  public func title(_ frame: PageFrame) -> String { "" }
  /// The parts that change.
  public func parts(_ frame: PageFrame) -> [Region] { [] }
  /// The page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML { "" }
}
extension WindowLogPage {
  /// The name of the page.
  public func title(_ frame: PageFrame) -> String { "" }
  /// The parts that change.
  public func parts(_ frame: PageFrame) -> [Region] { [] }
  /// The page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML { "" }
}
extension ServicesPage {
  /// The name of the page.
  public func title(_ frame: PageFrame) -> String { "" }
  /// The parts that change.
  public func parts(_ frame: PageFrame) -> [Region] { [] }
  /// The page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML { "" }
}
extension ConfirmPage {
  /// The name of the page.
  public func title(_ frame: PageFrame) -> String { "" }
  /// The parts that change.
  public func parts(_ frame: PageFrame) -> [Region] { [] }
  /// The page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML { "" }
}
extension LoginPage {
  /// The name of the page.
  public func title(_ frame: PageFrame) -> String { "" }
  /// The parts that change.
  public func parts(_ frame: PageFrame) -> [Region] { [] }
  /// The page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML { "" }
}
extension ErrorPage {
  /// The name of the page.
  public func title(_ frame: PageFrame) -> String { "" }
  /// The parts that change.
  public func parts(_ frame: PageFrame) -> [Region] { [] }
  /// The page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML { "" }
}
extension TicketsPage {
  /// The name of the page.
  public func title(_ frame: PageFrame) -> String { "" }
  /// The parts that change.
  public func parts(_ frame: PageFrame) -> [Region] { [] }
  /// The page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML { "" }
}
extension DeadPage {
  /// The name of the page.
  public func title(_ frame: PageFrame) -> String { "" }
  /// The parts that change.
  public func parts(_ frame: PageFrame) -> [Region] { [] }
  /// The page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML { "" }
}
extension ReceiptsPage {
  /// The name of the page.
  public func title(_ frame: PageFrame) -> String { "" }
  /// The parts that change.
  public func parts(_ frame: PageFrame) -> [Region] { [] }
  /// The page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML { "" }
}
extension AuditPage {
  /// The name of the page.
  public func title(_ frame: PageFrame) -> String { "" }
  /// The parts that change.
  public func parts(_ frame: PageFrame) -> [Region] { [] }
  /// The page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML { "" }
}
extension LedgerPage {
  /// The name of the page.
  public func title(_ frame: PageFrame) -> String { "" }
  /// The parts that change.
  public func parts(_ frame: PageFrame) -> [Region] { [] }
  /// The page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML { "" }
}
extension JuicePage {
  /// The name of the page.
  public func title(_ frame: PageFrame) -> String { "" }
  /// The parts that change.
  public func parts(_ frame: PageFrame) -> [Region] { [] }
  /// The page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML { "" }
}
extension StockPage {
  /// The name of the page.
  public func title(_ frame: PageFrame) -> String { "" }
  /// The parts that change.
  public func parts(_ frame: PageFrame) -> [Region] { [] }
  /// The page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML { "" }
}
extension VendingPage {
  /// The name of the page.
  public func title(_ frame: PageFrame) -> String { "" }
  /// The parts that change.
  public func parts(_ frame: PageFrame) -> [Region] { [] }
  /// The page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML { "" }
}
extension VendingAdminPage {
  /// The name of the page.
  public func title(_ frame: PageFrame) -> String { "" }
  /// The parts that change.
  public func parts(_ frame: PageFrame) -> [Region] { [] }
  /// The page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML { "" }
}
extension ManagerLoginPage {
  /// The name of the page.
  public func title(_ frame: PageFrame) -> String { "" }
  /// The parts that change.
  public func parts(_ frame: PageFrame) -> [Region] { [] }
  /// The page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML { "" }
}
