// EntryScanner: the functions of a unit, and the calls inlined into them, in one pass.

internal import CLibdw

/// Finds the functions of a unit, and the calls inlined into a function, with their code.
///
/// libdw goes from an entry to its sibling by reading all that lies between, so a walk down the tree
/// reads each entry once for every level above it, and it looks through an entry's attributes anew for each that is
/// asked for. This reads each entry once: it takes the meaning of abbreviations from libdw, and itself only steps
/// over values.
struct EntryScanner {
  /// Where an entry's code lies.
  enum Code: Equatable {
    case none
    case range(Range<UInt64>)

    /// Where libdw has to say it: in lists of ranges and tables of addresses.
    case elsewhere
  }

  /// An entry of a function, or of a call inlined into one.
  struct Entry {
    var offset: Dwarf_Off
    var tag: Int

    /// How many of the entries around it, from where the scan began, are functions.
    var functionDepth: Int

    /// How many of them are inlined calls.
    var callDepth: Int
    var code: Code
  }

  /// How to get past a value, and whether it tells of code.
  private enum Step {
    case fixed(Int)
    case variableNumber
    case string
    case block(lengthBytes: Int)
    case blockOfVariableLength

    /// The address where an entry's code starts, of 8 bytes.
    case low

    /// The length of an entry's code.
    case length(Int)
    case lengthOfVariableLength
  }

  private struct Abbreviation {
    var tag: Int
    var hasChildren: Bool

    /// Whether only libdw can tell the code of its entries.
    var codeIsElsewhere: Bool

    /// The steps over its values.
    var steps: Range<Int>
  }

  /// By code minus one; compilers number them from one up.
  private var abbreviations: [Abbreviation?] = []

  /// Of all abbreviations, one after the other.
  private var steps: [Step] = []
  private let bytes: UnsafeRawBufferPointer
  private let firstOffset: Int

  /// Prepares to scan the unit of an entry; nil where the unit has something that libdw should rather
  /// read: values of a kind that this doesn't know, or bounds that make no sense.
  ///
  /// - Parameter section: the bytes of the section that holds the entry.
  init?(unit die: inout Dwarf_Die, of dwarf: OpaquePointer, section: UnsafeRawBufferPointer) {
    let offset = dwarf_dieoffset(&die)
    let unitOffset = offset &- dwarf_cuoffset(&die)
    var end: Dwarf_Off = 0
    var version: Dwarf_Half = 0
    var addressSize: UInt8 = 0
    var offsetSize: UInt8 = 0
    guard
      dwarf_next_unit(
        dwarf, unitOffset, &end, nil, &version, nil, &addressSize, &offsetSize, nil, nil) == 0,
      let start = section.baseAddress, offset < end, end <= UInt64(section.count),
      UnsafeRawPointer(die.addr) == start + Int(offset)
    else { return nil }
    bytes = UnsafeRawBufferPointer(rebasing: section[Int(offset)..<Int(end)])
    firstOffset = Int(offset)

    var position: Dwarf_Off = 0
    while true {
      var length = 0
      guard let abbreviation = dwarf_getabbrev(&die, position, &length) else { return nil }
      // The end of the table is a pointer of minus one.
      guard UInt(bitPattern: abbreviation) != UInt.max, length > 0 else { break }
      position += UInt64(length)
      let code = Int(dwarf_getabbrevcode(abbreviation))
      guard code > 0, code <= 1 << 16 else { return nil }
      var count = 0
      guard dwarf_getattrcnt(abbreviation, &count) == 0 else { return nil }
      var made = Abbreviation(
        tag: Int(dwarf_getabbrevtag(abbreviation)),
        hasChildren: dwarf_abbrevhaschildren(abbreviation) != 0, codeIsElsewhere: false,
        steps: steps.count..<steps.count)
      let hasCode = [DW_TAG_subprogram, DW_TAG_inlined_subroutine].contains(made.tag)
      for index in 0..<count {
        var name: UInt32 = 0
        var form: UInt32 = 0
        guard dwarf_getabbrevattr_data(abbreviation, index, &name, &form, nil, nil) == 0,
          var step = Self.step(
            over: Int(form), version: Int(version), addressSize: Int(addressSize),
            offsetSize: Int(offsetSize))
        else { return nil }
        if hasCode {
          switch (Int(name), Int(form)) {
          case (DW_AT_low_pc, DW_FORM_addr) where addressSize == 8: step = .low
          case (DW_AT_high_pc, DW_FORM_data1): step = .length(1)
          case (DW_AT_high_pc, DW_FORM_data2): step = .length(2)
          case (DW_AT_high_pc, DW_FORM_data4): step = .length(4)
          case (DW_AT_high_pc, DW_FORM_data8): step = .length(8)
          case (DW_AT_high_pc, DW_FORM_udata): step = .lengthOfVariableLength
          case (DW_AT_low_pc, _), (DW_AT_high_pc, _), (DW_AT_ranges, _):
            made.codeIsElsewhere = true
          default: break
          }
        }
        if case .fixed(let more) = step, steps.count > made.steps.lowerBound,
          case .fixed(let before)? = steps.last
        {
          steps[steps.count - 1] = .fixed(before + more)
        } else {
          steps.append(step)
        }
      }
      made.steps = made.steps.lowerBound..<steps.count
      while abbreviations.count < code { abbreviations.append(nil) }
      abbreviations[code - 1] = made
    }
  }

