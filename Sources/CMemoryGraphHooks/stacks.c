// stacks.c: where a block was asked for: the walk, and the tables that keep each stack once.
//
// A stack that was seen before costs one probe of a hash index, without a lock. A new one takes the
// lock and adds its frames to a trie, from the outermost inwards.

#include "mg_stacks.h"
#include "mg_sys.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

// --- tables ------------------------------------------------------------------------------------

_Atomic(mg_index_table *) mg_stack_index;
static _Atomic(mg_index_table *) node_index;
static mg_arena stack_rows; // mg_stack_entry; row 0 is unused
static mg_arena trie_nodes; // mg_trie_node; row 0 is the root
static atomic_flag lock = ATOMIC_FLAG_INIT;

static mg_index_table *make_index(uint64_t slots) {
  mg_index_table *table = NULL;
  size_t bytes = slots * sizeof table->slots[0];
  if (mg_memory_take(bytes))
    table = mg_own_map_behind(sizeof *table, bytes);
  if (table)
    table->mask = slots - 1;
  return table;
}

static void put(mg_index_table *table, uint64_t key, uint32_t row) {
  uint64_t i = mg_index_place(key);
  while (atomic_load_explicit(&table->slots[i & table->mask], memory_order_relaxed))
    i++;
  atomic_store_explicit(&table->slots[i & table->mask], (key & ~MG_INDEX_ROW) | row,
                        memory_order_release);
  table->used++;
}

static uint64_t trie_key(uint32_t parent, uint64_t pc) {
  return mg_mix((pc * UINT64_C(0x9e3779b97f4a7c15)) ^
                ((uint64_t)parent * UINT64_C(0xff51afd7ed558ccd)));
}

static uint64_t key_of_node(uint32_t row) {
  const mg_trie_node *node = &((const mg_trie_node *)(const void *)trie_nodes.base)[row];
  return trie_key(node->parent, node->pc);
}

static uint64_t key_of_stack(uint32_t row) {
  return ((const mg_stack_entry *)(const void *)stack_rows.base)[row].hash;
}

// Adds the key of a row, with the lock held. False: no memory.
static bool add(_Atomic(mg_index_table *) *index, uint64_t (*key_of)(uint32_t), uint32_t row) {
  mg_index_table *table = atomic_load_explicit(index, memory_order_relaxed);
  if (table->used * 4 > table->mask * 3) {
    mg_index_table *wider = make_index((table->mask + 1) * 2);
    if (!wider)
      return false;
    for (uint64_t i = 0; i <= table->mask; i++) {
      uint64_t slot = atomic_load_explicit(&table->slots[i], memory_order_relaxed);
      uint32_t old = (uint32_t)(slot & MG_INDEX_ROW);
      if (old)
        put(wider, key_of(old), old);
    }
    atomic_store_explicit(index, wider, memory_order_release);
    table = wider;
  }
  put(table, key_of(row), row);
  return true;
}

// How many children of a node are a list; further ones are in the index.
enum { LISTED_CHILDREN = 8 };

// The child of a node, with the lock held; 0 where there is none. `link` is then what is to lead to it;
// NULL where the index is.
//
// A path is added from the outermost frame inwards, so the row after a node is its first child, unless it
// was the innermost: then all of its children are in the index. Siblings mostly are added one soon after the
// other, and lie in the same lines of the cache, while slots of the index are anywhere.
static uint32_t trie_find(uint32_t parent, uint64_t pc, uint32_t **link) {
  mg_trie_node *nodes = (mg_trie_node *)(void *)trie_nodes.base;
  uint32_t row = parent + 1;
  if (row < mg_state.trie_count && nodes[row].parent == parent) {
    for (int listed = 1;; listed++) {
      if (nodes[row].pc == pc)
        return row;
      if (listed == LISTED_CHILDREN)
        break;
      if (!nodes[row].sibling) {
        *link = &nodes[row].sibling;
        return 0;
      }
      row = nodes[row].sibling;
    }
  }
  *link = NULL;
  mg_index_table *table = atomic_load_explicit(&node_index, memory_order_relaxed);
  uint64_t key = trie_key(parent, pc);
  for (uint64_t i = mg_index_place(key);; i++) {
    uint64_t slot = atomic_load_explicit(&table->slots[i & table->mask], memory_order_relaxed);
    if (!slot)
      return 0;
    // Two frames may share a key.
    row = (uint32_t)(slot & MG_INDEX_ROW);
    if ((slot ^ key) <= MG_INDEX_ROW && nodes[row].pc == pc && nodes[row].parent == parent)
      return row;
  }
}

