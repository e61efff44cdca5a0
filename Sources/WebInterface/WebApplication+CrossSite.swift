// Navigation from links of other sites, in which browsers send no `SameSite=Strict` cookie.
// Invariant: the response contains no data of the bank. It makes the browser repeat the request from this site.
import WebCore
import WebPages

extension WebApplication {
  /// Page that repeats a navigation from another site without a session, so that the browser sends its cookie; nil for
  /// any other request.
  func crossSiteAnswer(_ request: HTTPRequest) -> HTTPResponse? {
    guard request.method == .get, !isForScripts(request),
      let site = request.headers["sec-fetch-site"], site != "same-origin", site != "none",
      request.headers["sec-fetch-mode"] == "navigate"
    else { return nil }
    return .page(CrossSitePage(address: address(of: request)).html(pageSubscriptions.frame(request)))
  }

  /// Encoded path and query of a request.
  private func address(of request: HTTPRequest) -> String {
    let path = request.target.segments.map { "/" + PercentText.encode(String($0)) }.joined()
    let query = request.target.query
    return (path.isEmpty ? "/" : path) + (query.fields.isEmpty ? "" : "?" + query.text)
  }
}
