// spinning_code.h: functions that run for ever and have a reference where compiled code has one between two
// calls only.
#pragma once

#include <stdint.h>

/// What a function is to keep, and whether it does.
typedef struct spinning_place {
  uint64_t hidden; // the reference with all bits turned over, so that nobody takes it for one
  uint32_t is_kept;
  uint32_t pad;
} spinning_place;

/// Keeps the reference below the stack pointer, in the words that a function may use that calls none.
void spin_with_red_zone(spinning_place *place);

/// Keeps the reference in the upper half of a vector register.
void spin_with_vector(spinning_place *place);
