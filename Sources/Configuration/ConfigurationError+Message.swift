// Sentences for a refused configuration, in English and Korean.
// Invariant: a message is one line. Text from the file is truncated, and its control characters are escaped. In
// Korean, particles whose form depends on the last sound of an inserted word are avoided where possible.

import BankModel
import JSON

extension ConfigurationError {
  /// The sentence for users: `config/bank.json:2: unknown key "windws" — did you mean "windows"?`
  public func message(in language: Language) -> String {
    let place = line.map { "\(shown(path)):\($0)" } ?? shown(path)
    return "\(place): \(language == .korean ? korean : english)"
  }

  private var english: String {
    let subject = quoted(key ?? "")
    switch reason {
    case .notFound: return "there is no such file; check the path, or omit the option"
    case .notAFile: return "not a regular file"
    case .unreadable(let why): return "the file cannot be read: \(why)"
    case .tooLong: return "the file is too large (more than 1 MiB)"
    case .syntax(let reason): return "this is not JSON: \(english(reason))"
    case .unknownKey(let suggestion):
      let hint = suggestion.map { "did you mean \(quoted($0))?" } ?? "remove it"
      return "unknown key \(subject) — \(hint)"
    case .renamedKey(let name): return "\(subject) has another name now: write \(quoted(name))"
    case .duplicateKey: return "\(subject) appears twice; keep one of them"
    case .wrongKind(let expected, let found):
      return "\(subject) is \(found.labels.english); write \(expected.labels.english)"
    case .notWhole(let text):
      return "\(subject) is \(shown(text)), which is not a 64-bit integer"
    case .notAFraction(let text):
      return
        "\(subject) is \(shown(text)); write a number from 0 to 1 with at most three places, such as 0.25"
    case .duration(let text, let failure):
      return "\(subject) is \(quoted(text)), which is not a duration. \(failure.advice(in: .english))"
    case .speed(let text, let failure):
      return "\(subject) is \(quoted(text)), which is not a speed. \(failure.advice(in: .english))"
    case .language(let text): return "\(subject) is \(quoted(text)); write \"ko\" or \"en\""
    case .address(let fault): return "\(subject) \(fault.message(in: .english))"
    case .outOfRange(let text, let from, let to):
      return "\(subject) is \(shown(text)); write a value from \(from) to \(to)"
    case .retryOrder(let first, let limit):
      return
        "\(subject) is \(limit), shorter than \(quoted(firstDelayKey)) (\(first)); make it at least as long"
    case .missing(let name):
      return "\(quoted(name)) is missing\(key.map { " in \(quoted($0))" } ?? ""); add it"
    case .empty: return "\(subject) must not be empty"
    case .tooMany(let limit): return "\(subject) has more than \(limit); reduce it"
    case .badText(let limit):
      return "\(subject) is not a valid name; write 1 to \(limit) characters on one line"
    case .badServiceName(let name):
      return
        "\(quoted(name)) (\(subject)) is not a valid service name; write 1 to \(ServiceName.longest) lower-case "
        + "letters, digits, "
        + "\"_\", \".\" and \"-\", beginning with a letter or a digit"
    case .tooManyServices(let limit):
      return "\(subject) exceeds the limit of \(limit) services; reduce it"
    case .badName(let name):
      return
        "\(subject) is \(quoted(name)); write lower-case letters, digits and \"-\", beginning with a letter"
    case .duplicateName(let name):
      return "the name \(quoted(name)) is used twice (\(subject)); names must differ"
    case .unknownFruit(let name, let suggestion):
      let hint = suggestion.map { "did you mean \(quoted($0))?" } ?? "add it to the fruits"
      return "there is no fruit \(quoted(name)) (\(subject)) — \(hint)"
    case .missingProgram:
      return "\(subject) must not be empty; write the name or path of a program and its arguments"
    case .placeholderOfCustomer(let word):
      return
        "\(subject) is \(quoted(word)), but placeholders are not allowed in \"worker\", which starts before its "
        + "customers arrive; remove it"
    case .noProgram(let word):
      return "\(subject) is \(quoted(word)); begin with the name or path of a program"
    case .notAbsolute(let path): return "\(subject) is \(quoted(path)); write an absolute path"
    case .badVariable(let name):
      return
        "\(quoted(name)) (\(subject)) is not a valid variable name; omit \"=\", and do not begin with \"BANK_\", which "
        + "is reserved"
    case .badMask(let text):
      return "\(subject) is \(quoted(text)); write an octal umask such as \"022\""
    case .badExitKey(let name):
      return
        "\(quoted(name)) (\(subject)) is not an exit condition; write a code from 0 to 255, \"signal\", \"timeout\" or "
        + "\"other\""
    case .invalidArgument:
      return "\(subject) is too long for an argument of a command, or contains a NUL byte"
    case .noKind: return "\(subject) needs one of \(list(ServiceKind.allCases))"
    case .twoKinds(let one, let line, let other, let otherLine):
      return
        "\(subject) has both \(quoted(one)) (line \(line)) and \(quoted(other)) (line \(otherLine)); a service can "
        + "have only one: remove one"
    case .notOfKind(let kind, let kinds):
      return
        "\(subject) is for services with \(list(kinds, "or")), and this one has \(quoted(kind.rawValue)); remove it"
    case .windowsOutside(let count):
      return
        "\(subject) is \(shown(count)), but the programs of a service with \"outside\" connect by themselves and have "
        + "no windows; remove it"
    case .noSuchProgram(let name):
      return "\(subject): there is no program \(quoted(name)); install it, or write its absolute path"
    case .notExecutable(let name, let why):
      return
        "\(subject): \(quoted(name)) cannot be run (\(shown(why, atMost: 400))); make it executable, or use another"
    case .sameAccount(let name):
      return "\(subject) debits and credits \(quoted(name)); use a different account for one of the two"
    case .notAChoice(let text, let choices):
      return "\(subject) is \(quoted(text)); write one of \(choices.map(quoted).joined(separator: ", "))"
    }
  }

