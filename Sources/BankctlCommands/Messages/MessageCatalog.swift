// Catalog of the sentences that the commands print, in one of two languages. The files `MessageCatalog+*.swift` contain
// the sentences by topic.
// A sentence is defined in both languages at the same place, so that neither is forgotten.
import Arguments
import BankModel

/// The sentences of bankctl in one language.
@dynamicMemberLookup
package struct MessageCatalog: Sendable {
  package let language: Language

  package var phrases: StringCatalog { StringCatalog(language) }
  var textLanguage: TextLanguage { language == .korean ? .korean : .english }

  /// A constant sentence of `FixedMessages`.
  package subscript(dynamicMember sentence: KeyPath<FixedMessages, Text>) -> String {
    FixedMessages.all[keyPath: sentence][textLanguage]
  }

  /// Returns the text in the language of the catalog.
  package func say(_ english: @autoclosure () -> String, _ korean: @autoclosure () -> String) -> String {
    language == .korean ? korean() : english()
  }

  /// A list with "or": `a, b or c`.
  func alternatives(_ words: [String]) -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "" }
    return say(words.dropLast().joined(separator: ", ") + " or " + last, words.joined(separator: ", "))
  }

  /// A text in parentheses, to be appended to its subject; empty for an empty text.
  func aside(_ words: String) -> String { words.isEmpty ? "" : say(" (\(words))", "(\(words))") }

  /// User input in quotes, safe to print and cut; see `safe(_:atMost:)`.
  package func quoted(_ text: String) -> String { "'\(safe(text))'" }

  /// Maximum length of a reason in Unicode scalars. The reason why a program cannot be run contains the paths of the
  /// program and of its interpreter.
  static let longestReason = 400

  /// User input, safe to print, cut after this number of Unicode scalars. Terminals obey control characters, so those
  /// are escaped.
  func safe(_ text: String, atMost limit: Int = 60) -> String {
    var shown = ""
    for (index, scalar) in text.unicodeScalars.enumerated() {
      if index == limit {
        shown += "…"
        break
      }
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        shown += "\\u{" + String(scalar.value, radix: 16) + "}"
      default: shown.unicodeScalars.append(scalar)
      }
    }
    return shown
  }

  /// Display name of a fruit or drink with this name in commands. An item that only the bank's own files
  /// contain is displayed under its name in commands.
  package func item(_ name: String) -> String {
    let id = ItemID(name)
    let known =
      Assortment.standard.fruits.first { $0.id == id }?.name(in: language)
      ?? ProductTable.standard[id].map { language == .korean ? $0.name : $0.english }
    return known ?? safe(name)
  }

  /// Display name of a juice with this name in commands. A juice that only the bank's own files contain is
  /// displayed under its name in commands.
  func juice(_ name: String) -> String {
    Assortment.standard.juices.first { $0.id == ItemID(name) }?.name(in: language) ?? safe(name)
  }

  /// A brand in the language of the sentence. The built-in brands have names in both languages; others are shown as
  /// configured.
  func brand(_ name: String) -> String { phrases.brand(name) }

  /// A number with commas: `1,234,567`.
  package static func grouped(_ number: some BinaryInteger) -> String { StringCatalog.grouped(number) }
}
