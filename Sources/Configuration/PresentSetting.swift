// Owns what is shown of a configuration: every setting with its value and where that comes from, and how a choice that was
// made beside the file goes before what the file says.
// Invariant: a value is written as a file would have it, so what is shown can be put into one.

import Arguments
import BankModel
import Posix

/// The value of a setting, as a file has it.
public enum SettingValue: Sendable, Hashable {
  /// As if the setting were absent.
  case null
  case flag(Bool)
  case number(Int64)
  /// A number in thousandths: 250 is 0.25.
  case thousandths(Int32)
  /// A length of time, a speed or a language, none of which needs an escape.
  case text(String)
  /// Any text.
  case words(String)
  case list([String])
  /// Texts by their keys, in the order of the keys.
  case table(Variables)

  /// The value as it stands in a file: `"10s"`, `5`, `true`.
  public var written: String {
    switch self {
    case .null: "null"
    case .flag(let flag): "\(flag)"
    case .number(let number): "\(number)"
    case .thousandths(let thousandths): FractionText.print(thousandths)
    case .text(let text): "\"\(text)\""
    case .words(let text): Self.quoted(text)
    case .list(let words): "[\(words.map(Self.quoted).joined(separator: ", "))]"
    case .table(let table):
      "{\(table.inOrder.map { "\(Self.quoted($0.key)): \(Self.quoted($0.value))" }.joined(separator: ", "))}"
    }
  }

  /// A text as JSON has it (RFC 8259, section 7).
  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case "\u{0}"..<" ":
        let code = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - code.count) + code
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}

/// Where the value of a setting comes from.
public enum SettingSource: Sendable, Hashable {
  case builtIn
  /// The file; the line is that of the value, from 1.
  case file(line: Int)
  /// This variable of the environment.
  case environment(String)
  /// This option of a command line, with its dashes.
  case option(String)
}

/// What whoever opens a bank can choose beside the file.
public enum SettingChoice: Sendable, Hashable {
  /// Windows of a service.
  case windows(ServiceName, Int32)
  case speed(Speed)
  case language(Language)
  /// Where shared books are.
  case store(StoreAddress)

  /// The key of the setting that is chosen.
  public var key: String {
    switch self {
    case .windows(let service, _): Setting.windowsKey(service)
    case .speed: Setting.speedKey
    case .language: Setting.languageKey
    case .store: Setting.storeAddressKey
    }
  }
}

extension BankConfiguration {
  /// Puts a choice in the place of what the file says.
  public mutating func adopt(_ choice: SettingChoice) {
    switch choice {
    case .windows(let service, let count): windows[service] = count
    case .speed(let speed): self.speed = speed
    case .language(let language): self.language = language
    case .store(let address): store.address = address
    }
  }
}

/// One setting as it is now.
public struct PresentSetting: Sendable, Hashable {
  /// The key with those above it: `log.keep`.
  public var key: String
  /// The value as a file has it.
  public var value: SettingValue
  /// Where the value comes from.
  public var source: SettingSource
}

extension ReadConfiguration {
  /// Every setting with its present value, in the order in which `config/bank.json` has them.
  /// - Parameter choices: What was chosen beside the file, and by what.
  public func settings(with choices: [(SettingChoice, SettingSource)] = []) -> [PresentSetting] {
    var present = configuration
    var sources = lines.mapValues { SettingSource.file(line: $0) }
    for (choice, source) in choices {
      present.adopt(choice)
      sources[choice.key] = source
    }
    return Setting.all(in: present).compactMap { setting in
      let source = sources[setting.key] ?? .builtIn
      guard source != .builtIn || !setting.isHiddenUntilSaid else { return nil }
      return PresentSetting(key: setting.key, value: setting.value(in: present), source: source)
    }
  }

  /// What an earlier reading says otherwise than this one, setting by setting.
  public func differences(in earlier: ReadConfiguration) -> [PresentSetting] {
    let present = Dictionary(uniqueKeysWithValues: settings().map { ($0.key, $0.value) })
    let former = earlier.settings()
    let keys = Set(former.map(\.key))
    // Of a service that only one of them names there is nothing to compare with: it is the one that says so.
    return former.filter { present[$0.key] != $0.value } + settings().filter { !keys.contains($0.key) }
  }
}
