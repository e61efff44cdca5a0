// Display preferences of a visitor: language, theme, and their cookies.
// Invariant: a chosen language overrides the browser's preference. English is the default if the browser
// prefers neither language.
import BankModel

/// Reads a visitor's display preferences, language and theme, from a request.
public enum Preferences {
  /// Cookie of the chosen language; not secret.
  public static let languageCookie = "bank-lang"
  /// Cookie of the chosen theme; not secret.
  public static let themeCookie = "bank-theme"

  /// The language from the query, the cookie, or the browser's preference, in this order.
  public static func language(of request: HTTPRequest) -> Language {
    for choice in [request.target.query["lang"], Cookies(request)[languageCookie]] {
      switch choice {
      case "ko": return .korean
      case "en": return .english
      default: continue
      }
    }
    return preferred(request.headers["accept-language"] ?? "")
  }

  /// The chosen theme: `dark`, `light`, or "" for the setting of the browser's system.
  public static func theme(of request: HTTPRequest) -> String {
    let choice = Cookies(request)[themeCookie] ?? ""
    return ["dark", "light"].contains(choice) ? choice : ""
  }

  /// Value of a `Set-Cookie` header that stores a visitor's choice.
  public static func cookie(_ name: String, _ value: String) -> String {
    "\(name)=\(value); Path=/; SameSite=Strict; Max-Age=31536000"
  }

  /// The language that an Accept-Language header prefers; English if it names neither Korean nor English (RFC 9110,
  /// section 12.5.4).
  static func preferred(_ header: String) -> Language {
    var best: (language: Language, weight: Int)?
    for range in header.split(separator: ",").prefix(32) {
      let parts = range.split(separator: ";")
      guard let tag = parts.first?.filter({ $0 != " " }).lowercased() else { continue }
      let language: Language? =
        tag == "ko" || tag.hasPrefix("ko-") ? .korean : tag == "en" || tag.hasPrefix("en-") ? .english : nil
      guard let language else { continue }
      let weight = parts.dropFirst().compactMap { Self.weight(of: $0) }.first ?? 1_000
      if weight > (best?.weight ?? 0) { best = (language, weight) }
    }
    return best?.language ?? .english
  }

  /// Weight of a parameter such as `q=0.8` in thousandths, here 800; nil for another parameter.
  private static func weight(of parameter: Substring) -> Int? {
    let text = parameter.filter { $0 != " " }
    guard text.hasPrefix("q=") else { return nil }
    let digits = text.dropFirst(2).split(separator: ".", maxSplits: 1)
    guard let whole = digits.first.flatMap({ Int($0) }), (0...1).contains(whole) else { return 0 }
    let fraction = digits.count == 2 ? String(digits[1].prefix(3)) : ""
    let padded = fraction + String(repeating: "0", count: 3 - fraction.count)
    return min(1_000, whole * 1_000 + (Int(padded) ?? 0))
  }
}
