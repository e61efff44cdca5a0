// The messages of the golden lines of workers. Every line of a file reads as its message: they are spellings
// of the same.

import BankModel
import Time

@testable import Wire

private let lease = Lease(ticket: 1_234_567, attempt: 2, generation: 3)
private let thumbs = [ServiceName("thumbs")!, ServiceName("mail")!]

/// The message of each golden file `worker-says-….jsonl`.
enum LineSamples {
  static let all: [Sample<TellerMessage>] = [
    Sample(
      "hello", .hello(Hello(build: "1.4", role: .worker, offer: WorkerOffer(services: thumbs, inFlight: 16)))),
    Sample("hello-window", .hello(Hello(build: "", role: .worker, offer: WorkerOffer()))),
    Sample("hello-version", .hello(Hello(version: 2, build: "", role: .worker, offer: WorkerOffer()))),
    Sample("ready", .ready),
    Sample("done", .done(lease)),
    Sample("done-result", worked("200×160 \"png\"\n")),
    Sample("done-result-b64", worked([0x89, 0x50, 0x4e, 0x47, 0, 0xff])),
    Sample("done-result-empty", .worked(lease, WorkResult(duration: .zero))),
    Sample("failed", .failed(lease, WorkFailure("no pen: 펜이 없습니다"))),
    Sample("failed-after", .failed(lease, WorkFailure("busy", after: .milliseconds(1_500)))),
    Sample("failed-never", .failed(lease, WorkFailure("", .never))),
    Sample("beat", .beat(lease)),
    Sample("beat-percent", .progressed(lease, WorkProgress(percent: 40))),
    Sample("beat-text", .progressed(lease, WorkProgress(percent: 0, text: "shrinking: 줄이는 중"))),
    Sample("beat-over", .progressed(lease, WorkProgress(percent: 100))),
    Sample("returned", .returned(lease)),
  ].map { Sample("worker-says-\($0.name)", $0.message) }

  private static func worked(_ text: String) -> TellerMessage { worked(Array(text.utf8)) }
  private static func worked(_ bytes: [UInt8]) -> TellerMessage {
    .worked(lease, WorkResult(duration: .zero, output: TruncatedOutput(first: bytes)!))
  }
}

/// The message of these bytes, as a line of a worker.
func readLine(_ bytes: [UInt8]) throws(LineParseError) -> TellerMessage {
  try bytes.withUnsafeBufferPointer { line throws(LineParseError) in try TellerMessage.readLine(line) }
}

/// The message of this text, as a line of a worker.
func readLine(_ text: String) throws(LineParseError) -> TellerMessage { try readLine(Array(text.utf8)) }

/// The line of a message to a worker, without its end; nil if there is none.
func lineTold(by message: MessageToTeller) -> String? {
  var bytes: [UInt8] = []
  message.appendLine(to: &bytes)
  return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
}
