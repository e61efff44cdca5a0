// Payloads of a history's customers. Each follows from the account, the service and the article alone, so it can be
// checked anywhere and draws nothing from the history's generators.
import BankModel

enum SimulatedPayload {
  /// Payload of an account, sometimes empty; nil for none.
  static func of(_ account: AccountNumber) -> [UInt8]? {
    guard account % 3 == 0 else { return nil }
    return Array(repeating: Array("of \(account) ".utf8), count: Int(account % 5) * 40).flatMap(\.self)
  }

  /// Payload of a service's customer; nil for the service `juice`. If the article contains an account number (see
  /// `JuiceOrder`), that number is used instead of `account`.
  static func of(_ service: ServiceName, _ account: AccountNumber, _ itemName: String) -> [UInt8]? {
    service == .juice ? nil : of(JuiceOrder(itemName)?.account ?? account)
  }
}
