// Conversion from JSON to a service's command: arguments, directory, environment, and the meanings of its
// exit codes and signals.
// Invariant: no argument, name or value contains a zero byte or is longer than execve(2) allows for one string,
// and no name of a variable contains "=". The total length of arguments and variables is not checked.

import BankModel
import Posix

extension ConfigurationReader {
  /// Maximum number of arguments of a command.
  private static let maxArguments = 1_000
  /// Maximum length of an argument, and of the name or the value of a variable, in bytes. Source: MAX_ARG_STRLEN in
  /// execve(2), 32 pages of 4 KiB with the final zero byte.
  private static let maxArgumentBytes = (128 << 10) - 1

  /// Program and arguments; empty if the payload of each customer contains them.
  func command() throws(ConfigurationError) -> [String] {
    let parts = try elements(atMost: Self.maxArguments)
    var arguments: [String] = []
    for part in parts { arguments.append(try part.argument()) }
    guard let program = arguments.first else { return [] }
    guard !program.isEmpty, program != "{payload}", program != "{key}" else {
      throw parts[0].fail(.noProgram(program))
    }
    return arguments
  }

  /// Program and arguments of a process that is started before it receives a customer.
  func program() throws(ConfigurationError) -> [String] {
    let arguments = try command()
    if arguments.isEmpty { throw fail(.missingProgram) }
    for (argument, part) in zip(arguments, try elements(atMost: Self.maxArguments))
    where argument == "{payload}" || argument == "{key}" { throw part.fail(.placeholderOfCustomer(argument)) }
    return arguments
  }

  /// An absolute path of a directory.
  func directory() throws(ConfigurationError) -> String {
    let path = try argument()
    guard path.hasPrefix("/") else { throw fail(.notAbsolute(path)) }
    return path
  }

  /// Variables of an environment, by name. Names that the bank sets are refused.
  func variables() throws(ConfigurationError) -> EnvironmentVariables {
    var variables = EnvironmentVariables()
    for (name, value) in try membersWithAnyKey() {
      guard !name.isEmpty, name.utf8.count <= Self.maxArgumentBytes, !name.utf8.contains(UInt8(ascii: "=")),
        !name.utf8.contains(0), !name.hasPrefix("BANK_")
      else { throw value.fail(.badVariable(name)) }
      let argument = try value.argument()
      // The kernel limits the text NAME=VALUE.
      guard name.utf8.count + 1 + argument.utf8.count <= Self.maxArgumentBytes else {
        throw value.fail(.invalidArgument)
      }
      guard variables[name] == nil else { throw value.fail(.duplicateKey) }
      variables[name] = argument
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
  func meanings() throws(ConfigurationError) -> [String: ExitMeaning] {
    var meanings: [String: ExitMeaning] = [:]
    for (name, value) in try membersWithAnyKey() {
      guard ExitMeaning.isKey(name) else { throw value.fail(.badExitKey(name)) }
      let text = try value.text(atMost: 40)
      guard let meaning = ExitMeaning(rawValue: text) else {
        throw value.fail(.notAChoice(text, ExitMeaning.allCases.map(\.rawValue)))
      }
      guard meanings.updateValue(meaning, forKey: name) == nil else { throw value.fail(.duplicateKey) }
    }
    return meanings
  }

  /// The value as the account that a transfer debits or credits.
  func side() throws(ConfigurationError) -> PostingRule.Side {
    let name = try text(atMost: 40)
    guard let side = PostingRule.Side(name: name) else {
      throw fail(.notAChoice(name, PostingRule.Side.names))
    }
    return side
  }

  /// A text that a program can receive as an argument.
  private func argument() throws(ConfigurationError) -> String {
    guard case .string(let argument) = node.content else {
      throw fail(.wrongKind(expected: .text, found: node.kind))
    }
    guard argument.utf8.count <= Self.maxArgumentBytes, !argument.utf8.contains(0) else {
      throw fail(.invalidArgument)
    }
    return argument
  }
}
