// GraphKit
