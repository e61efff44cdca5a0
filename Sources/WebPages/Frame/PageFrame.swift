// Properties of the viewer of a page, and the last notice.
// Invariant: a stream is encoded without `key`, `theme`, `server` and `notice`, so viewers whose frames differ only in
// these share one encoding.
import BankModel

/// Theme that a viewer has chosen: dark, light, or the setting of the viewer's system.
public enum Theme: String, Sendable, CaseIterable {
  /// Setting of the viewer's system.
  case automatic = ""
  case dark, light
}

/// What a page shows depending on its viewer: language, theme, rights, connection and last notice.
public struct PageFrame: Sendable, Equatable {
  /// Language of all texts.
  public var language: Language
  /// Chosen theme.
  public var theme: Theme
  /// Path of the page with its query: `/tickets?state=dead`. The stream of the page uses it.
  public var address: String
  /// Idempotency key of the forms of this document: at most 60 visible ASCII characters.
  public var key: String
  /// True if the viewer may send no form of this page that changes the bank.
  public var isReadOnly: Bool
  /// True if the page may kill workers.
  public var hasChaos: Bool
  /// True if the session has the rights of the vending machine's manager.
  public var isManager: Bool
  /// True on a public screen, which has no links to the operators' pages.
  public var isPublic: Bool
  /// Data with which the script recognises this server later: the id of its session and a key; "" for none.
  public var server: String
  /// True if the coordinator answers.
  public var isConnected: Bool
  /// True after the bank has closed.
  public var isClosed: Bool = false
  /// Result of the last form.
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

  /// Address without its query.
  public var path: String { String(address.prefix { $0 != "?" }) }
}
