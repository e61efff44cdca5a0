// Sentences about invalid lists of customers,
// due times, payloads and keys.
import Arguments
import BankModel
import Wire
import JSON
import Posix

extension MessageCatalog {
  func sentence(_ refusal: CustomerList.Refusal, file: String) -> String {
    let name = nameInside(file)
    return switch refusal {
    case .unreadable(let error):
      say(
        "The customers could not be read from \(name): \(error). No customers were added.",
        "\(name)에서 고객을 읽을 수 없습니다: \(error). 추가된 고객이 없습니다.")
    case .line(let number, let fault):
      say(
        "Line \(number) of \(name): \(sentence(fault)) No customers were added.",
        "\(name)의 \(number)번째 줄: \(sentence(fault)) 추가된 고객이 없습니다.")
    case .empty:
      say(
        "\(name) contains no customers; write one JSON object per line, such as {\"service\":\"deposit\"}. No "
          + "customers were added.",
        "\(name)에 고객이 없습니다. 한 줄에 {\"service\":\"deposit\"} 같은 JSON 객체를 쓰세요. 추가된 고객이 없습니다.")
    case .tooMany:
      say(
        "\(name) has more than \(Self.grouped(Limits.customersPerCommand)) customers; split it. No customers were "
          + "added.",
        "\(name)의 고객이 \(Self.grouped(Limits.customersPerCommand))명보다 많습니다. 파일을 나누세요. 추가된 고객이 없습니다.")
    }
  }

  /// Reason why a line of a list is refused.
  func sentence(_ fault: CustomerRecord.Fault) -> String {
    switch fault {
    case .tooLong(let limit):
      return say(
        "it is longer than \(Self.grouped(Int64(limit))) bytes.", "\(Self.grouped(Int64(limit)))바이트보다 깁니다.")
    case .noObject:
      return say(
        "not a JSON object such as {\"service\":\"deposit\"}.",
        "{\"service\":\"deposit\"} 같은 JSON 객체가 아닙니다.")
    case .json(let fault): return sentence(fault)
    case .unknownField(let name, let near):
      let known = CustomerRecord.Field.allCases.map(\.rawValue).joined(separator: ", ")
      return near.isEmpty
        ? say(
          "there is no field \(quoted(name)); known fields: \(known).",
          "\(quoted(name)) 항목은 없습니다. 쓸 수 있는 항목: \(known).")
        : say(
          "there is no field \(quoted(name)); did you mean \(alternatives(near))?",
          "\(quoted(name)) 항목은 없습니다. 혹시 \(alternatives(near))인가요?")
    case .repeatedField(let field):
      return say("the field '\(field.rawValue)' appears twice.", "'\(field.rawValue)' 항목이 두 번 있습니다.")
    case .wrongType(let field): return wrongType(field)
    case .unknownName(let field, let name, let near):
      let known = field == .service ? ServiceName.drawn.map(\.text) : Priority.gradeNames
      let offered = alternatives(near.isEmpty ? known : near)
      return say(
        "\(quoted(name)) is not a valid \(field.rawValue); did you mean \(offered)?",
        "'\(field.rawValue)' 값이 올바르지 않습니다: \(quoted(name)). \(offered) 중 하나를 쓰세요.")
    case .outOfRange(let field, let number, let range):
      return say(
        "'\(field.rawValue)' is \(number); it must be from \(Self.grouped(range.lowerBound)) to "
          + "\(Self.grouped(range.upperBound)).",
        "\(KoreanParticle.subject.on("'\(field.rawValue)'")) \(number)입니다. \(Self.grouped(range.lowerBound))부터 "
          + "\(Self.grouped(range.upperBound))까지여야 합니다.")
    case .badKey(let length): return badKey(length)
    case .twoPayloads:
      return say(
        "'payload' and 'payload_b64' are both given; use one of them.",
        "'payload'와 'payload_b64'가 모두 있습니다. 하나만 쓰세요.")
    case .badBase64(let place):
      return say(
        "'payload_b64' is not valid base64 at character \(place); use A–Z, a–z, 0–9, + and /, padded with = to groups "
          + "of four.",
        "'payload_b64'의 \(place)번째 글자가 올바른 base64가 아닙니다. A–Z, a–z, 0–9, +, /를 쓰고 네 글자가 되도록 =로 채우세요.")
    case .twoMoments:
      return say("'at' and 'in' are both given; use one of them.", "'at'과 'in'이 모두 있습니다. 하나만 쓰세요.")
    case .noMoment(let text):
      return say(
        "'at' \(quoted(text)) is not a date and time; write it like 2026-11-24T09:00:00Z.",
        "'at' 값 \(KoreanParticle.topic.on(quoted(text))) 올바른 시각이 아닙니다. 2026-11-24T09:00:00Z처럼 날짜와 시각을 입력하세요.")
    case .noDuration(let text, let failure):
      return say("'in' is not a duration: ", "'in' 값이 시간이 아닙니다: ") + quoted(text) + ". "
        + say(failure.advice(in: .english), failure.advice(in: .korean))
    case .tooFar(let field): return "'\(field.rawValue)': " + tooFarAhead
    case .payloadTooLong(let length):
      return say(
        "the payload has \(Self.grouped(length)) bytes; at most \(Self.grouped(Limits.payloadLength)) are allowed.",
        "페이로드가 \(Self.grouped(length))바이트입니다. \(Self.grouped(Limits.payloadLength))바이트까지 쓸 수 있습니다.")
    }
  }

