// Admission of new customers by the driver: slices of requests, and the removal of customers whose request is
// incomplete.

import Posix
import QueueCore

extension QueueDriver {
  /// Passes a slice of a request to the queue. Returns false if the queue has refused the request, and answered it.
  func admit(_ slice: QueueEvent, of request: RequestNumber) -> Bool {
    acceptedSlice = nil
    process(slice)
    return acceptedSlice == request
  }

  /// Removes some customers of incomplete requests and commits. Returns false if the store could not stage that.
  func removeUnissuedCustomers(limit: Int) -> Bool {
    do throws(StoreError) { try engine.removeUnissuedCustomers(limit: limit) } catch {
      fail(error)
      return false
    }
    commit()
    return true
  }
}
