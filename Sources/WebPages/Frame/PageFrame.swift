// Owns what every page is told beyond its own values: who looks at it, how, and what was said to him last.
// Invariant: two viewers with equal frames but for `key` and `notice` get the same regions, so they share one encoding.
import BankModel

/// Dark or light.
public enum Theme: String, Sendable, CaseIterable {
  /// As the system of whoever looks has it.
  case automatic = ""
  case dark, light
}

/// What stands around a page.
public struct PageFrame: Sendable, Equatable {
  /// The language of everything.
  public var language: Language
  /// What was chosen.
  public var theme: Theme
  /// The path of the page, with its query: `/tickets?state=dead`. Events are asked for under it.
  public var address: String
  /// The idempotency key of the forms of this document: at most 64 letters and digits, at random.
  public var key: String
  /// No form can be sent.
  public var isReadOnly: Bool
  /// Tellers may be ended.
  public var hasChaos: Bool
  /// Whoever looks has the cookie of the vending machine's manager.
  public var isManager: Bool
  /// It is shown on a public screen, which has no way to the pages of the branch's own people.
  public var isPublic: Bool
  /// With what the script knows this server again: the name of its session and a key; "" for nothing.
  public var server: String
  /// The coordinator answers. Pages of the shop know for themselves whether theirs does.
  public var isConnected: Bool
  /// The bank has closed, and the page's server ends with it.
  public var isClosed: Bool = false
  /// What came of the last form.
  public var notice: Notice?

  public init(
    language: Language, theme: Theme = .automatic, address: String = "/", key: String = "",
    isReadOnly: Bool = false, hasChaos: Bool = false, isManager: Bool = false, isPublic: Bool = false,
    server: String = "", isConnected: Bool = true, notice: Notice? = nil
  ) {
    (self.language, self.theme, self.address, self.key) = (language, theme, address, key)
    (self.isReadOnly, self.hasChaos, self.isManager) = (isReadOnly, hasChaos, isManager)
    (self.isConnected, self.notice) = (isConnected, notice)
    (self.isPublic, self.server) = (isPublic, server)
  }

  /// The address without its query.
  public var path: String { String(address.prefix { $0 != "?" }) }
}
