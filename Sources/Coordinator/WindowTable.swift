// Table of one value per window,
// in window order.

import BankModel

/// Values by window. Window numbers are small and dense, so no hashing is needed.
struct WindowTable<Value> {
  /// Indexed by service index and window place.
  private var rows: [[Value?]] = []

  subscript(window: Window) -> Value? {
    get {
      let (service, place) = (window.service.index, Int(window.place))
      return service < rows.count && rows[service].indices.contains(place) ? rows[service][place] : nil
    }
    set {
      let (service, place) = (window.service.index, Int(window.place))
      precondition(!window.isOutside && place >= 0, "the branch has no such window")
      while rows.count <= service { rows.append([]) }
      while rows[service].count <= place { rows[service].append(nil) }
      rows[service][place] = newValue
    }
  }

  var values: [Value] { rows.flatMap { $0.compactMap(\.self) } }
  var count: Int { rows.reduce(0) { $0 + $1.count { $0 != nil } } }
}
