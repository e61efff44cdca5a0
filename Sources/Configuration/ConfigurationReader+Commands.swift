// Owns the step from JSON to what a service's command is: its words, its directory, its environment, and what its endings mean.
// Invariant: nothing is taken that execve(2) would not: no zero byte, no name of a variable with "=" in it.

import BankModel
import Posix

extension ConfigurationReader {
  /// Words of a command at most.
  private static let mostWords = 1_000
  /// The longest word, and the longest value of a variable, in bytes. MAX_ARG_STRLEN, execve(2)
  private static let longestWord = (128 << 10) - 1

  /// The program and its words; none at all where customers bring them.
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

  /// A program that is started before its customers come, and its words.
  func program() throws(ConfigurationError) -> [String] {
    let words = try command()
    if words.isEmpty { throw fail(.noWords) }
    for (word, part) in zip(words, try elements(atMost: Self.mostWords))
    where word == "{payload}" || word == "{key}" { throw part.fail(.wordOfCustomer(word)) }
    return words
  }

  /// A directory by its whole path.
  func directory() throws(ConfigurationError) -> String {
    let path = try word()
    guard path.hasPrefix("/") else { throw fail(.notAbsolute(path)) }
    return path
  }

  /// Variables of an environment.
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

  /// A mask of new files, as `umask(1)` writes it.
  func mask() throws(ConfigurationError) -> UInt32 {
    let text = try text(atMost: 8)
    guard let mask = FileMask.mask(text) else { throw fail(.badMask(text)) }
    return mask
  }

  /// What endings mean.
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

  /// One of the accounts that a transfer can move.
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
