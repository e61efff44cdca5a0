// Conversion from JSON to a service's command: arguments, directory, environment, and the meanings of its
// exit codes and signals.
// Invariant: no text contains a zero byte or is longer than execve(2) allows, and no name of a variable contains "=".
// The total length of arguments and environment is not checked.

import BankModel
import Posix

extension ConfigurationReader {
  /// Maximum number of arguments of a command.
  private static let mostWords = 1_000
  /// Maximum length of an argument, and of the value of a variable, in bytes. Source: MAX_ARG_STRLEN in execve(2), 32
  /// pages of 4 KiB with the final zero byte.
  private static let longestWord = (128 << 10) - 1

  /// Program and arguments; empty if the payload of each customer contains them.
  func command() throws(ConfigurationError) -> [String] {
    let parts = try elements(atMost: Self.mostWords)
    var words: [String] = []
    for part in parts { words.append(try part.word()) }
    guard let program = words.first else { return [] }
    guard !program.isEmpty, program != "{payload}", program != "{key}" else {
      throw parts[0].fail(.noProgram(program))
    }
    return words
  }

  /// Program and arguments of a process that is started before it receives a customer.
  func program() throws(ConfigurationError) -> [String] {
    let words = try command()
    if words.isEmpty { throw fail(.noWords) }
    for (word, part) in zip(words, try elements(atMost: Self.mostWords))
    where word == "{payload}" || word == "{key}" { throw part.fail(.wordOfCustomer(word)) }
    return words
  }

  /// An absolute path of a directory.
  func directory() throws(ConfigurationError) -> String {
    let path = try word()
    guard path.hasPrefix("/") else { throw fail(.notAbsolute(path)) }
    return path
  }

  func variables() throws(ConfigurationError) -> Variables {
    var variables = Variables()
    for (name, value) in try freeMembers() {
      guard !name.isEmpty, name.utf8.count <= Self.longestWord, !name.utf8.contains(UInt8(ascii: "=")),
        !name.utf8.contains(0), !name.hasPrefix("BANK_")
      else { throw value.fail(.badVariable(name)) }
      let word = try value.word()
      guard variables[name] == nil else { throw value.fail(.duplicateKey) }
      variables[name] = word
    }
    return variables
  }

  /// An octal umask of three or four digits, as `umask(1)` prints it.
  func mask() throws(ConfigurationError) -> UInt32 {
    let text = try text(atMost: 8)
    guard let mask = FileMask.mask(text) else { throw fail(.badMask(text)) }
    return mask
  }

  /// Meanings by exit condition: an exit code, `signal`, `timeout` or `other`.
  func meanings() throws(ConfigurationError) -> [String: EndingMeaning] {
    var meanings: [String: EndingMeaning] = [:]
    for (name, value) in try freeMembers() {
      guard EndingMeaning.isKey(name) else { throw value.fail(.badEnding(name)) }
      let text = try value.text(atMost: 40)
      guard let meaning = EndingMeaning(rawValue: text) else {
        throw value.fail(.notAChoice(text, EndingMeaning.allCases.map(\.rawValue)))
      }
      guard meanings.updateValue(meaning, forKey: name) == nil else { throw value.fail(.duplicateKey) }
    }
    return meanings
  }

  /// An account that a transfer can debit or credit.
  func side() throws(ConfigurationError) -> PostingRule.Side {
    let name = try text(atMost: 40)
    guard let side = PostingRule.Side(name: name) else {
      throw fail(.notAChoice(name, PostingRule.Side.names))
    }
    return side
  }

  private func word() throws(ConfigurationError) -> String {
    guard case .string(let word) = node.content else {
      throw fail(.wrongKind(expected: .text, found: node.kind))
    }
    guard word.utf8.count <= Self.longestWord, !word.utf8.contains(0) else { throw fail(.badWord) }
    return word
  }
}
