// Version: what the tool calls itself.

/// The version of the tools and of the package that they come from.
package let toolVersion = "0.1.0"

/// The day of that version, as pages for man have it.
package let toolDate = "2026-11-30"
