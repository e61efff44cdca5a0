// Request for a number of windows, and its result if the change takes long.
// If no answer comes in time, the present number of windows decides.
import BankModel
import Time
import Wire

/// Requests a number of windows for a service.
struct WindowScaling {
  /// Result of a request for a number of windows.
  enum Outcome {
    /// The number of windows is as requested.
    case done(StatusReport)
    /// Accepted and not finished yet, for example because surplus windows still serve their customers.
    case closing(StatusReport)
    /// The coordinator refused the request, or did not answer in time.
    case refused(Failure)
  }

  private let control: CoordinatorConnection
  /// Maximum wait for windows to open and close, during which a browser without scripts waits for its response.
  private static let timeout = TimeSpan.seconds(5)

  init(_ control: CoordinatorConnection) { self.control = control }

  /// Requests a number of windows of a service, and passes the result to the listener once.
  func scale(_ service: ServiceName, to windows: Int64, _ listener: @escaping (Outcome) -> Void) {
    let command = ControlCommand.scale([ServiceWindows(service: service, count: windows)])
    control.ask(command, within: Self.timeout) { [control] outcome in
      switch outcome.only(\.status) {
      case .success(let report): listener(.done(report))
      case .failure(let failure):
        guard failure.isUnanswered else { return listener(.refused(failure)) }
        control.ask(.status) { outcome in
          guard case .success(let report) = outcome.only(\.status),
            report.services.contains(where: { $0.service == service && $0.windows == windows })
          else { return listener(.refused(failure)) }
          listener(.closing(report))
        }
      }
    }
  }
}