  /// Reason why a due time is refused.
  func later(_ fault: ScheduledTime.Fault, option: String) -> String {
    switch fault {
    case .noMoment(let text):
      return say(
        "--\(option) \(quoted(text)) is not a date and time: write 2026-11-24T09:00:00Z (or with +09:00 for Z) or a "
          + "time of today (09:00).",
        "--\(option) \(KoreanParticle.topic.on(quoted(text))) 올바른 시각이 아닙니다. 날짜와 시각(2026-11-24T09:00:00Z, Z 대신 +09:00도 됨) 또는 "
          + "오늘의 시각(09:00)을 입력하세요.")
    case .passed(let text, let tomorrow):
      let moment = Timestamp.utc(milliseconds: tomorrow)
      return say(
        "--\(option) \(text): that time of today has passed; for tomorrow write --\(option) \(moment). No customers "
          + "were added.",
        "--\(option) \(text): 오늘의 그 시각은 지났습니다. 내일이라면 --\(option) \(KoreanParticle.object.on(moment)) 쓰세요. 추가된 고객이 없습니다."
      )
    case .tooFar(let text): return "--\(option) \(text): " + tooFarAhead
    }
  }

  private var tooFarAhead: String {
    let days = Self.grouped(Limits.delay / 86_400_000)
    return say(
      "customers can be scheduled at most \(days) days ahead.", "고객은 \(days)일 뒤까지만 예약할 수 있습니다.")
  }

  /// Appended to the sentence about issued tickets with a due time: they are not served before this time.
  func notBefore(_ moment: Int64) -> String {
    let instant = Timestamp.utc(milliseconds: moment)
    return say(", not before \(instant)", ", \(instant) 이후")
  }

  /// The option `--payload` as the start of a sentence.
  var payloadOption: String { say("The text of --payload", "--payload의 텍스트") }
  /// Name of a file within a sentence.
  private func nameInside(_ path: String) -> String {
    path == "-" ? say("standard input", "표준 입력") : quoted(path)
  }

  /// Name of a file at the start of a sentence.
  func file(_ path: String) -> String { path == "-" ? say("Standard input", "표준 입력") : quoted(path) }

  func payloadTooLong(_ place: String) -> String {
    let limit = Self.grouped(Limits.payloadLength)
    return say(
      "\(place) has more than \(limit) bytes, the limit; put the data in a file and pass its name. No customers were "
        + "added.",
      "\(KoreanParticle.subject.on(place)) 한도인 \(limit)바이트보다 깁니다. 데이터를 파일에 저장하고 파일 이름을 전달하세요. 추가된 "
        + "고객이 없습니다.")
  }

  func unreadablePayload(_ path: String, _ error: SystemError) -> String {
    say(
      "The payload could not be read from \(nameInside(path)): \(error). No customers were added.",
      "\(nameInside(path))에서 페이로드를 읽을 수 없습니다: \(error). 추가된 고객이 없습니다.")
  }

  var juiceIsOrdered: String {
    say(
      "--service: juice has its own command: use 'bankctl juice order'.",
      "--service: 쥬스에는 전용 명령이 있습니다. 'bankctl juice order'를 쓰세요.")
  }

  /// Sentence: a line of a list names a service that the bank does not have.
  func noSuchService(_ failure: Failure, line: Int64, file: String) -> String {
    let name = file == "-" ? say("standard input", "표준 입력") : quoted(file)
    let sentence = noSuchService(failure)
    return say(
      "Line \(line) of \(name): \(sentence) No customers were added.",
      "\(name)의 \(line)번째 줄: \(sentence) 추가된 고객이 없습니다.")
  }

  /// Sentence: a key is empty or too long.
  func badKey(_ length: Int) -> String {
    length == 0
      ? say("the key is empty; omit it or give one.", "키가 비어 있습니다. 빼거나 키를 지정하세요.")
      : say(
        "the key has \(length) bytes; at most \(Limits.keyLength) are allowed.",
        "키가 \(length)바이트입니다. \(Limits.keyLength)바이트까지 쓸 수 있습니다.")
  }

  /// Sentence: the value of a field has another JSON type than required.
  private func wrongType(_ field: CustomerRecord.Field) -> String {
    switch field {
    case .priority, .amount, .account:
      say(
        "'\(field.rawValue)' must be a whole number.",
        "\(KoreanParticle.topic.on("'\(field.rawValue)'")) 정수여야 합니다."
      )
    case .service, .grade, .key, .payload, .payloadBase64, .at, .after:
      say(
        "'\(field.rawValue)' must be a string in quotes.",
        "\(KoreanParticle.topic.on("'\(field.rawValue)'")) 따옴표로 묶은 문자열이어야 합니다.")
    }
  }

  private func sentence(_ fault: JSONFault) -> String {
    switch fault.reason {
    case .badEscape, .controlCharacter:
      say("not a valid JSON string at column \(fault.column).", "\(fault.column)번째 자리가 올바른 JSON 문자열이 아닙니다.")
    case .notUTF8: say("not UTF-8.", "UTF-8이 아닙니다.")
    default: say("not valid JSON at column \(fault.column).", "\(fault.column)번째 자리가 올바른 JSON이 아닙니다.")
    }
  }
}
