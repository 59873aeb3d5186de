// SymbolTable: the functions and variables that a file's symbol tables name, sorted by address.

internal import CLibdw

/// The symbols of a module, sorted once.
///
/// The names point into the mapped files, so a table must not outlive them.
///
/// - Complexity: O(*n* log *n*) time and 40 bytes a symbol, *n* being the number of symbols.
struct SymbolTable {
  typealias Name = UnsafePointer<CChar>

  /// Code, by address in the file.
  let functions: IntervalTable<Name>

  /// Variables, by address in the file. Thread-local ones are not here: their values are offsets into
  /// each thread's block, which no address in the module stands for.
  let variables: IntervalTable<Name>

  var isEmpty: Bool { functions.rows.isEmpty && variables.rows.isEmpty }

  /// Reads the tables of a module's files: `.symtab` of each, and `.dynsym` where there is none.
  init(files: [ELFFile]) {
    var collector = Collector()
    var hasFullTable = false
    for file in files {
      for section in file.sections where section.header.sh_type == SHT_SYMTAB {
        hasFullTable = collector.read(section, of: file) || hasFullTable
      }
    }
    if !hasFullTable {
      for file in files {
        for section in file.sections where section.header.sh_type == SHT_DYNSYM {
          _ = collector.read(section, of: file)
        }
      }
    }
    functions = collector.table(of: collector.functions)
    variables = collector.table(of: collector.variables)
  }

  private struct Entry {
    var name: Name

    /// Which of several symbols at one address to show: the highest.
    var rank: UInt8
    var hasSize: Bool
  }

  private struct Collector {
    var functions: [IntervalTable<Entry>.Row] = []
    var variables: [IntervalTable<Entry>.Row] = []

    /// Adds the symbols of one section; false where it can't be read.
    mutating func read(_ section: ELFFile.Section, of file: ELFFile) -> Bool {
      guard section.header.sh_entsize > 0, let data = elf_getdata(section.handle, nil) else {
        return false
      }
      let sections = file.sections
      let count = Int(clamping: section.header.sh_size / section.header.sh_entsize)
      var symbol = GElf_Sym()
      for index in 0..<count {
        guard gelf_getsym(data, Int32(clamping: index), &symbol) != nil else { break }
        let home = Int(symbol.st_shndx) - 1
        guard sections.indices.contains(home), sections[home].isAllocated, symbol.st_value != 0
        else { continue }
        let type = Int32(symbol.st_info & 15)
        let isFunction =
          type == STT_FUNC || type == STT_GNU_IFUNC
          || type == STT_NOTYPE && sections[home].isExecutable
        // A variable without a size marks a place, such as the start of a list; what follows isn't its own.
        guard isFunction || type == STT_OBJECT && symbol.st_size > 0,
          let name = elf_strptr(file.elf, Int(section.header.sh_link), Int(symbol.st_name)),
          name.pointee != 0
        else { continue }
        let (sum, overflow) = symbol.st_value.addingReportingOverflow(symbol.st_size)
        // A symbol of assembly has no size: it goes on to the next one, or its section's end.
        let end = symbol.st_size == 0 ? sections[home].addresses.upperBound : sum
        guard !overflow, end > symbol.st_value else { continue }
        let binding = Int32(symbol.st_info >> 4)
        let rank: UInt8 =
          (type == STT_NOTYPE ? 0 : 4) + (binding == STB_GLOBAL ? 2 : binding == STB_WEAK ? 1 : 0)
        let row = IntervalTable<Entry>.Row(
          symbol.st_value, end, Entry(name: name, rank: rank, hasSize: symbol.st_size != 0))
        if isFunction { functions.append(row) } else { variables.append(row) }
      }
      return true
    }

    /// Sorts, keeps one symbol an address, and ends those without a size at the next.
    func table(of rows: [IntervalTable<Entry>.Row]) -> IntervalTable<Name> {
      // Those without a size first, then by rank, then the longer ones.
      let sorted = IntervalTable(rows) { row in
        (row.value.hasSize ? 1 << 63 : 0) | UInt64(row.value.rank) << 60
          | ~row.end & (1 << 60 - 1)
      }
      var result: [IntervalTable<Name>.Row] = []
      result.reserveCapacity(sorted.rows.count)
      var lacksSize = false
      for row in sorted.rows {
        if let last = result.last {
          if last.start == row.start {
            result.removeLast()
          } else if lacksSize {
            result[result.count - 1].end = min(last.end, row.start)
          }
        }
        result.append(IntervalTable<Name>.Row(row.start, row.end, row.value.name))
        lacksSize = !row.value.hasSize
      }
      return IntervalTable<Name>(result)
    }
  }
}
