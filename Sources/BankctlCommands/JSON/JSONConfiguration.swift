// JSON of `config show` and `config check`.
// Invariant: fields are added and not changed, because scripts depend on them.
import Configuration
@_exported import JSONOutput

extension JSONValue {
  /// JSON of `config check` for valid files.
  static func checked(_ files: BankFiles) -> JSONValue {
    (["version": 1, "ok": true] as JSONValue).adding(.path(files.configuration, named: "file"))
      .adding(.path(files.assortment, named: "stock_file"))
      .adding(.path(files.products, named: "vending_file"))
  }

  /// JSON of `config show`.
  /// - Parameter inUse: Settings that differ in an open bank.
  static func settings(
    _ settings: [EffectiveSetting], of file: ChosenConfiguration?, inUse: [EffectiveSetting]
  ) -> JSONValue {
    (["version": 1] as JSONValue).adding(.path(file?.path, named: "file")).adding([
      "file_source": .init(file?.source.name),
      "settings": .array(
        settings.map { setting in
          guard let other = inUse.first(where: { $0.key == setting.key }) else {
            return Self.setting(setting)
          }
          return Self.setting(setting).adding(["in_use": .init(other.value)])
        }),
    ])
  }

  /// One setting with its key, value, source and line.
  private static func setting(_ setting: EffectiveSetting) -> JSONValue {
    let (source, line): (String, Int?) =
      switch setting.source {
      case .builtIn: ("default", nil)
      case .file(let line): ("file", line)
      case .environment: ("environment", nil)
      case .option: ("option", nil)
      }
    return [
      "key": .string(setting.key), "value": .init(setting.value), "source": .string(source),
      "line": .init(line),
    ]
  }

  /// The value of a setting as in a configuration file.
  private init(_ value: SettingValue) {
    self =
      switch value {
      case .null: .null
      case .flag(let flag): .bool(flag)
      case .number(let number): .integer(number)
      case .thousandths(let number): .thousandths(number)
      case .text(let text), .words(let text): .string(text)
      case .list(let words): .array(words.map { .string($0) })
      case .table(let table):
        .object(
          table.inOrder.map { JSONValue.Field(name: $0.key, value: .string($0.value)) })
      }
  }
}

extension ChosenConfiguration.ConfigurationSource {
  /// The name in JSON.
  fileprivate var name: String {
    switch self {
    case .option: "option"
    case .environment: "environment"
    case .home: "home"
    case .installation: "installation"
    }
  }
}