  /// The entries of all functions of the unit, in order; nil where the bytes don't fit the abbreviations.
  ///
  /// - Complexity: O(bytes of the unit).
  func functions() -> [Entry]? {
    var result: [Entry] = []
    let isWhole = scan(from: 0, isSubtree: false) { entry in
      if entry.tag == DW_TAG_subprogram { result.append(entry) }
    }
    return isWhole ? result : nil
  }

  /// The calls inlined into a function, each before those within it; nil where the bytes don't fit the abbreviations.
  /// Those in functions that are written in this one are theirs.
  ///
  /// - Complexity: O(bytes of the function's entries).
  func inlinedCalls(inFunctionAt offset: Dwarf_Off) -> [Entry]? {
    guard offset >= firstOffset, Int(offset) - firstOffset < bytes.count else { return nil }
    var result: [Entry] = []
    let isWhole = scan(from: Int(offset) - firstOffset, isSubtree: true) { entry in
      if entry.tag == DW_TAG_inlined_subroutine, entry.functionDepth == 1 { result.append(entry) }
    }
    return isWhole ? result : nil
  }

  /// Calls a function for each entry of a function or an inlined call.
  ///
  /// - Parameter isSubtree: Whether to end behind the first entry and those in it, instead of at the unit's end.
  /// - Returns: Whether the bytes fit the abbreviations.
  private func scan(from first: Int, isSubtree: Bool, _ body: (Entry) -> Void) -> Bool {
    var position = first
    var depth = 0
    // How deep the functions and the inlined calls around lie.
    var functions: [Int] = []
    var calls: [Int] = []
    while position < bytes.count {
      let start = position
      guard let code = number(at: &position) else { return false }
      if code == 0 {
        // The end of a list of children.
        depth -= 1
        if isSubtree, depth <= 0 { return true }
        while let last = calls.last, last >= depth { calls.removeLast() }
        while let last = functions.last, last >= depth { functions.removeLast() }
        continue
      }
      guard code <= abbreviations.count, let abbreviation = abbreviations[Int(code) - 1] else {
        return false
      }
      var low: UInt64?
      var length: UInt64?
      for index in abbreviation.steps {
        switch steps[index] {
        case .fixed(let count): position += count
        case .variableNumber: guard number(at: &position) != nil else { return false }
        case .string:
          while position < bytes.count, bytes[position] != 0 { position += 1 }
          position += 1
        case .block(let lengthBytes):
          guard let length = fixedNumber(at: &position, count: lengthBytes),
            length <= bytes.count
          else { return false }
          position += Int(length)
        case .blockOfVariableLength:
          guard let length = number(at: &position), length <= bytes.count else { return false }
          position += Int(length)
        case .low: low = fixedNumber(at: &position, count: 8)
        case .length(let count): length = fixedNumber(at: &position, count: count)
        case .lengthOfVariableLength: length = number(at: &position)
        }
        guard position <= bytes.count else { return false }
      }
      if abbreviation.tag == DW_TAG_subprogram || abbreviation.tag == DW_TAG_inlined_subroutine {
        var code = Code.none
        if abbreviation.codeIsElsewhere {
          code = .elsewhere
        } else if let low, let length, length > 0 {
          let (end, overflow) = low.addingReportingOverflow(length)
          if !overflow { code = .range(low..<end) }
        }
        body(
          Entry(
            offset: Dwarf_Off(firstOffset + start), tag: abbreviation.tag,
            functionDepth: functions.count, callDepth: calls.count, code: code))
      }
      if abbreviation.hasChildren {
        switch abbreviation.tag {
        case DW_TAG_inlined_subroutine: calls.append(depth)
        case DW_TAG_subprogram: functions.append(depth)
        default: break
        }
        depth += 1
      } else if isSubtree, depth == 0 {
        return true
      }
    }
    return true
  }

