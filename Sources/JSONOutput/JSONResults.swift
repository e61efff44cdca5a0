// JSON of a work result.
// Invariant: UTF-8 bytes are a string, others are base64 under another key. The full length of a stream has a
// field of its own, because the stored part may be shorter.

import BankModel
import JSON
import Wire

extension JSONValue {
  /// The fields of a receipt with a result; empty without one.
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
      shape = shape.adding(stream("stderr", result.errors)).adding([
        "stderr_bytes": .init(result.errors.length)
      ])
    }
    if result.output.filed > 0 {
      shape = shape.adding(["output_file": .string("output/\(receipt.day)/\(receipt.ticket).out")])
    }
    if result.errors.filed > 0 {
      shape = shape.adding(["stderr_file": .string("output/\(receipt.day)/\(receipt.ticket).err")])
    }
    if let key = receipt.key { shape = shape.adding(["key": .string(key)]) }
    return shape
  }

  /// The stored excerpt of a stream. If bytes were left out, a field contains the number of bytes before the
  /// gap.
  private static func stream(_ name: String, _ excerpt: TruncatedOutput) -> JSONValue {
    let shape = bytesOrBase64(excerpt.bytes, as: name)
    return excerpt.isCut ? shape.adding(["\(name)_first_bytes": .init(Int64(excerpt.first.count))]) : shape
  }

  /// Bytes as text if they are UTF-8, otherwise as base64.
  package static func bytesOrBase64(_ bytes: [UInt8], as name: String) -> JSONValue {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      return .object([Field(name: name + "_b64", value: .string(Base64.encode(bytes)))])
    }
    return .object([Field(name: name, value: .string(text))])
  }
}
