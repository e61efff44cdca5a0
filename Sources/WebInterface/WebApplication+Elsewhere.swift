// Requests that another site's link has brought here: a browser sends no `SameSite=Strict` cookie with them.
// Invariant: the answer to such a request shows nothing and changes nothing; it has the browser ask again from here.
import WebCore
import WebPages

extension WebApplication {
  /// The answer to a request without a cookie that a link of another site has caused; nil for any other request.
  ///
  /// The page asks for its own address once more. That request comes from this site, and so it has the cookie if there is one.
  func answerFromElsewhere(_ request: HTTPRequest) -> HTTPResponse? {
    guard request.method == .get, !isForScripts(request),
      let site = request.headers["sec-fetch-site"], site != "same-origin", site != "none",
      request.headers["sec-fetch-mode"] == "navigate"
    else { return nil }
    return .page(ElsewherePage(address: address(of: request)).html(director.frame(request)))
  }

  private func address(of request: HTTPRequest) -> String {
    let path = request.target.segments.map { "/" + PercentText.encode(String($0)) }.joined()
    let query = request.target.query
    return (path.isEmpty ? "/" : path) + (query.fields.isEmpty ? "" : "?" + query.text)
  }
}
