// Display of a configuration: settings with their values and sources, and choices that override the file.
// Invariant: a value is printed in the syntax of the file, so it can be copied into a file.

import Arguments
import BankModel
import Posix

/// Value of a setting in the syntax of a file.
public enum SettingValue: Sendable, Hashable {
  /// The setting counts as absent.
  case null
  case flag(Bool)
  case number(Int64)
  /// Number in thousandths: 250 is 0.25.
  case thousandths(Int32)
  /// Text that needs no escapes, such as a duration, a speed or a umask.
  case text(String)
  /// Arbitrary text.
  case words(String)
  /// Program and arguments.
  case list([String])
  /// Texts by key, printed in the order of the keys.
  case table(EnvironmentVariables)

  /// The value in a file: `"10s"`, `5`, `true`.
  public var fileText: String {
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

  /// A JSON string (RFC 8259, section 7).
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

/// Source of a setting's value.
public enum SettingSource: Sendable, Hashable {
  /// The default of the program.
  case builtIn
  /// The file; `line` is the line of the value, from 1.
  case file(line: Int)
  /// The environment variable with this name.
  case environment(String)
  /// The command-line option with this name, including its dashes.
  case option(String)
}

/// One setting, and the value that the command line or the environment gives it in place of the file's value.
public enum SettingOverride: Sendable, Hashable {
  /// Number of windows of a service.
  case windows(ServiceName, Int32)
  case speed(Speed)
  case language(Language)
  /// Address of a shared database.
  case store(StoreAddress)

  /// Key of the overridden setting.
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
  /// Replaces the value of one setting by the value from the command line or the environment.
  public mutating func apply(_ choice: SettingOverride) {
    switch choice {
    case .windows(let service, let count): windows[service] = count
    case .speed(let speed): self.speed = speed
    case .language(let language): self.language = language
    case .store(let address): store.address = address
    }
  }
}

/// One setting with its present value, and where this value comes from.
public struct EffectiveSetting: Sendable, Hashable {
  /// The key with its groups: `log.keep_files`.
  public var key: String
  /// The value in the syntax of a file.
  public var value: SettingValue
  /// Source of the value.
  public var source: SettingSource
}

extension LoadedConfiguration {
  /// The settings with their present values: those of the bank, of the added services and of `run`. Omits settings
  /// of a service that were not set and that most services do not use.
  /// - Parameter choices: Choices that override the file, with their sources.
  public func settings(with choices: [(SettingOverride, SettingSource)] = []) -> [EffectiveSetting] {
    var present = configuration
    var sources = lines.mapValues { SettingSource.file(line: $0) }
    for (choice, source) in choices {
      present.apply(choice)
      sources[choice.key] = source
    }
    return Setting.all(in: present).compactMap { setting in
      let source = sources[setting.key] ?? .builtIn
      guard source != .builtIn || !setting.isHiddenUnlessSet else { return nil }
      return EffectiveSetting(key: setting.key, value: setting.value(in: present), source: source)
    }
  }

  /// The settings whose values differ from those in an earlier configuration. Each is returned with its earlier value.
  /// A setting of a service that the earlier configuration does not have is `null`.
  public func differences(in earlier: LoadedConfiguration) -> [EffectiveSetting] {
    let present = Dictionary(uniqueKeysWithValues: settings().map { ($0.key, $0.value) })
    let former = earlier.settings()
    let keys = Set(former.map(\.key))
    let earlierValues = Dictionary(
      uniqueKeysWithValues: Setting.all(in: earlier.configuration).map {
        ($0.key, $0.value(in: earlier.configuration))
      })
    return former.filter { present[$0.key] != $0.value }
      + settings().filter { !keys.contains($0.key) }.compactMap { setting in
        let value = earlierValues[setting.key] ?? .null
        guard value != setting.value else { return nil }
        return EffectiveSetting(key: setting.key, value: value, source: .builtIn)
      }
  }
}