static bool trie_append(uint32_t parent, uint64_t pc) {
  uint64_t row = mg_state.trie_count;
  if (row > MG_INDEX_ROW || !mg_arena_commit(&trie_nodes, (row + 1) * sizeof(mg_trie_node)))
    return false;
  ((mg_trie_node *)(void *)trie_nodes.base)[row] = (mg_trie_node){pc, parent, 0};
  return true;
}

// The node of a frame called from a node, which is added where there is none; with the lock held. 0 where
// there is no room.
static uint32_t trie_child(uint32_t parent, uint64_t pc) {
  uint32_t *link = NULL;
  uint32_t row = (uint32_t)mg_state.trie_count;
  bool is_next = row == parent + 1;
  if (!is_next) {
    uint32_t found = trie_find(parent, pc, &link);
    if (found)
      return found;
  }
  if (!trie_append(parent, pc))
    return 0;
  if (link)
    *link = row;
  else if (!is_next && !add(&node_index, key_of_node, row))
    return 0;
  __atomic_store_n(&mg_state.trie_count, row + 1, __ATOMIC_RELEASE);
  return row;
}

// The last path that was added, outermost frame first. The next one mostly shares its beginning, and
// then needs no lookups for it.
static struct {
  uintptr_t pcs[MG_MAX_FRAMES + 8];
  uint32_t nodes[MG_MAX_FRAMES + 8];
  int count;
} last_path;

// The node of a stack's innermost frame, with the lock held; 0 where there is no room.
static uint32_t trie_path(const uintptr_t *pcs, int count) {
  int depth = 0;
  while (depth < count && depth < last_path.count && last_path.pcs[depth] == pcs[count - 1 - depth])
    depth++;
  uint32_t node = depth ? last_path.nodes[depth - 1] : 0;
  for (; depth < count; depth++) {
    node = trie_child(node, pcs[count - 1 - depth]);
    if (!node)
      break;
    last_path.pcs[depth] = pcs[count - 1 - depth];
    last_path.nodes[depth] = node;
  }
  last_path.count = depth;
  return node;
}

// Adds a row, with the lock held; 0 where there is no room.
static uint32_t append_row(uint64_t hash, uint32_t node, uint32_t scope) {
  uint64_t next = mg_state.stacks_capacity;
  if (next > MG_STACK_MAX || !mg_arena_commit(&stack_rows, (next + 1) * sizeof(mg_stack_entry)))
    return 0;
  ((mg_stack_entry *)(void *)stack_rows.base)[next] = (mg_stack_entry){hash, node, scope};
  __atomic_store_n(&mg_state.stacks_capacity, next + 1, __ATOMIC_RELEASE);
  return add(&mg_stack_index, key_of_stack, (uint32_t)next) ? (uint32_t)next : 0;
}

static uint32_t intern_locked(uint64_t hash, const uintptr_t *pcs, int count) {
  uint32_t row = mg_index_find(atomic_load_explicit(&mg_stack_index, memory_order_relaxed), hash);
  if (row)
    return row;
  uint32_t node = trie_path(pcs, count);
  if (!node)
    return 0;
  return append_row(hash, node, 0);
}

uint32_t mg_stack_intern_new(uint64_t hash, const uintptr_t *pcs, int count) {
  while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
    mg_sys0(SYS_sched_yield);
  uint32_t row = intern_locked(hash, pcs, count);
  atomic_flag_clear_explicit(&lock, memory_order_release);
  if (!row)
    __atomic_fetch_add(&mg_state.lost_stacks, 1, __ATOMIC_RELAXED);
  return row;
}

static mg_stack_entry *row_at(uint32_t row) {
  return &((mg_stack_entry *)(void *)stack_rows.base)[row];
}

uint32_t mg_stack_scope(uint32_t row) {
  return row < __atomic_load_n(&mg_state.stacks_capacity, __ATOMIC_ACQUIRE) ? row_at(row)->scope
                                                                            : 0;
}

uint32_t mg_stack_in_scope(uint32_t row, uint32_t scope) {
  uint64_t hash = mg_mix(mg_hash_frame(mg_hash_frame(row_at(row)->hash, row), scope));
  uint32_t found = mg_index_find(atomic_load_explicit(&mg_stack_index, memory_order_acquire), hash);
  if (MG_LIKELY(found))
    return found;
  while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
    mg_sys0(SYS_sched_yield);
  found = mg_index_find(atomic_load_explicit(&mg_stack_index, memory_order_relaxed), hash);
  if (!found)
    found = append_row(hash, row_at(row)->trie_node, scope);
  atomic_flag_clear_explicit(&lock, memory_order_release);
  if (!found)
    __atomic_fetch_add(&mg_state.lost_stacks, 1, __ATOMIC_RELAXED);
  return found;
}

