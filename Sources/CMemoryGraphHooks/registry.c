// registry.c: what the program tells of itself: objects, resources, and edges between them.
//
// Rows are found by address through hash chains. A row's address is written last and cleared first,
// so that a twin made in between sees no half of one. Nothing here holds on to what it knows of: a
// block's death ends what was said of it.

#include "memory_graph.h"
#include "mg_agent.h"
#include "mg_sys.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

enum { MAX_ROWS = 1 << 24, FIRST_BUCKETS = 1 << 10, NONE = 0 };

// A chained hash of rows by one of their addresses. Rows are named from 1, 0 ends a chain.
typedef struct chains {
  uint32_t *buckets;
  uint32_t bucket_count; // a power of two
  mg_arena next;         // uint32_t by row
} chains;

// A table of rows with free ones in a list.
typedef struct rows {
  mg_arena rows;
  size_t row_bytes;
  uint32_t count; // rows ever used
  uint32_t live;
  uint32_t free_list; // through the chains of its first index
} rows;

static rows registrations, edges;
static chains registrations_by_address, edges_by_from, edges_by_to;

MG_INLINE mg_registration *registration(uint32_t row) {
  return (mg_registration *)(void *)registrations.rows.base + (row - 1);
}
MG_INLINE mg_declared_edge *edge(uint32_t row) {
  return (mg_declared_edge *)(void *)edges.rows.base + (row - 1);
}
MG_INLINE uint32_t *next_of(chains *index, uint32_t row) {
  return (uint32_t *)(void *)index->next.base + row;
}
MG_INLINE uint32_t *bucket_of(chains *index, uint64_t address) {
  uint64_t hash = (address >> 4) * UINT64_C(0x9e3779b97f4a7c15);
  return &index->buckets[hash >> 40 & (index->bucket_count - 1)];
}

static bool chains_start(chains *index) {
  index->buckets = mg_own_map(FIRST_BUCKETS * sizeof(uint32_t));
  index->bucket_count = FIRST_BUCKETS;
  return index->buckets && mg_arena_reserve(&index->next, (size_t)MAX_ROWS * sizeof(uint32_t));
}

bool mg_registry_start(void) {
  static bool started;
  pthread_mutex_lock(&lock);
  if (!started) {
    registrations.row_bytes = sizeof(mg_registration);
    edges.row_bytes = sizeof(mg_declared_edge);
    started = mg_arena_reserve(&registrations.rows, (size_t)MAX_ROWS * sizeof(mg_registration)) &&
              mg_arena_reserve(&edges.rows, (size_t)MAX_ROWS * sizeof(mg_declared_edge)) &&
              chains_start(&registrations_by_address) && chains_start(&edges_by_from) &&
              chains_start(&edges_by_to);
    mg_state.registrations = (uintptr_t)registrations.rows.base;
    mg_state.declared_edges = (uintptr_t)edges.rows.base;
  }
  bool result = started;
  pthread_mutex_unlock(&lock);
  return result;
}

static void link_row(chains *index, uint64_t address, uint32_t row) {
  uint32_t *bucket = bucket_of(index, address);
  *next_of(index, row) = *bucket;
  *bucket = row;
}

static void unlink_row(chains *index, uint64_t address, uint32_t row) {
  uint32_t *link = bucket_of(index, address);
  while (*link != row)
    link = next_of(index, *link);
  *link = *next_of(index, row);
}

// Doubles the buckets where chains grow long; `address_of` says by which address rows are found.
static void widen(chains *index, const rows *table, uint64_t (*address_of)(uint32_t)) {
  if (table->live <= index->bucket_count)
    return;
  uint32_t *wider = mg_own_map((size_t)index->bucket_count * 4 * sizeof(uint32_t));
  if (!wider)
    return; // longer chains are slower, no more
  index->buckets = wider;
  index->bucket_count *= 4;
  for (uint32_t row = 1; row <= table->count; row++) {
    uint64_t address = address_of(row);
    if (address)
      link_row(index, address, row);
  }
}

static uint64_t registration_address(uint32_t row) {
  return registration(row)->address;
}
static uint64_t edge_from(uint32_t row) {
  return edge(row)->from;
}
static uint64_t edge_to(uint32_t row) {
  return edge(row)->from ? edge(row)->to : 0;
}

