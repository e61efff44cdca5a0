// Links of the navigation, in order, with their icons.
// Invariant: a linked page needs no query.
import Arguments

/// Link to a page in the navigation, with its name and icon.
struct PageLink {
  let path: String
  /// Text of the link.
  let name: KeyPath<PageStrings, Text> & Sendable
  /// SVG path data of the icon, in a view box of 24 × 24.
  let drawing: HTML

  /// True if a public screen shows the link.
  var isPublic: Bool { ["/kiosk", "/lobby", "/juice", "/vending"].contains(path) }

  /// The icon as SVG.
  var icon: HTML { #"<svg viewBox="0 0 24 24" aria-hidden="true"><path d="\#(drawing)"/></svg>"# }

  /// The links, in the order of the navigation.
  static let all: [PageLink] = [
    PageLink(path: "/", name: \.bank, drawing: "M3 10 12 4l9 6M5 10v9m14-9v9M9 10v9m6-9v9M3 20h18"),
    PageLink(
      path: "/kiosk", name: \.kiosk, drawing: "M7 3h10v18l-2.500-2-2.500 2-2.500-2L7 21zM10 8h4m-4 4h4"),
    PageLink(path: "/lobby", name: \.lobby, drawing: "M3 5h18v12H3zM8 21h8m-4-4v4M8 11h4"),
    PageLink(path: "/juice", name: \.juiceMaker, drawing: "M6 8h12l-1.500 13h-9zM12 8l2-5h4M7 13h10"),
    PageLink(path: "/vending", name: \.vending, drawing: "M5 3h14v18H5zM8 6h5v8H8zm8 1v2M8 17h8"),
    PageLink(
      path: "/windows", name: \.windows,
      drawing: "M4 4h16v12H4zM2 20h20M12 8a2 2 0 1 0 .010 0M8 16c0-4 8-4 8 0"),
    PageLink(path: "/services", name: \.services, drawing: "M3 20h18M4 16l5-6 4 3 7-9"),
    PageLink(
      path: "/tickets", name: \.tickets,
      drawing: "M9 5a3 3 0 1 0 .010 0M3 20c0-8 12-8 12 0m1-14a3 3 0 0 1 0 6m5 8c0-4-1-6-4-6"),
    PageLink(path: "/dead", name: \.deadLetters, drawing: "M12 4 2 20h20zm0 6v5m0 2v1"),
    PageLink(path: "/receipts", name: \.receipts, drawing: "M6 3h9l4 4v14H6zM15 3v4h4M9 11h7m-7 4h7"),
    PageLink(path: "/audit", name: \.audit, drawing: "M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6zM8 12l3 3 5-6"),
    PageLink(path: "/ledger", name: \.ledger, drawing: "M12 4v16M5 20h14M4 8h16M4 8l-2 6h5zm16 0-2 6h5z"),
  ]
}