  /// Reads a number of some bytes; nil, and the position behind the end, where there are not so many.
  private func fixedNumber(at position: inout Int, count: Int) -> UInt64? {
    let start = position
    position += count
    guard position <= bytes.count else { return nil }
    var result: UInt64 = 0
    for index in 0..<count { result |= UInt64(bytes[start + index]) << UInt64(8 * index) }
    return result
  }

  /// Reads a number of variable length; nil where it doesn't end or is too large.
  private func number(at position: inout Int) -> UInt64? {
    var result: UInt64 = 0
    var shift: UInt64 = 0
    while position < bytes.count, shift < 70 {
      let byte = bytes[position]
      position += 1
      if shift < 64 { result |= UInt64(byte & 0x7f) << shift }
      if byte < 0x80 { return result }
      shift += 7
    }
    return nil
  }

  private static func step(
    over form: Int, version: Int, addressSize: Int, offsetSize: Int
  ) -> Step? {
    switch form {
    case DW_FORM_flag_present, DW_FORM_implicit_const: .fixed(0)
    case DW_FORM_data1, DW_FORM_ref1, DW_FORM_flag, DW_FORM_strx1, DW_FORM_addrx1: .fixed(1)
    case DW_FORM_data2, DW_FORM_ref2, DW_FORM_strx2, DW_FORM_addrx2: .fixed(2)
    case DW_FORM_strx3, DW_FORM_addrx3: .fixed(3)
    case DW_FORM_data4, DW_FORM_ref4, DW_FORM_strx4, DW_FORM_addrx4, DW_FORM_ref_sup4: .fixed(4)
    case DW_FORM_data8, DW_FORM_ref8, DW_FORM_ref_sig8, DW_FORM_ref_sup8: .fixed(8)
    case DW_FORM_data16: .fixed(16)
    case DW_FORM_addr: .fixed(addressSize)
    case DW_FORM_strp, DW_FORM_sec_offset, DW_FORM_line_strp, DW_FORM_strp_sup,
      DW_FORM_GNU_ref_alt, DW_FORM_GNU_strp_alt:
      .fixed(offsetSize)
    case DW_FORM_ref_addr: .fixed(version <= 2 ? addressSize : offsetSize)
    case DW_FORM_sdata, DW_FORM_udata, DW_FORM_ref_udata, DW_FORM_strx, DW_FORM_addrx,
      DW_FORM_loclistx, DW_FORM_rnglistx, DW_FORM_GNU_addr_index, DW_FORM_GNU_str_index:
      .variableNumber
    case DW_FORM_string: .string
    case DW_FORM_block1: .block(lengthBytes: 1)
    case DW_FORM_block2: .block(lengthBytes: 2)
    case DW_FORM_block4: .block(lengthBytes: 4)
    case DW_FORM_block, DW_FORM_exprloc: .blockOfVariableLength
    default: nil
    }
  }
}