  private var korean: String {
    let subject = quoted(key ?? "")
    switch reason {
    case .notFound: return "이 파일이 없습니다. 경로를 확인하거나 옵션을 빼세요."
    case .notAFile: return "일반 파일이 아닙니다. 파일을 지정하세요."
    case .unreadable(let why): return "파일을 읽을 수 없습니다: \(why)"
    case .tooLong: return "설정 파일이 1 MiB보다 깁니다. 다른 파일을 지정하세요."
    case .syntax(let reason): return "JSON 형식이 아닙니다: \(korean(reason))"
    case .unknownKey(let suggestion):
      let hint = suggestion.map { "혹시 \(quoted($0))인가요?" } ?? "이 키를 지우세요."
      return "알 수 없는 키입니다: \(subject). \(hint)"
    case .renamedKey(let name): return "\(subject) 설정의 이름이 바뀌었습니다. \(quoted(name))로 쓰세요."
    case .duplicateKey: return "키가 두 번 나옵니다: \(subject). 하나만 남기세요."
    case .wrongKind(let expected, let found):
      return "\(subject) 값의 종류가 다릅니다 (\(found.labels.korean)). \(expected.labels.korean) 형식으로 쓰세요."
    case .notWhole(let text): return "\(subject) 값이 64비트 정수가 아닙니다: \(shown(text)). 정수를 쓰세요."
    case .notAFraction(let text):
      return "\(subject) 값이 범위를 벗어났습니다: \(shown(text)). 0 이상 1 이하의 수를 0.25처럼 소수점 아래 세 자리까지로 쓰세요."
    case .duration(let text, let failure):
      return "\(subject) 값이 시간이 아닙니다: \(quoted(text)). \(failure.advice(in: .korean))"
    case .speed(let text, let failure):
      return "\(subject) 값이 속도가 아닙니다: \(quoted(text)). \(failure.advice(in: .korean))"
    case .address(let fault): return "\(subject) \(fault.message(in: .korean))."
    case .language(let text): return "\(subject) 값이 언어가 아닙니다: \(quoted(text)). \"ko\" 또는 \"en\"을 쓰세요."
    case .outOfRange(let text, let from, let to):
      return "\(subject) 값이 범위를 벗어났습니다: \(shown(text)). \(from) 이상 \(to) 이하로 쓰세요."
    case .retryOrder(let first, let limit):
      return "\(subject) 값(\(limit))이 \(quoted(firstDelayKey)) 값(\(first))보다 짧습니다. 같거나 길게 쓰세요."
    case .missing(let name):
      return "빠진 키가 있습니다: \(quoted(name))\(key.map { " (\(shown($0)))" } ?? ""). 써 넣으세요."
    case .empty: return "\(subject) 값이 비어 있습니다. 하나 이상 쓰세요."
    case .tooMany(let limit): return "\(subject) 값이 \(limit)개보다 많습니다. 줄이세요."
    case .badText(let limit): return "\(subject) 값이 이름이 아닙니다. 한 줄로 1자 이상 \(limit)자 이하로 쓰세요."
    case .badServiceName(let name):
      return
        "업무 이름으로 쓸 수 없습니다: \(quoted(name)) (\(subject)). 영어 소문자나 숫자로 시작해 소문자, 숫자, \"_\", \".\", \"-\"만 1자 이상 "
        + "\(ServiceName.longest)자 이하로 쓰세요."
    case .tooManyServices(let limit):
      return "업무는 \(limit)개까지 쓸 수 있습니다: \(subject). 줄이세요."
    case .badName(let name):
      return "\(subject) 값이 올바르지 않습니다: \(quoted(name)). 영어 소문자로 시작해 소문자, 숫자, \"-\"만 쓰세요."
    case .duplicateName(let name): return "같은 이름이 두 번 나옵니다: \(quoted(name)) (\(subject)). 서로 다르게 쓰세요."
    case .unknownFruit(let name, let suggestion):
      let hint = suggestion.map { "혹시 \(quoted($0))인가요?" } ?? "과일 목록에 먼저 쓰세요."
      return "없는 과일입니다: \(quoted(name)) (\(subject)). \(hint)"
    case .missingProgram: return "\(subject) 값이 비어 있습니다. 프로그램의 이름이나 경로와 그 인수를 쓰세요."
    case .placeholderOfCustomer(let word):
      return
        "\(subject)에는 다음을 쓸 수 없습니다: \(quoted(word)). \"worker\"는 고객이 오기 전에 시작하므로 자리표시자를 쓸 수 없습니다. 지우세요."
    case .noProgram(let word): return "\(subject) 값이 프로그램이 아닙니다: \(quoted(word)). 프로그램의 이름이나 경로로 시작하세요."
    case .notAbsolute(let path): return "\(subject) 값이 전체 경로가 아닙니다: \(quoted(path)). \"/\"부터 쓰세요."
    case .badVariable(let name):
      return
        "환경 변수의 이름으로 쓸 수 없습니다: \(quoted(name)) (\(subject)). \"=\"를 빼고, 은행이 정하는 \"BANK_\"로 시작하지 마세요."
    case .badMask(let text):
      return "\(subject) 값이 umask가 아닙니다: \(quoted(text)). \"022\"처럼 뺄 권한을 8진수로 쓰세요."
    case .badExitKey(let name):
      return
        "종료 방식이 아닙니다: \(quoted(name)) (\(subject)). 0부터 255까지의 코드나 \"signal\", \"timeout\", \"other\"를 쓰세요."
    case .invalidArgument: return "\(subject) 값이 명령의 인수로는 너무 길거나 널 바이트가 들어 있습니다. 다르게 쓰세요."
    case .noKind: return "처리 방식이 없습니다: \(subject). \(list(ServiceKind.allCases)) 중 하나를 쓰세요."
    case .twoKinds(let one, let line, let other, let otherLine):
      return
        "\(subject)에 다음이 함께 있습니다: \(quoted(one)) (\(line)번째 줄), \(quoted(other)) (\(otherLine)번째 줄). 업무는 하나로만 정할 수 있으니 하나를 지우세요."
    case .notOfKind(let kind, let kinds):
      return
        "다음 키가 있는 업무에만 쓰는 설정입니다: \(list(kinds)). 이 업무에 있는 키는 다르니(\(quoted(kind.rawValue))) 지우세요: \(subject)."
    case .windowsOutside(let count):
      return
        "\"outside\" 업무의 프로그램은 스스로 연결하므로 창구가 없습니다. 지우세요: \(subject) (\(shown(count)))."
    case .noSuchProgram(let name):
      return "프로그램이 없습니다: \(quoted(name)) (\(subject)). 설치하거나 전체 경로를 쓰세요."
    case .notExecutable(let name, let why):
      return
        "프로그램을 실행할 수 없습니다: \(quoted(name)) (\(subject), \(shown(why, atMost: 400))). 실행 권한을 주거나 다른 프로그램을 쓰세요."
    case .sameAccount(let name):
      return "\(subject)에서 debit과 credit이 모두 \(quoted(name))입니다. 둘 중 하나를 다른 계정으로 쓰세요."
    case .notAChoice(let text, let choices):
      return
        "\(subject) 값이 올바르지 않습니다: \(quoted(text)). \(choices.map(quoted).joined(separator: ", ")) 중에서 고르세요."
    }
  }

