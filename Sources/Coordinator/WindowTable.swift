// Owns how whatever is kept of a window is found by it. Invariant: what was put in is found until it is taken out, and all of
// it comes in the order of the windows.

import BankModel

/// Something for each of the branch's windows. The coordinator looks into it several times for every customer. Numbers
/// are small and dense, so finding one needs no hashing.
struct WindowTable<Value> {
  /// By the service's index and the window's place.
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

  /// Everything that is there, in the order of the windows.
  var values: [Value] { rows.flatMap { $0.compactMap(\.self) } }
  var count: Int { rows.reduce(0) { $0 + $1.count { $0 != nil } } }
}
