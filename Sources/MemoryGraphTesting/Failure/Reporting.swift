// Reporting: tells a failure to the framework whose test is running.

internal import Testing
internal import XCTest

/// Where an expectation stands in the source.
struct CheckLocation: Sendable {
  var fileID: StaticString
  var filePath: StaticString
  var line: UInt
  var column: UInt

  var sourceLocation: SourceLocation {
    SourceLocation(
      fileID: "\(fileID)", filePath: "\(filePath)", line: Int(line), column: Int(column))
  }
}

enum Reporting {
  /// Whether the process runs tests of XCTest now, or of Swift Testing one after the other: then nothing
  /// but the test itself is at work.
  static var runsAlone: Bool { !_isTesting || _isSerial }

  private static let _isSerial = CommandLine.arguments.contains("--no-parallel")

  /// Whether Swift Testing runs. In a detached task of a test there is no current one.
  private static var _isTesting: Bool { Test.current != nil || _runsTesting }

  private static let _runsTesting = CommandLine.arguments.contains {
    $0 == "swift-testing" || $0 == "--testing-library=swift-testing"
  }

  /// What is checked, by the test that is running.
  static func subject(at location: CheckLocation) -> CheckSubject {
    quietly { _subject(at: location) }
  }

  private static func _subject(at location: CheckLocation) -> CheckSubject {
    let name: String
    if let test = Test.current {
      name = Self.name(of: test)
    } else {
      let file = "\(location.fileID)".split(separator: "/").last ?? "check"
      name = "\(file.split(separator: ".").first ?? "check").\(location.line)"
    }
    return CheckSubject(test: name, source: "\(location.filePath)", line: Int(location.line))
  }

  /// `CallTests.endingACall`.
  static func name(of test: Test) -> String {
    test.id.nameComponents.map { component in
      String(component.prefix { $0 != "(" })
    }.joined(separator: ".")
  }

  /// Tells Swift Testing.
  static func record(_ failure: CheckFailure, at location: SourceLocation) {
    for artifact in failure.artifacts {
      Attachment.record(artifact.bytes, named: artifact.name, sourceLocation: location)
    }
    Issue.record(Comment(rawValue: failure.text), sourceLocation: location)
  }

  /// Tells the framework whose test is running.
  static func record(_ failure: CheckFailure, of subject: CheckSubject, at location: CheckLocation)
  {
    let failure = quietly { failure.withReport(of: subject) }
    if _isTesting {
      record(failure, at: location.sourceLocation)
    } else {
      XCTFail(failure.text, file: location.filePath, line: location.line)
    }
  }
}
