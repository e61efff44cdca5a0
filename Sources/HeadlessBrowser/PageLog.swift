// Record of what happens in a page: requests, responses, errors and alerts.
// The entries are in the order of the browser's events.

/// One HTTP request that a page has made, with the status, headers and size of its response.
package struct PageRequest: Sendable {
  package let url: String
  package let method: String
  /// Type of the resource, such as `Document`, `Stylesheet`, `Script` or `EventSource`.
  package var kind: String
  /// Status of the response; nil before the response.
  package var status: Int?
  /// Headers of the response; names in lower case.
  package var headers: [String: String] = [:]
  /// Number of bytes received, as transferred.
  package var bytes = 0
  /// Error of a failed request; nil without one.
  package var failure: String?

  /// True if the request goes to this machine, or needs no network (data and files).
  package var isLocal: Bool {
    ["http://127.0.0.1:", "http://127.0.0.1/", "data:", "about:", "file:", "blob:"].contains {
      url.hasPrefix($0)
    } || hasLocalhostName
  }

  /// True for a name below `localhost`, which means this machine (RFC 6761, section 6.3).
  private var hasLocalhostName: Bool {
    let parts = url.split(separator: "/", maxSplits: 2)
    let host = parts.count > 1 && parts[0] == "http:" ? parts[1].prefix { $0 != ":" } : ""
    return host.hasSuffix(".localhost")
  }
}

/// What the browser has reported about a page: its requests, errors and alerts.
package struct PageLog: Sendable {
  package internal(set) var requests: [PageRequest] = []
  /// Errors and warnings of the console and of the browser, uncaught exceptions, and a crash of the page.
  package internal(set) var errors: [String] = []
  /// Texts of alerts and confirmation dialogs.
  package internal(set) var alerts: [String] = []
  /// Index in `requests` of the last request with each id of the browser.
  private var indexes: [String: Int] = [:]

  /// URLs of requests to other machines.
  package var externalURLs: [String] { requests.filter { !$0.isLocal }.map(\.url) }
  /// Number of bytes received by all requests, as transferred.
  package var bytes: Int { requests.reduce(0) { $0 + $1.bytes } }

  /// Stores what an event of the browser reports; other events are ignored.
  mutating func handle(_ event: String, _ parameters: JSONValue) {
    let id = parameters["requestId"].text ?? ""
    switch event {
    case "Network.requestWillBeSent": recordRequest(id, parameters)
    case "Network.responseReceived":
      update(id) { request in
        request.kind = parameters["type"].text ?? request.kind
        request.apply(parameters["response"])
      }
    case "Network.responseReceivedExtraInfo":
      // The browser also sends this event for a response that the page cannot read.
      update(id) { $0.status = $0.status ?? parameters["statusCode"].integer }
    case "Network.dataReceived": update(id) { $0.bytes += parameters["encodedDataLength"].integer ?? 0 }
    case "Network.loadingFinished":
      update(id) { $0.bytes = max($0.bytes, parameters["encodedDataLength"].integer ?? 0) }
    case "Network.loadingFailed":
      update(id) { request in
        request.failure = parameters["blockedReason"].text ?? parameters["errorText"].text ?? "failed"
      }
    case "Runtime.consoleAPICalled":
      guard ["error", "warning", "assert"].contains(parameters["type"].text) else { return }
      let texts = parameters["args"].items.map {
        $0["value"].text ?? $0["description"].text ?? $0["value"].description
      }
      errors.append(texts.joined(separator: " "))
    case "Runtime.exceptionThrown":
      let details = parameters["exceptionDetails"]
      errors.append(
        details["exception"]["description"].text ?? details["text"].text ?? details.description)
    case "Log.entryAdded":
      let entry = parameters["entry"]
      guard ["error", "warning"].contains(entry["level"].text) else { return }
      errors.append("\(entry["text"].text ?? "") \(entry["url"].text ?? "")")
    case "Page.javascriptDialogOpening": alerts.append(parameters["message"].text ?? "")
    case "Inspector.targetCrashed": errors.append("the page has crashed")
    default: break
    }
  }

  /// Adds a request. After a redirect the browser reports the next request with the same id.
  private mutating func recordRequest(_ id: String, _ parameters: JSONValue) {
    if !parameters["redirectResponse"].isNull { update(id) { $0.apply(parameters["redirectResponse"]) } }
    indexes[id] = requests.count
    requests.append(
      PageRequest(
        url: parameters["request"]["url"].text ?? "", method: parameters["request"]["method"].text ?? "",
        kind: parameters["type"].text ?? ""))
  }

  /// Changes the last request with an id; does nothing if there is none.
  private mutating func update(_ id: String, _ change: (inout PageRequest) -> Void) {
    guard let index = indexes[id] else { return }
    change(&requests[index])
  }
}

extension PageRequest {
  /// Adds the status, the size and the headers of a response to its request.
  fileprivate mutating func apply(_ response: JSONValue) {
    status = response["status"].integer
    bytes += response["encodedDataLength"].integer ?? 0
    for (name, value) in response["headers"].members { headers[name.lowercased()] = value.text }
  }
}
