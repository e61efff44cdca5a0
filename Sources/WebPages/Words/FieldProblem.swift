// Error in a field of a form or of an address, in both languages.
// Invariant: the sentence contains the name of the field, unless the whole form is invalid.
import BankModel

/// What is wrong with a field of a form or an address, as a page explains it.
public enum FieldProblem: Sendable, Equatable {
  /// Unknown field.
  case unknown(String)
  /// Missing field.
  case missing(String)
  /// Repeated field.
  case repeated(String)
  /// Field that cannot be combined with another field of the form.
  case excluded(String, by: String)
  /// Invalid value.
  case value(String)
  /// Invalid form.
  case form

  /// The sentence about the field in a language.
  public func text(_ language: Language) -> String {
    let messages = PageMessages(language: language)
    return switch self {
    case .unknown(let name):
      messages.localized(
        "Unknown field '\(name)'. Nothing was changed.", "'\(name)': 알 수 없는 항목입니다. 변경된 내용은 없습니다.")
    case .missing(let name):
      messages.localized(
        "The field '\(name)' is missing. Nothing was changed.", "'\(name)' 항목이 빠졌습니다. 변경된 내용은 없습니다.")
    case .repeated(let name):
      messages.localized(
        "The field '\(name)' appears more than once. Nothing was changed.",
        "'\(name)' 항목이 두 번 이상 있습니다. 변경된 내용은 없습니다.")
    case .excluded(let name, let other):
      messages.localized(
        "The fields '\(name)' and '\(other)' conflict. Nothing was changed.",
        "'\(name)' 항목과 '\(other)' 항목은 함께 쓸 수 없습니다. 변경된 내용은 없습니다.")
    case .value(let name):
      messages.localized(
        "The value of the field '\(name)' is not allowed. Nothing was changed.",
        "'\(name)' 항목의 값이 올바르지 않습니다. 변경된 내용은 없습니다.")
    case .form: messages.refusal(.badForm)
    }
  }
}
