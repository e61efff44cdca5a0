// Common protocol of pages. A page is a value that returns the document and its changing regions.
// Invariant: the document contains the contents of `regions`, so that browsers with and without JavaScript show the
// same.

/// Content of a page of the bank, as a value that makes its HTML for a viewer.
public protocol WebPage: Sendable, Equatable {
  /// Title for the browser's tab, without the name of the bank.
  func title(_ frame: PageFrame) -> String
  /// Regions of the page, which change while it is viewed, in the order of the document. Their names are the same for
  /// every value of the page at one address.
  func parts(_ frame: PageFrame) -> [Region]
  /// Content between the header and the footer of the document.
  ///
  /// - Parameter regions: the result of ``parts(_:)``.
  func body(_ frame: PageFrame, _ regions: [Region]) -> HTML
  /// Style sheets of the page besides `style.css`.
  var sheets: [String] { get }
  /// Class of the document's body; "" for the default.
  var cssClass: HTML { get }
  /// Address that always means this page, if the requested address may mean another page later; otherwise nil.
  var lastingAddress: String? { get }
}

extension WebPage {
  /// No class: the default look.
  public var cssClass: HTML { "" }
  /// Nil: the address is permanent.
  public var lastingAddress: String? { nil }
  /// The default: the additional style sheet.
  public var sheets: [String] { ["more.css"] }

  /// All changing regions: the banner about the connection, and those of the page.
  public func regions(_ frame: PageFrame) -> [Region] { [PageDocument.connection(frame)] + parts(frame) }

  /// The complete document.
  public func html(_ frame: PageFrame) -> String {
    let regions = regions(frame)
    return PageDocument(
      frame: frame, title: title(frame), cssClass: cssClass, sheets: sheets, regions: regions,
      body: body(frame, regions)
    )
    .text
  }
}
