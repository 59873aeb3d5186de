// Document: a report as blocks, before it becomes text or Markdown.

/// A report for people: an answer in one line, then what it rests on.
package struct Document: Sendable {
  /// The first line, which answers the question that the verb asks.
  package var answer: Line

  package var blocks: [Block]

  package init(answer: Line, blocks: [Block] = []) {
    self.answer = answer
    self.blocks = blocks
  }

  /// A part of a report.
  package enum Block: Sendable {
    case heading(String)
    case paragraph(Line)
    case table(Table)
    case item(Item)
    case tree([Branch])

    /// A picture of what items tell in words; formats that can't draw leave it out.
    case diagram(Diagram)
  }

  /// Rows of cells under headings.
  package struct Table: Sendable {
    package enum Alignment: Sendable {
      case left
      case right
    }

    /// A column's heading and the side that its cells keep to.
    package struct Column: Sendable {
      package var heading: String
      package var alignment: Alignment

      package init(_ heading: String, _ alignment: Alignment = .left) {
        self.heading = heading
        self.alignment = alignment
      }
    }

    package var columns: [Column]
    package var rows: [[Line]]

    /// How many rows were left out, and of what; shown below.
    package var omitted: Int

    package init(columns: [Column], rows: [[Line]], omitted: Int = 0) {
      self.columns = columns
      self.rows = rows
      self.omitted = omitted
    }
  }

  /// Something found: a title and details by name.
  package struct Item: Sendable {
    /// Its number in the list; nil for none.
    package var number: Int?
    package var title: Line
    package var details: [Detail]

    package init(number: Int? = nil, title: Line, details: [Detail]) {
      self.number = number
      self.title = title
      self.details = details
    }
  }

  /// A line of an item: what it tells, and the text, which may be a chain of steps with arrows.
  package struct Detail: Sendable {
    package var name: String

    /// One link a step; a lone one is just text.
    package var chain: [Line]

    package init(_ name: String, _ text: Line) {
      self.name = name
      chain = [text]
    }

    package init(_ name: String, chain: [Line]) {
      self.name = name
      self.chain = chain
    }
  }

  /// A line of a tree and how deep it stands.
  package struct Branch: Sendable {
    package var depth: Int
    package var cells: [Line]
    package var text: Line

    package init(depth: Int, cells: [Line], text: Line) {
      self.depth = depth
      self.cells = cells
      self.text = text
    }
  }
}