  /// The members that select these kinds of service: `"run", "worker" or "outside"`. Without a conjunction,
  /// the list contains only commas.
  private func list(_ kinds: [ServiceKind], _ or: String? = nil) -> String {
    let labels = kinds.map { quoted($0.rawValue) }
    guard let or, let last = labels.last, labels.count > 1 else { return labels.joined(separator: ", ") }
    return labels.dropLast().joined(separator: ", ") + " \(or) \(last)"
  }

  /// Key of the initial delay that belongs to the faulty maximum delay.
  private var firstDelayKey: String {
    let key = key ?? ""
    return key.hasSuffix("max_delay") ? key.dropLast("max_delay".count) + "initial_delay" : key
  }

  private func english(_ reason: JSONFault.Reason) -> String {
    switch reason {
    case .unexpectedEnd: "the file ends too early; a brace, a quote or a value is missing"
    case .unexpected(let character):
      "\(quoted(character)) is not allowed here; look for a missing comma or quote"
    case .notUTF8: "a string is not UTF-8; save the file as UTF-8"
    case .controlCharacter:
      "a string continues past the end of its line, or contains a control character; close its quote"
    case .badEscape: "invalid escape after a backslash; write \\\\ for a backslash"
    case .badNumber: "invalid number; write it like 10 or 0.5"
    case .tooDeep: "braces are nested too deeply"
    case .trailing: "there is text after the closing brace; remove it"
    }
  }

