// EntryScanner: the entries of a unit in one pass, for those of one kind.

internal import CLibdw

/// Finds all entries of a kind in a unit.
///
/// libdw goes from an entry to its sibling by reading all that lies between, so a walk down the tree
/// reads each entry once for every level above it. This reads each once: it takes the meaning of
/// abbreviations from libdw, and itself only steps over values.
struct EntryScanner {
  /// How to get past a value.
  private enum Step {
    case fixed(Int)
    case variableNumber
    case string
    case block(lengthBytes: Int)
    case blockOfVariableLength
  }

  private struct Abbreviation {
    var tag: Int
    var steps: [Step]
  }

  /// By code minus one; compilers number them from one up.
  private var abbreviations: [Abbreviation?] = []
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
      var steps: [Step] = []
      for index in 0..<count {
        var form: UInt32 = 0
        guard dwarf_getabbrevattr_data(abbreviation, index, nil, &form, nil, nil) == 0,
          let step = Self.step(
            over: Int(form), version: Int(version), addressSize: Int(addressSize),
            offsetSize: Int(offsetSize))
        else { return nil }
        if case .fixed(let more) = step, case .fixed(let before)? = steps.last {
          steps[steps.count - 1] = .fixed(before + more)
        } else {
          steps.append(step)
        }
      }
      while abbreviations.count < code { abbreviations.append(nil) }
      abbreviations[code - 1] = Abbreviation(
        tag: Int(dwarf_getabbrevtag(abbreviation)), steps: steps)
    }
  }

  /// The offsets of all entries with a tag, in order; nil where the bytes don't fit the abbreviations.
  ///
  /// - Complexity: O(bytes of the unit).
  func offsets(ofEntriesWith tag: Int) -> [Dwarf_Off]? {
    var result: [Dwarf_Off] = []
    var position = 0
    while position < bytes.count {
      let start = position
      guard let code = number(at: &position) else { return nil }
      // The end of a list of children.
      guard code > 0 else { continue }
      guard code <= abbreviations.count, let abbreviation = abbreviations[Int(code) - 1] else {
        return nil
      }
      if abbreviation.tag == tag { result.append(Dwarf_Off(firstOffset + start)) }
      for step in abbreviation.steps {
        switch step {
        case .fixed(let count): position += count
        case .variableNumber: guard number(at: &position) != nil else { return nil }
        case .string:
          while position < bytes.count, bytes[position] != 0 { position += 1 }
          position += 1
        case .block(let lengthBytes):
          guard position + lengthBytes <= bytes.count else { return nil }
          let length = bytes[position..<(position + lengthBytes)].reversed()
            .reduce(0) { $0 << 8 | Int($1) }
          position += lengthBytes + length
        case .blockOfVariableLength:
          guard let length = number(at: &position), length <= bytes.count else { return nil }
          position += Int(length)
        }
        guard position <= bytes.count else { return nil }
      }
    }
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
