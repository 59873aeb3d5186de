// Records: what servers do: JSON, dictionaries of objects, weak references, sorting.

import Foundation

private struct Item: Codable {
  var id: Int
  var name: String
  var tags: [String]
  var price: Double
  var attributes: [String: String]
}

private final class Record {
  let item: Item
  var neighbours: [Record] = []
  weak var parent: Record?

  init(_ item: Item) { self.item = item }
}

private func makeJSON(_ count: Int) -> Data {
  let items = (0..<count).map { id in
    Item(
      id: id, name: "a record with a long name, number \(id)",
      tags: ["first tag \(id % 17)", "another, longer tag \(id % 31)"], price: Double(id) + 0.25,
      attributes: ["colour": "green \(id % 7)", "warehouse": "warehouse number \(id % 101)"])
  }
  guard let data = try? JSONEncoder().encode(items) else { fatalError("items are encodable") }
  return data
}

private let json = makeJSON(2000)

@Sendable func records(_ scale: Int) -> Int {
  var sum = 0
  for _ in 0..<scale {
    guard let items = try? JSONDecoder().decode([Item].self, from: json) else { continue }
    var byName: [String: Record] = [:]
    var last: [Record] = []
    for item in items {
      let record = Record(item)
      record.parent = last.first
      record.neighbours = last
      byName["key of \(item.id)"] = record
      last.append(record)
      if last.count > 3 { last.removeFirst() }
    }
    let sorted = byName.values.sorted { $0.item.name < $1.item.name }
    for record in sorted { sum &+= record.neighbours.count &+ record.item.tags.count }
    sum &+= Dictionary(grouping: sorted) { $0.item.tags[0] }.count
  }
  return sum
}