size_t mg_stack_frames(uint32_t row, uint64_t *frames, size_t room) {
  if (!row || row >= __atomic_load_n(&mg_state.stacks_capacity, __ATOMIC_ACQUIRE))
    return 0;
  const mg_trie_node *nodes = (const mg_trie_node *)(const void *)trie_nodes.base;
  size_t count = 0;
  for (uint32_t node = row_at(row)->trie_node; node; node = nodes[node].parent) {
    if (count < room)
      frames[count] = nodes[node].pc;
    count++;
  }
  return count;
}

// --- walks -------------------------------------------------------------------------------------

// The libunwind function; it is loaded and never linked, since it would replace the _Unwind_
// functions of the whole program.
typedef int (*walk_function)(void **, int);
static _Atomic(walk_function) unwind_backtrace; // NULL until it is loaded

void mg_stack_learn_bounds(mg_thread_state *self) {
  if (mg_stack_bounds(&self->stack_low, &self->stack_high))
    return;
  // Asked, and unknown: a stack that no frame lies in. The outermost frame may lie 16 bytes below its end,
  // which must not be below its beginning.
  self->stack_low = 1;
  self->stack_high = 17;
}

static __attribute__((noinline)) uint32_t capture_full(void **frame) {
  walk_function walk = atomic_load_explicit(&unwind_backtrace, memory_order_acquire);
  if (!walk)
    return mg_stack_capture_fast(frame);
  void *pcs[MG_MAX_FRAMES + 8];
  int error = errno;
  int count = walk(pcs, MG_MAX_FRAMES + 8);
  errno = error;
  // The agent's own frames come first; the caller's is the one that the interposer returns to.
  int first = 0;
  while (first < count && pcs[first] != frame[1])
    first++;
  if (first >= count)
    return mg_stack_capture_fast(frame);
  uint64_t hash = 0;
  int end = first;
  for (; end < count && mg_is_code((uintptr_t)pcs[end]); end++)
    hash = mg_hash_frame(hash, (uintptr_t)pcs[end]);
  return mg_stack_intern(hash, (uintptr_t *)(void *)&pcs[first], end - first);
}

uint32_t mg_stack_capture(void **frame) {
  if (MG_LIKELY(mg_state.stack_mode == MG_STACKS_FAST))
    return mg_stack_capture_fast(frame);
  return mg_state.stack_mode == MG_STACKS_FULL ? capture_full(frame) : 0;
}

bool mg_stacks_start(uint32_t mode) {
  if (!mg_arena_reserve(&stack_rows, ((size_t)MG_STACK_MAX + 1) * sizeof(mg_stack_entry)) ||
      !mg_arena_reserve(&trie_nodes, ((size_t)1 << 25) * sizeof(mg_trie_node)) ||
      !mg_arena_commit(&stack_rows, sizeof(mg_stack_entry)) ||
      !mg_arena_commit(&trie_nodes, sizeof(mg_trie_node)))
    return false;
  stack_rows.is_budgeted = trie_nodes.is_budgeted = true;
  mg_index_table *stacks = make_index(1 << 12);
  mg_index_table *nodes = make_index(1 << 12);
  if (!stacks || !nodes)
    return false;
  mg_stack_index = stacks;
  node_index = nodes;
  mg_state.trie = (uintptr_t)trie_nodes.base;
  mg_state.trie_count = 1;
  mg_state.stacks = (uintptr_t)stack_rows.base;
  mg_state.stacks_capacity = 1;
  mg_state.stack_mode = mode;
  return true;
}

void mg_stacks_load_unwinder(void) {
  if (mg_state.stack_mode != MG_STACKS_FULL || unwind_backtrace)
    return;
  mg_thread.busy++;
  void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
  void *function = library ? dlsym(library, "unw_backtrace") : NULL;
  mg_thread.busy--;
  if (function) {
    atomic_store_explicit(&unwind_backtrace, (walk_function)function, memory_order_release);
    return;
  }
  mg_state.stack_mode = MG_STACKS_FAST;
  mg_complain(
      0, "full stacks",
      "libunwind.so.8 can't be loaded, so they are fast ones; install the package libunwind8");
}
