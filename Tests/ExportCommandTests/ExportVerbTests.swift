import Testing
@testable import ExportCommand
