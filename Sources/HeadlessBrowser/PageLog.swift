// Owns what happened in a page since it was opened: what it asked for, what it was answered, what it complained about and
// which alerts it has shown.
// Invariant: everything is kept in the order in which the browser told it.

/// One request of a page.
package struct PageRequest: Sendable {
  package let url: String
  package let method: String
  /// `Document`, `Stylesheet`, `Script`, `EventSource` …
  package var kind: String
  /// The status of the answer; nil while there is none.
  package var status: Int?
  /// The headers of the answer; the names in small letters.
  package var headers: [String: String] = [:]
  /// How many bytes have come, with the headers and as they went over the wire.
  package var bytes = 0
  /// Why it was given up; nil where it was not.
  package var failure: String?

  /// Whether it asks this machine, or nobody: what is inside the page or comes from a file.
  package var staysHere: Bool {
    ["http://127.0.0.1:", "http://127.0.0.1/", "data:", "about:", "file:", "blob:"].contains {
      url.hasPrefix($0)
    } || isOfLocalName
  }

  /// True for a name below `localhost`, which leads nowhere but to this machine (RFC 6761, section 6.3).
  private var isOfLocalName: Bool {
    let parts = url.split(separator: "/", maxSplits: 2)
    let host = parts.count > 1 && parts[0] == "http:" ? parts[1].prefix { $0 != ":" } : ""
    return host.hasSuffix(".localhost")
  }
}

/// What happened in a page.
package struct PageLog: Sendable {
  /// What was asked for.
  package internal(set) var requests: [PageRequest] = []
  /// Errors and warnings in the console, uncaught exceptions, and what the browser has refused.
  package internal(set) var complaints: [String] = []
  /// The texts of alerts and of questions that stop the page.
  package internal(set) var alerts: [String] = []
  private var places: [String: Int] = [:]

  /// What was asked of anybody but this machine.
  package var strayed: [String] { requests.filter { !$0.staysHere }.map(\.url) }
  /// How many bytes came altogether.
  package var bytes: Int { requests.reduce(0) { $0 + $1.bytes } }

  mutating func note(_ event: String, _ facts: JSONValue) {
    let id = facts["requestId"].text ?? ""
    switch event {
    case "Network.requestWillBeSent": begin(id, facts)
    case "Network.responseReceived":
      update(id) { request in
        request.kind = facts["type"].text ?? request.kind
        request.take(facts["response"])
      }
    case "Network.responseReceivedExtraInfo":
      // Also of an answer that the page is not shown.
      update(id) { $0.status = $0.status ?? facts["statusCode"].integer }
    case "Network.dataReceived": update(id) { $0.bytes += facts["encodedDataLength"].integer ?? 0 }
    case "Network.loadingFinished":
      update(id) { $0.bytes = max($0.bytes, facts["encodedDataLength"].integer ?? 0) }
    case "Network.loadingFailed":
      update(id) { request in
        request.failure = facts["blockedReason"].text ?? facts["errorText"].text ?? "failed"
      }
    case "Runtime.consoleAPICalled":
      guard ["error", "warning", "assert"].contains(facts["type"].text) else { return }
      let words = facts["args"].items.map {
        $0["value"].text ?? $0["description"].text ?? $0["value"].description
      }
      complaints.append(words.joined(separator: " "))
    case "Runtime.exceptionThrown":
      let details = facts["exceptionDetails"]
      complaints.append(
        details["exception"]["description"].text ?? details["text"].text ?? details.description)
    case "Log.entryAdded":
      let entry = facts["entry"]
      guard ["error", "warning"].contains(entry["level"].text) else { return }
      complaints.append("\(entry["text"].text ?? "") \(entry["url"].text ?? "")")
    case "Page.javascriptDialogOpening": alerts.append(facts["message"].text ?? "")
    case "Inspector.targetCrashed": complaints.append("the page has crashed")
    default: break
    }
  }

  /// A request; one that was sent elsewhere by the answer is told with the same name again.
  private mutating func begin(_ id: String, _ facts: JSONValue) {
    if !facts["redirectResponse"].isNull { update(id) { $0.take(facts["redirectResponse"]) } }
    places[id] = requests.count
    requests.append(
      PageRequest(
        url: facts["request"]["url"].text ?? "", method: facts["request"]["method"].text ?? "",
        kind: facts["type"].text ?? ""))
  }

  private mutating func update(_ id: String, _ change: (inout PageRequest) -> Void) {
    guard let place = places[id] else { return }
    change(&requests[place])
  }
}

extension PageRequest {
  fileprivate mutating func take(_ response: JSONValue) {
    status = response["status"].integer
    bytes += response["encodedDataLength"].integer ?? 0
    for (name, value) in response["headers"].members { headers[name.lowercased()] = value.text }
  }
}
