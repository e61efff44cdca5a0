// Assets of the pages, each with an ETag, so that a browser need not load an unchanged asset again.
// Invariant: the tag depends only on the bytes.
import CWebAssets
import WebCore

/// The files for browsers (assets) that are built into the program.
struct WebAssets {
  /// Index and ETag of each asset by its name.
  private let tags: [String: (place: Int, tag: String)]

  init() {
    var tags: [String: (place: Int, tag: String)] = [:]
    for index in 0..<bank_web_asset_count() {
      let asset = bank_web_asset_at(index)
      let digest = String(bank_web_asset_digest(asset), radix: 16)
      tags[String(cString: asset.name)] = (index, "\"\(digest)\"")
    }
    self.tags = tags
  }

  /// The response for an asset; nil for an unknown name.
  func response(to request: HTTPRequest, named name: String) -> HTTPResponse? {
    guard let (index, tag) = tags[name] else { return nil }
    let asset = bank_web_asset_at(index)
    let headers = [
      ("ETag", tag), ("Cache-Control", "no-cache"), ("Content-Type", String(cString: asset.type)),
    ]
    if request.headers["if-none-match"] == tag { return HTTPResponse(304, headers: Array(headers.prefix(2))) }
    let body = [UInt8](unsafeUninitializedCapacity: asset.length) { room, count in
      count = room.baseAddress.map { bank_web_asset_plain(asset, $0) } ?? 0
    }
    return HTTPResponse(200, headers: headers, body: body)
  }
}
