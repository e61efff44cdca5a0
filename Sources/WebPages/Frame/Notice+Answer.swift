// Answer to a form for the script in a page.
// Invariant: the answer contains complete sentences, so the script needs no texts.
import BankModel
import JSON

extension Notice {
  /// The sentence for the user in a language.
  public func text(_ language: Language) -> String { PageMessages(language: language).notice(self) }

  /// The answer to a form sent by the script (`Accept: application/json`), on one line: `{"notice":"added~10~1","tone":
  /// "done","text":"…"}`. A question has two more members:
  /// `"yes":{"text":"예","href":"/juice/stock"},"no":{"text":"아니오"}`.
  ///
  /// - Parameters:
  ///   - to: address that the script opens; nil to stay on the page.
  ///   - problem: the invalid field, if that is the reason for the refusal.
  public func json(
    _ language: Language, to address: String? = nil, because problem: FieldProblem? = nil
  ) -> String {
    let phrases = StringCatalog(language)
    var bytes: [UInt8] = []
    /// Appends a member with a text value, after a comma unless it is the first one.
    func put(_ name: String, _ text: String) {
      bytes.append(contentsOf: bytes.isEmpty || bytes.last == UInt8(ascii: "{") ? [] : [UInt8(ascii: ",")])
      JSONText.append(name, to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      JSONText.append(text, to: &bytes)
    }
    bytes.append(UInt8(ascii: "{"))
    put("notice", code)
    put("tone", tone.rawValue)
    put("text", problem?.text(language) ?? text(language))
    if let address { put("to", address) }
    if tone == .question {
      bytes.append(contentsOf: #","yes":{"#.utf8)
      put("text", phrases.yes)
      put("href", Self.stockEditor)
      bytes.append(contentsOf: #"},"no":{"#.utf8)
      put("text", phrases.no)
      bytes.append(UInt8(ascii: "}"))
    }
    bytes.append(UInt8(ascii: "}"))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Target of the answer "yes".
  static let stockEditor = "/juice/stock"
}