// A free row; NONE where there is no memory.
static uint32_t take_row(rows *table, chains *first, chains *second) {
  uint32_t row = table->free_list;
  if (row) {
    table->free_list = *next_of(first, row);
  } else {
    row = table->count + 1;
    if (row >= MAX_ROWS || !mg_arena_commit(&table->rows, row * table->row_bytes) ||
        !mg_arena_commit(&first->next, (row + 1) * sizeof(uint32_t)) ||
        (second && !mg_arena_commit(&second->next, (row + 1) * sizeof(uint32_t))))
      return NONE;
    table->count = row;
  }
  table->live++;
  return row;
}

static void give_row(rows *table, chains *first, uint32_t row) {
  *next_of(first, row) = table->free_list;
  table->free_list = row;
  table->live--;
}

// --- with the lock held ------------------------------------------------------------------------

static uint32_t find_registration(uint64_t address) {
  uint32_t row = *bucket_of(&registrations_by_address, address);
  while (row && registration(row)->address != address)
    row = *next_of(&registrations_by_address, row);
  return row;
}

static bool has_edges(uint64_t address) {
  uint32_t row = *bucket_of(&edges_by_from, address);
  while (row && edge(row)->from != address)
    row = *next_of(&edges_by_from, row);
  if (row)
    return true;
  row = *bucket_of(&edges_by_to, address);
  while (row && edge(row)->to != address)
    row = *next_of(&edges_by_to, row);
  return row != NONE;
}

