// Owns what all pages have in common: a page is a value, and from it come the whole document and the parts of it that change.
// Invariant: the document holds each region once, with just the contents that `regions` gives; so whoever has JavaScript and
// whoever has none read the same.

/// A page of the bank, as a value.
public protocol WebPage: Sendable, Equatable {
  /// What the tab of the browser says, without the name of the bank.
  func title(_ frame: PageFrame) -> String
  /// The parts that change, in the order of the document. Each name is there for every value of the page.
  func parts(_ frame: PageFrame) -> [Region]
  /// What stands between the head and the foot of the document.
  ///
  /// - Parameter regions: what ``parts(_:)`` gave.
  func body(_ frame: PageFrame, _ regions: [Region]) -> HTML
  /// The style sheets that the page needs beyond `style.css`.
  var sheets: [String] { get }
  /// The look of the whole document: a class of its body; "" for the usual one.
  var look: HTML { get }
  /// The address that always means this page, if the one that was asked for may mean another page later; otherwise nil.
  var lastingAddress: String? { get }
}

extension WebPage {
  /// The usual one.
  public var look: HTML { "" }
  /// None: an address means one page.
  public var lastingAddress: String? { nil }
  /// That of everything but the first page.
  public var sheets: [String] { ["more.css"] }

  /// Everything that can change, what stands around the page included.
  public func regions(_ frame: PageFrame) -> [Region] { [PageDocument.connection(frame)] + parts(frame) }

  /// The whole document.
  public func html(_ frame: PageFrame) -> String {
    let regions = regions(frame)
    return PageDocument(
      frame: frame, title: title(frame), look: look, sheets: sheets, regions: regions,
      body: body(frame, regions)
    )
    .text
  }
}
