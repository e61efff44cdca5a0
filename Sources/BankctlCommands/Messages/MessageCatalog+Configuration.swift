// Sentences of `config show` and `config check`.
// `ConfigurationError` has the sentences about faulty files.
import Configuration

extension MessageCatalog {
  func configurationValid(_ files: BankFiles) -> String {
    let names = [files.configuration, files.assortment, files.products].compactMap(\.self)
    guard !names.isEmpty else {
      return say(
        "Configuration valid (no file; built-in defaults).",
        "설정이 올바릅니다(파일 없음, 모두 기본값).")
    }
    let list = names.joined(separator: ", ")
    return say("Configuration valid: \(list)", "설정이 올바릅니다: \(list)")
  }

  /// The path of the configuration file, and what has named this file.
  func shown(_ file: ChosenConfiguration?) -> String {
    guard let file else { return say("No configuration file", "설정 파일 없음") }
    let source =
      switch file.source {
      case .option: "--config"
      case .environment(let name): name
      case .home: say("the home's own", "홈의 파일")
      case .installation: say("the installation's", "설치된 파일")
      }
    return say("Configuration file", "설정 파일") + ": " + file.path + " (\(source))"
  }

  /// Text for the source of a setting: a line of the file, an option, a variable or the default.
  func source(_ source: SettingSource) -> String {
    switch source {
    case .builtIn: say("built in", "기본값")
    case .file(let line): say("line \(line)", "\(line)번째 줄")
    case .environment(let name), .option(let name): name
    }
  }

  /// Sentence: the open bank uses values that differ from those in the file.
  func differsInUse(_ settings: [EffectiveSetting]) -> String {
    let list = settings.map { "\($0.key) \($0.value.fileText)" }.joined(separator: ", ")
    return say(
      "The running bank uses other values: \(list). Make it read its file again with 'bankctl reload'.",
      "실행 중인 은행이 쓰는 값은 다릅니다: \(list). 은행이 파일을 다시 읽게 하려면 'bankctl reload'를 입력하세요.")
  }
}
