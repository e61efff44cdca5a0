// Owns a command line as what a customer carries: its words, its directory, its environment and its bounds, as one JSON object.
// Invariant: a runner that reads it starts what would have been started here: nothing is added, no byte is changed, and no shell
// reads any of it. What is no UTF-8 is carried as base64.

import ByteText
import JSON
import Posix

struct CommandLinePayload {
  /// The program and its words.
  var words: [String]
  /// Where it starts.
  var directory: String
  /// Its whole environment, without what this bank says of itself.
  var environment: Variables
  /// Whether a client waits for its end, and ends with its code.
  var isWaited = false
  /// What it reads from its standard input.
  var input: [UInt8] = []
  /// The mask of its new files and its limits, as this program was started with them.
  var surroundings: Surroundings

  /// - Throws: where the present directory is gone.
  init(
    _ words: [String], _ environment: Variables, _ surroundings: Surroundings = .inherited
  ) throws(SystemError) {
    self.words = words
    directory = try Directory.current()
    self.environment = environment.filter { !$0.key.hasPrefix("BANK_") }
    self.surroundings = surroundings
  }

  /// `{"command":["make","all"],"directory":"/src","environment":{"PATH":"/bin"},"umask":"0022","limits":{"nofile":[1024,4096]}}`
  var bytes: [UInt8] {
    var fields: [JSONValue.Field] = []
    func add(_ name: String, _ value: JSONValue) { fields.append(JSONValue.Field(name: name, value: value)) }
    if words.contains(where: ByteText.carriesForeignBytes) {
      add("command_b64", .array(words.map(Self.encoded)))
    } else {
      add("command", .array(words.map { .string($0) }))
    }
    if ByteText.carriesForeignBytes(directory) {
      add("directory_b64", Self.encoded(directory))
    } else {
      add("directory", .string(directory))
    }
    let isText = { (name: String, value: String) in
      !ByteText.carriesForeignBytes(name) && !ByteText.carriesForeignBytes(value)
    }
    add(
      "environment",
      .object(
        environment.inOrder.filter(isText).map { JSONValue.Field(name: $0.key, value: .string($0.value)) }))
    let others = environment.inOrder.filter { !isText($0.key, $0.value) }
    if !others.isEmpty {
      add("environment_b64", .array(others.map { Self.encoded("\($0.key)=\($0.value)") }))
    }
    if !input.isEmpty {
      if let text = String(validating: input, as: UTF8.self), !ByteText.carriesForeignBytes(text) {
        add("input", .string(text))
      } else {
        add("input_b64", .string(Base64.encode(input)))
      }
    }
    if let mask = surroundings.mask { add("umask", .string(FileMask.text(mask))) }
    if !surroundings.limits.isEmpty {
      add(
        "limits",
        .object(
          surroundings.limits.map { limit in
            JSONValue.Field(
              name: limit.resource.rawValue, value: .array([Self.bound(limit.soft), Self.bound(limit.hard)]))
          }))
    }
    if isWaited { add("waited", .bool(true)) }
    var bytes: [UInt8] = []
    JSONValue.object(fields).append(to: &bytes)
    return bytes
  }

  private static func encoded(_ text: String) -> JSONValue {
    .string(Base64.encode(ByteText.bytes(of: text)))
  }

  private static func bound(_ number: UInt64) -> JSONValue {
    number == ResourceLimit.unlimited ? .null : JSONValue(number)
  }
}
