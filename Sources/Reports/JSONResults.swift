// Owns what a customer's work has left behind, as JSON.
// Invariant: bytes that are text stand as text, others in base64 under another key; a stream that was cut says its true length.

import BankModel
import JSON
import Wire

extension JSONValue {
  /// The fields of a receipt that only work with a result has; none of them where there is none.
  package static func result(_ receipt: ReceiptReport) -> JSONValue {
    guard let result = receipt.result else { return [:] }
    var shape = stream("result", result.output)
    shape = shape.adding(["result_bytes": .init(result.output.length)])
    switch result.ending {
    case .code(let code): shape = shape.adding(["exit_code": .init(code)])
    case .signal(let signal): shape = shape.adding(["signal": .init(signal)])
    case nil: break
    }
    shape = shape.adding(["duration_ms": .init(result.duration.milliseconds)])
    if result.errors.length > 0 {
      shape = shape.adding(stream("errors", result.errors)).adding([
        "errors_bytes": .init(result.errors.length)
      ])
    }
    if result.output.filed > 0 {
      shape = shape.adding(["output_file": .string("output/\(receipt.day)/\(receipt.ticket).out")])
    }
    if result.errors.filed > 0 {
      shape = shape.adding(["errors_file": .string("output/\(receipt.day)/\(receipt.ticket).err")])
    }
    if let key = receipt.key { shape = shape.adding(["key": .string(key)]) }
    return shape
  }

  /// What was kept of a stream. Of one that was cut, how many of the bytes are its first ones is said.
  private static func stream(_ name: String, _ excerpt: Excerpt) -> JSONValue {
    let shape = carried(excerpt.bytes, as: name)
    return excerpt.isCut ? shape.adding(["\(name)_first_bytes": .init(Int64(excerpt.first.count))]) : shape
  }

  /// Bytes: as text where they are one, else in base64.
  package static func carried(_ bytes: [UInt8], as name: String) -> JSONValue {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      return .object([Field(name: name + "_b64", value: .string(Base64.encode(bytes)))])
    }
    return .object([Field(name: name, value: .string(text))])
  }
}
