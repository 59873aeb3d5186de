// mg_stacks.h: the way of a stack that was seen before, short enough to be part of every birth: the
// walk along the frame pointers, and one probe of the index. stacks.c has the rest.
#pragma once

#include "mg_agent.h"

#pragma GCC visibility push(hidden)

enum { MG_MAX_FRAMES = 256 };

// An open-addressing index from a 64-bit key to a row; it doubles by making a new one, and the old
// one stays, since another thread may be reading it. Together the old ones are smaller than the
// last.
//
// A slot is one word, so that twice as many are in a cache line: the row, and above it those bits of the
// key that its place in the table doesn't tell. Key 0 to MG_INDEX_ROW_BITS choose the place, all but the
// first, which is 1 in every key.
#define MG_INDEX_ROW_BITS 25
#define MG_INDEX_ROW ((UINT64_C(1) << MG_INDEX_ROW_BITS) - 1)

typedef struct mg_index_table {
  uint64_t mask;
  uint64_t used;
  _Atomic uint64_t slots[]; // 0: free
} mg_index_table;

// Where the search for a key begins.
MG_INLINE uint64_t mg_index_place(uint64_t key) {
  return key >> 1;
}

extern _Atomic(mg_index_table *) mg_stack_index;

MG_INLINE uint64_t mg_mix(uint64_t hash) {
  hash ^= hash >> 32;
  hash *= UINT64_C(0xd6e8feb86659fd93);
  hash ^= hash >> 29;
  return hash | 1;
}

// The row of a key, 0 where it has none.
MG_INLINE uint32_t mg_index_find(mg_index_table *table, uint64_t key) {
  for (uint64_t i = mg_index_place(key);; i++) {
    uint64_t slot = atomic_load_explicit(&table->slots[i & table->mask], memory_order_acquire);
    if (MG_LIKELY((slot ^ key) <= MG_INDEX_ROW))
      return (uint32_t)(slot & MG_INDEX_ROW);
    if (!slot)
      return 0;
  }
}

/// The row of a new stack; takes the lock.
uint32_t mg_stack_intern_new(uint64_t hash, const uintptr_t *pcs, int count);

MG_INLINE uint32_t mg_stack_intern(uint64_t hash, const uintptr_t *pcs, int count) {
  hash = mg_mix(hash);
  uint32_t row = mg_index_find(atomic_load_explicit(&mg_stack_index, memory_order_acquire), hash);
  return MG_LIKELY(row) ? row : mg_stack_intern_new(hash, pcs, count);
}

MG_INLINE uint64_t mg_hash_frame(uint64_t hash, uintptr_t pc) {
  return ((hash << 23 | hash >> 41) ^ pc) * UINT64_C(0x9e3779b97f4a7c15);
}

/// Asks for the calling thread's stack bounds.
void mg_stack_learn_bounds(mg_thread_state *self);

// Swift marks the frame of an async function in a bit of the saved frame pointer.
#define MG_ASYNC_FRAME (UINT64_C(1) << 60)

// Whether code may lie at an address: in user space, and not in the first page. A function without a
// frame pointer leaves any word where its caller's return address would be.
MG_INLINE bool mg_is_code(uintptr_t pc) {
#if defined(__x86_64__)
  return pc - 4096 < (UINT64_C(1) << 47) - 4096;
#else
  return pc - 4096 < (UINT64_C(1) << 52) - 4096;
#endif
}

/// The stack of the function whose frame is given, without that function, by frame pointers.
MG_INLINE uint32_t mg_stack_capture_fast(void **frame) {
  mg_thread_state *self = &mg_thread;
  if (MG_UNLIKELY(!self->stack_high))
    mg_stack_learn_bounds(self);
  uintptr_t pcs[MG_MAX_FRAMES];
  uintptr_t current = (uintptr_t)frame;
  uintptr_t end = self->stack_high - 16; // where the outermost frame can lie
  // On another stack (of a signal, of a coroutine) only the caller is known: what its frame pointers
  // lead to can't be told from unmapped memory.
  if (MG_UNLIKELY(current - self->stack_low > end - self->stack_low)) {
    pcs[0] = (uintptr_t)frame[1];
    return mg_stack_intern(mg_hash_frame(0, pcs[0]), pcs, 1);
  }
  // Every frame lies above the last and below the stack's end, so each read is of the stack. A frame
  // pointer need not be aligned for that.
  uint64_t hash = 0;
  int count = 0;
  for (;;) {
    uintptr_t next = ((uintptr_t *)current)[0];
    uintptr_t pc = ((uintptr_t *)current)[1];
    if (MG_UNLIKELY(!mg_is_code(pc)))
      break;
    pcs[count++] = pc;
    hash = mg_hash_frame(hash, pc);
    if (MG_UNLIKELY(count == MG_MAX_FRAMES))
      break;
    // One comparison for both ends: next > current, next <= end.
    if (MG_UNLIKELY(next - current - 1 >= end - current)) {
      next &= ~MG_ASYNC_FRAME;
      if (next - current - 1 >= end - current)
        break;
    }
    current = next;
  }
  return mg_stack_intern(hash, pcs, count);
}

#pragma GCC visibility pop