// Sets or clears the mark by which free sees that something is said of a block.
static void flag(uint64_t address, bool set) {
  if (mg_config.sample_interval) {
    // No block gets the rest of a cell here: it is no sample, and its birth stays unknown.
    mg_sample_change((uintptr_t)address, set ? MG_CELL_REGISTERED : 0,
                     set ? 0 : MG_CELL_REGISTERED);
    return;
  }
  uint64_t *cell = set ? mg_cell_make((uintptr_t)address) : mg_cell_find((uintptr_t)address);
  if (!cell)
    return;
  uint64_t value = mg_cell_load(cell);
  while (!__atomic_compare_exchange_n(
      cell, &value, set ? value | MG_CELL_REGISTERED : value & ~MG_CELL_REGISTERED, false,
      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

static void remove_edge(uint32_t row) {
  mg_declared_edge old = *edge(row);
  __atomic_store_n(&edge(row)->from, 0, __ATOMIC_RELEASE);
  unlink_row(&edges_by_from, old.from, row);
  unlink_row(&edges_by_to, old.to, row);
  give_row(&edges, &edges_by_from, row);
}

static void remove_edges_of(uint64_t address) {
  for (uint32_t row = *bucket_of(&edges_by_from, address), next; row; row = next) {
    next = *next_of(&edges_by_from, row);
    if (edge(row)->from == address)
      remove_edge(row);
  }
  for (uint32_t row = *bucket_of(&edges_by_to, address), next; row; row = next) {
    next = *next_of(&edges_by_to, row);
    if (edge(row)->to == address)
      remove_edge(row);
  }
}

static bool remove_registration(uint64_t address) {
  uint32_t row = find_registration(address);
  if (!row)
    return false;
  __atomic_store_n(&registration(row)->address, 0, __ATOMIC_RELEASE);
  unlink_row(&registrations_by_address, address, row);
  give_row(&registrations, &registrations_by_address, row);
  return true;
}

void mg_registry_block_died(uintptr_t address) {
  pthread_mutex_lock(&lock);
  remove_registration(address);
  remove_edges_of(address);
  pthread_mutex_unlock(&lock);
}

// The size of a block that no birth was recorded of, from the allocator's own header; 0 where the
// address does not look like a block. With the lock held.
static size_t size_of_unknown_block(uintptr_t address) {
  // Objects lie close together: the kernel is asked once for each mapping.
  static mg_mapping mapping;
  if (address % 16 != 0)
    return 0;
  if (!(address >= mapping.low && address < mapping.high) && !mg_mapping_find(address, &mapping)) {
    mapping.low = mapping.high = 0;
    return 0;
  }
  if (!mapping.is_heap || address - mapping.low < 16)
    return 0;
  // Three flags are in the low bits; a mapped block's size counts 16 bytes before it, another's 8.
  uint64_t header = ((const uint64_t *)address)[-1];
  uint64_t size = header & ~UINT64_C(7);
  bool is_mapped = header & 2;
  if (size < 32 || size % 16 != 0 || size > mapping.high - address + 16)
    return 0;
  return size - (is_mapped ? 16 : 8);
}

// --- calls -------------------------------------------------------------------------------------

static int add_registration(uint32_t kind, uint64_t address, const char *name, uint64_t bytes,
                            void **frame) {
  if (!address || !name)
    return EINVAL;
  const char *kept = mg_keep_text(name);
  if (!kept)
    return ENOMEM;
  mg_thread.busy++;
  uint32_t stack = mg_stack_capture(frame);
  pthread_mutex_lock(&lock);
  // A new name replaces the old one.
  remove_registration(address);
  uint32_t row = take_row(&registrations, &registrations_by_address, NULL);
  if (row) {
    flag(address, true);
    uint64_t *cell = mg_config.sample_interval ? NULL : mg_cell_find((uintptr_t)address);
    // An object from before the start, or without one: from here on it is known as any other.
    if (cell && kind == MG_REGISTERED_OBJECT && !(mg_cell_load(cell) & MG_CELL_LIVE)) {
      size_t size = size_of_unknown_block((uintptr_t)address);
      if (size)
        mg_cell_store(cell, mg_cell_of(stack, mg_state.generation, size) | MG_CELL_REGISTERED);
    }
    mg_registration *entry = registration(row);
    entry->bytes = bytes;
    entry->name = (uintptr_t)kept;
    entry->kind = kind;
    entry->generation = mg_state.generation;
    entry->stack = stack;
    entry->is_block = cell && (mg_cell_load(cell) & MG_CELL_LIVE);
    __atomic_store_n(&entry->address, address, __ATOMIC_RELEASE);
    link_row(&registrations_by_address, address, row);
    mg_state.registration_capacity = registrations.count;
    widen(&registrations_by_address, &registrations, registration_address);
  }
  pthread_mutex_unlock(&lock);
  mg_thread.busy--;
  return row ? 0 : ENOMEM;
}

int mg_register(const void *object, const char *name, void **frame) {
  return add_registration(MG_REGISTERED_OBJECT, (uintptr_t)object, name, 0, frame);
}

int mg_register_resource(const void *resource, const char *type, size_t bytes, void **frame) {
  return add_registration(MG_REGISTERED_RESOURCE, (uintptr_t)resource, type, bytes, frame);
}

int mg_unregister(const void *registered) {
  uint64_t address = (uintptr_t)registered;
  pthread_mutex_lock(&lock);
  bool found = remove_registration(address);
  if (found) {
    remove_edges_of(address);
    flag(address, false);
  }
  pthread_mutex_unlock(&lock);
  return found ? 0 : ENOENT;
}

int mg_add_strong_edge(const void *from, const void *to, const char *label) {
  if (!from || !to)
    return EINVAL;
  const char *kept = mg_keep_text(label ? label : "");
  if (!kept)
    return ENOMEM;
  pthread_mutex_lock(&lock);
  uint32_t row = take_row(&edges, &edges_by_from, &edges_by_to);
  if (row) {
    // Either end's death ends the edge.
    flag((uintptr_t)from, true);
    flag((uintptr_t)to, true);
    mg_declared_edge *entry = edge(row);
    entry->to = (uintptr_t)to;
    entry->label = (uintptr_t)kept;
    __atomic_store_n(&entry->from, (uintptr_t)from, __ATOMIC_RELEASE);
    link_row(&edges_by_from, (uintptr_t)from, row);
    link_row(&edges_by_to, (uintptr_t)to, row);
    mg_state.declared_edge_capacity = edges.count;
    widen(&edges_by_from, &edges, edge_from);
    widen(&edges_by_to, &edges, edge_to);
  }
  pthread_mutex_unlock(&lock);
  return row ? 0 : ENOMEM;
}

int mg_remove_strong_edge(const void *from, const void *to, const char *label) {
  uint64_t start = (uintptr_t)from;
  if (!from || !to)
    return EINVAL;
  pthread_mutex_lock(&lock);
  uint32_t row = *bucket_of(&edges_by_from, start);
  while (row && !(edge(row)->from == start && edge(row)->to == (uintptr_t)to &&
                  strcmp((const char *)(uintptr_t)edge(row)->label, label ? label : "") == 0))
    row = *next_of(&edges_by_from, row);
  if (row) {
    remove_edge(row);
    // Ends of which nothing is said any more are as any other block.
    if (!find_registration(start) && !has_edges(start))
      flag(start, false);
    if (!find_registration((uintptr_t)to) && !has_edges((uintptr_t)to))
      flag((uintptr_t)to, false);
  }
  pthread_mutex_unlock(&lock);
  return row ? 0 : ENOENT;
}