  private func korean(_ reason: JSONFault.Reason) -> String {
    switch reason {
    case .unexpectedEnd: "파일이 너무 일찍 끝납니다. 빠진 괄호나 따옴표, 값을 채우세요."
    case .unexpected(let character): "여기에 올 수 없는 문자입니다: \(quoted(character)). 빠진 쉼표나 따옴표를 찾아보세요."
    case .notUTF8: "문자열이 UTF-8이 아닙니다. 파일을 UTF-8로 저장하세요."
    case .controlCharacter: "따옴표가 닫히지 않았거나 제어 문자가 있습니다. 따옴표를 닫으세요."
    case .badEscape: "역슬래시 뒤에 JSON에 없는 문자가 있습니다. 역슬래시는 \\\\로 쓰세요."
    case .badNumber: "숫자의 형식이 다릅니다. 10, 0.5처럼 쓰세요."
    case .tooDeep: "괄호가 너무 깊이 겹쳐 있습니다. 단계를 줄이세요."
    case .trailing: "닫는 괄호 뒤에 다른 것이 있습니다. 지우세요."
    }
  }

  /// A text in quotes; see ``shown(_:atMost:)``.
  private func quoted(_ text: String) -> String { "\"\(shown(text))\"" }

  /// A text on one line, with control characters escaped, and truncated after `limit` characters.
  private func shown(_ text: String, atMost limit: Int = 80) -> String {
    let cut = text.count > limit ? text.prefix(limit) + "…" : text[...]
    return cut.unicodeScalars.reduce(into: "") { shown, scalar in
      let isControl =
        scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
      let breaks = scalar == "\u{2028}" || scalar == "\u{2029}"
      shown += isControl || breaks ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
    }
  }
}

extension JSONKind {
  /// Name of a kind of JSON value, as in messages.
  fileprivate var labels: (english: String, korean: String) {
    switch self {
    case .null: ("null", "null")
    case .bool: ("true or false", "참/거짓")
    case .number: ("a number", "숫자")
    case .string: ("a string", "문자열")
    case .array: ("a list", "목록")
    case .object: ("an object", "객체")
    }
  }
}

extension ConfigurationError.Expected {
  /// Expected value, as in messages.
  fileprivate var labels: (english: String, korean: String) {
    switch self {
    case .object: ("an object in braces", "중괄호 { }")
    case .wholeNumber: ("a whole number without quotes", "따옴표 없는 정수")
    case .fraction: ("a number from 0 to 1 without quotes", "따옴표 없는 0부터 1까지의 수")
    case .bool: ("true or false without quotes", "따옴표 없는 true/false")
    case .duration: ("a duration in quotes, such as \"700ms\" or \"5m\"", "\"700ms\", \"5m\" 같은 시간")
    case .speed: ("a number such as 10 or 0.5, or \"max\"", "10, 0.5 같은 숫자나 \"max\"")
    case .language: ("\"ko\" or \"en\"", "\"ko\"/\"en\"")
    case .list: ("a list in brackets", "대괄호 [ ]")
    case .text: ("a string in quotes", "따옴표 안의 문자열")
    }
  }
}
