// Owns what customers of a history carry: it follows from the account, so that whoever knows the customer knows it, and takes
// no chance of the history's.
import BankModel

enum SimulatedPayload {
  /// Every third account carries something, some of them no bytes.
  static func of(_ account: AccountNumber) -> [UInt8]? {
    guard account % 3 == 0 else { return nil }
    return Array(repeating: Array("of \(account) ".utf8), count: Int(account % 5) * 40).flatMap(\.self)
  }

  /// What a customer of a service carries: whoever wants a juice carries nothing. Who has no account is known by the article.
  static func of(_ service: ServiceName, _ account: AccountNumber, _ article: String) -> [UInt8]? {
    service == .juice ? nil : of(JuiceOrder(article)?.account ?? account)
  }
}
