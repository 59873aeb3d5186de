// table.c: the allocation table, one cell for each 16 bytes of heap (mg_layout.h describes it).
//
// A lookup is two dependent loads and takes no lock. Chunks of cells come from one arena and are
// never given back: an address that was heap once will be again.

#include "mg_agent.h"
#include "mg_sys.h"

#include <sys/mman.h>

_Atomic(mg_chunk_slot *) *mg_directory;

static mg_arena chunks;
static size_t chunks_used;
static atomic_flag chunk_lock = ATOMIC_FLAG_INIT;

bool mg_table_start(void) {
  mg_directory = mg_own_map(sizeof(*mg_directory) << MG_DIRECTORY_BITS);
  if (!mg_directory)
    return false;
  // Half a byte for each byte of heap; less where the address space is limited.
  size_t bytes = (size_t)1 << 36;
  while (bytes > ((size_t)1 << 24) && !mg_arena_reserve(&chunks, bytes))
    bytes >>= 1;
  if (!chunks.base)
    return false;
  chunks.is_budgeted = true;
  mg_state.directory = (uintptr_t)mg_directory;
  return true;
}

static mg_chunk_slot *make_table(uintptr_t index) {
  // Of its two megabytes only the pages that are written are ever there, so it counts as nothing.
  mg_chunk_slot *made = mg_own_map(sizeof(*made) << MG_TABLE_BITS);
  if (made)
    atomic_store_explicit(&mg_directory[index], made, memory_order_release);
  return made;
}

static uint64_t *make_chunk(void) {
  size_t bytes = MG_CELLS_PER_PAGE * sizeof(uint64_t);
  // A megabyte at a time: fewer calls than the arena's own steps at first.
  if (chunks_used + bytes > chunks.committed &&
      !mg_arena_commit(&chunks, chunks.committed + ((size_t)1 << 20)))
    return NULL;
  uint64_t *cells = (uint64_t *)(void *)(chunks.base + chunks_used);
  chunks_used += bytes;
  return cells;
}

uint64_t *mg_cell_make(uintptr_t address) {
  uint64_t *cell = mg_cell_find(address);
  if (MG_LIKELY(cell))
    return cell;
  uintptr_t page = address >> MG_PAGE_SHIFT;
  if (page >> (MG_TABLE_BITS + MG_DIRECTORY_BITS))
    return NULL;
  while (atomic_flag_test_and_set_explicit(&chunk_lock, memory_order_acquire))
    mg_sys0(SYS_sched_yield);
  mg_chunk_slot *table =
      atomic_load_explicit(&mg_directory[page >> MG_TABLE_BITS], memory_order_relaxed);
  if (!table)
    table = make_table(page >> MG_TABLE_BITS);
  mg_chunk_slot *slot = table ? &table[page & ((1u << MG_TABLE_BITS) - 1)] : NULL;
  if (slot && !atomic_load_explicit(slot, memory_order_relaxed)) {
    uint64_t *made = make_chunk();
    if (made)
      atomic_store_explicit(slot, made, memory_order_release);
  }
  atomic_flag_clear_explicit(&chunk_lock, memory_order_release);
  return mg_cell_find(address);
}
