// Owns what stands around every page: the head of the document, the navigation, the notice, the foot.
// Invariant: no script and no style stands in the document itself, so the strictest policy lets everything through.

struct PageDocument {
  let frame: PageFrame
  let title: String
  let look: HTML
  let regions: [Region]
  let body: HTML

  static func connection(_ frame: PageFrame) -> Region { .block("connection", "") }

  var text: String { body.text }
}
