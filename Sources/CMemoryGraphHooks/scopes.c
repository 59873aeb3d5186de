// scopes.c: which check a block was born in, and which blocks of a check are alive.
//
// The scope is part of the block's stack: a stack in a scope is a row of its own in the table of stacks,
// with the same frames. So a cell tells its scope without a bit of its own, and a block at a reused address
// is never taken for the one before. Each scope has a set of the addresses at which blocks were born in
// it; which of them are alive the cells tell.

#define _GNU_SOURCE
#include "memory_graph_scopes.h"
#include "mg_agent.h"
#include "mg_sys.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/uio.h>

_Atomic uint32_t mg_scopes_open;

enum {
  MAX_SCOPES = 4096,
  // A slot is not used again before so many others were closed: a task-local value that outlives its
  // scope is then told from those of the slot's next one by its serial number, and blocks by their stack.
  QUARANTINE = 256,
  // How far behind the start of its parent's memory a child task is looked for.
  MOST_BEFORE_TASK = 16 << 10,
  LEAST_BITS = 9,
  MOST_BITS = 27,
};

typedef struct scope {
  atomic_flag lock;
  uint64_t token;      // serial number << 16 | slot + 1; 0: closed
  uint32_t row;        // of an unknown stack in this scope
  uint64_t *addresses; // open addressing, 0: free
  uint32_t bits;
  uint64_t used;
  uint64_t lost;
} scope;

static scope scopes[MAX_SCOPES];
static uint32_t slot_count; // slots that were ever used
static uint16_t closed[MAX_SCOPES];
static uint32_t closed_first, closed_count; // a queue in `closed`
static uint64_t serial;
static _Atomic uint64_t strays; // the token of the scope that takes them
static memory_graph_task_functions functions;
static atomic_flag lock = ATOMIC_FLAG_INIT;

static void acquire(atomic_flag *flag) {
  while (atomic_flag_test_and_set_explicit(flag, memory_order_acquire))
    mg_sys0(SYS_sched_yield);
}

static void release(atomic_flag *flag) {
  atomic_flag_clear_explicit(flag, memory_order_release);
}

// --- memory for the sets: pieces of powers of two, used again ------------------------------------

static mg_arena pieces;
static size_t pieces_used;
static uint64_t *free_pieces[MOST_BITS + 1]; // the first word leads to the next
static atomic_flag piece_lock = ATOMIC_FLAG_INIT;

static uint64_t *take_piece(uint32_t bits) {
  size_t count = (size_t)1 << bits;
  acquire(&piece_lock);
  uint64_t *piece = free_pieces[bits];
  if (piece) {
    free_pieces[bits] = (uint64_t *)(uintptr_t)piece[0];
  } else if (mg_arena_commit(&pieces, pieces_used + count * sizeof *piece)) {
    piece = (uint64_t *)(void *)(pieces.base + pieces_used);
    pieces_used += count * sizeof *piece;
  }
  release(&piece_lock);
  if (piece)
    for (size_t i = 0; i < count; i++)
      piece[i] = 0;
  return piece;
}

static void give_piece(uint64_t *piece, uint32_t bits) {
  acquire(&piece_lock);
  piece[0] = (uintptr_t)free_pieces[bits];
  free_pieces[bits] = piece;
  release(&piece_lock);
}

// --- sets ----------------------------------------------------------------------------------------

static bool put(uint64_t *addresses, uint32_t bits, uint64_t address) {
  uint64_t mask = ((uint64_t)1 << bits) - 1;
  uint64_t i = ((address >> 4) * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - bits);
  for (;; i++) {
    uint64_t found = addresses[i & mask];
    if (found == address)
      return false;
    if (!found) {
      addresses[i & mask] = address;
      return true;
    }
  }
}

// The cell of a block that is alive and was born in a scope; 0 for any other.
static uint64_t survivor_cell(uint64_t address, uint32_t slot) {
  uint64_t *cell = mg_cell_find((uintptr_t)address);
  uint64_t value = cell ? mg_cell_load(cell) : 0;
  return value && mg_stack_scope(MG_CELL_STACK(value)) == slot + 1 ? value : 0;
}

// Makes room, with the scope's lock held: addresses without a block of the scope are forgotten.
static bool make_room(scope *self, uint32_t slot) {
  uint64_t alive = 0;
  size_t count = (size_t)1 << self->bits;
  for (size_t i = 0; i < count; i++)
    if (self->addresses[i] && survivor_cell(self->addresses[i], slot))
      alive++;
  uint32_t bits = self->bits;
  while (bits <= MOST_BITS && alive * 4 > (uint64_t)1 << bits)
    bits++;
  uint64_t *wider = bits <= MOST_BITS ? take_piece(bits) : NULL;
  if (!wider)
    return false;
  self->used = 0;
  for (size_t i = 0; i < count; i++)
    if (self->addresses[i] && survivor_cell(self->addresses[i], slot))
      self->used += put(wider, bits, self->addresses[i]);
  give_piece(self->addresses, self->bits);
  self->addresses = wider;
  self->bits = bits;
  return true;
}

// --- births --------------------------------------------------------------------------------------

MG_INLINE uint32_t slot_of(uint64_t token) {
  return (uint32_t)(token & 0xffff) - 1;
}

static bool is_open(uint64_t token) {
  return token && slot_of(token) < MAX_SCOPES &&
         __atomic_load_n(&scopes[slot_of(token)].token, __ATOMIC_ACQUIRE) == token;
}

static bool has(const uint64_t *addresses, uint32_t bits, uint64_t address) {
  uint64_t mask = ((uint64_t)1 << bits) - 1;
  uint64_t i = ((address >> 4) * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - bits);
  for (;; i++) {
    uint64_t found = addresses[i & mask];
    if (found == address || !found)
      return found == address;
  }
}

// The token of a slot's scope if a block was born in it; 0 where it was born in one that had the slot before.
static uint64_t token_with(uint32_t slot, uint64_t address) {
  scope *self = &scopes[slot];
  acquire(&self->lock);
  uint64_t token = self->token && has(self->addresses, self->bits, address) ? self->token : 0;
  release(&self->lock);
  return token;
}

// The recorded block that a task lies in, with its cell; 0 for none. Most tasks are blocks of their own, but a child of
// `async let` lies in memory of its parent: in the parent's block, or in a slab that the parent has asked for.
static uintptr_t block_around(uintptr_t task, uint64_t *value) {
  uintptr_t address = task & ~(uintptr_t)15;
  uintptr_t lowest = address > MOST_BEFORE_TASK ? address - MOST_BEFORE_TASK : 16;
  while (address >= lowest) {
    uint64_t *cell = mg_cell_find(address);
    if (!cell) {
      // No block begins in this page.
      address = (address & ~(uintptr_t)((1 << MG_PAGE_SHIFT) - 1)) - 16;
      continue;
    }
    *value = mg_cell_load(cell);
    if (*value & MG_CELL_LIVE)
      return task - address < MG_CELL_SIZE(*value) ? address : 0;
    address -= 16;
  }
  return 0;
}

// The scope of the calling thread as a token; 0 for none.
static uint64_t current_scope(void) {
  const uint64_t *local = functions.local_value(functions.key);
  if (local && *local)
    return is_open(*local) ? *local : 0;
  // A detached task has no task-local values, nor have its children, but its memory was born in the scope that made it.
  void *task = functions.current_task();
  uint64_t value = 0;
  uintptr_t block = task ? block_around((uintptr_t)task, &value) : 0;
  uint32_t number = block ? mg_stack_scope(MG_CELL_STACK(value)) : 0;
  if (number)
    return token_with(number - 1, block);
  uint64_t token = atomic_load_explicit(&strays, memory_order_acquire);
  return is_open(token) ? token : 0;
}

uint64_t mg_scope_enter(uint32_t *stack) {
  uint64_t token = current_scope();
  if (!token)
    return 0;
  uint32_t row = mg_stack_in_scope(*stack, slot_of(token) + 1);
  // Where the table of stacks is full the block loses its stack, not its scope.
  *stack = MG_LIKELY(row) ? row : scopes[slot_of(token)].row;
  return token;
}

void mg_scope_add(uint64_t token, uintptr_t block) {
  scope *self = &scopes[slot_of(token)];
  acquire(&self->lock);
  if (self->token == token) {
    if (self->used * 2 >= (uint64_t)1 << self->bits && !make_room(self, slot_of(token)))
      __atomic_fetch_add(&self->lost, 1, __ATOMIC_RELAXED);
    else
      self->used += put(self->addresses, self->bits, block);
  }
  release(&self->lock);
}

// --- scopes --------------------------------------------------------------------------------------

int memory_graph_scopes_start(memory_graph_task_functions given) {
  if (mg_other_api || mg_refuses_samples())
    return ENOTSUP;
  int error = mg_start();
  if (error)
    return error;
  mg_thread.busy++;
  acquire(&lock);
  if (!pieces.base) {
    functions = given;
    size_t bytes = (size_t)1 << 34;
    while (bytes > ((size_t)1 << 24) && !mg_arena_reserve(&pieces, bytes))
      bytes >>= 1;
    error = pieces.base ? 0 : ENOMEM;
  }
  release(&lock);
  mg_thread.busy--;
  return error;
}

static uint64_t open_locked(bool takes_strays) {
  uint32_t slot;
  if (closed_count > QUARANTINE || (closed_count && slot_count == MAX_SCOPES)) {
    slot = closed[closed_first];
    closed_first = (closed_first + 1) % MAX_SCOPES;
    closed_count--;
  } else if (slot_count < MAX_SCOPES) {
    slot = slot_count++;
  } else {
    return 0;
  }
  scope *self = &scopes[slot];
  self->addresses = take_piece(LEAST_BITS);
  if (!self->addresses) {
    closed[(closed_first + closed_count++) % MAX_SCOPES] = (uint16_t)slot;
    return 0;
  }
  self->bits = LEAST_BITS;
  self->used = self->lost = 0;
  if (!self->row)
    self->row = mg_stack_in_scope(0, slot + 1);
  if (!self->row) {
    give_piece(self->addresses, self->bits);
    closed[(closed_first + closed_count++) % MAX_SCOPES] = (uint16_t)slot;
    return 0;
  }
  uint64_t token = ++serial << 16 | (slot + 1);
  __atomic_store_n(&self->token, token, __ATOMIC_RELEASE);
  if (takes_strays)
    atomic_store_explicit(&strays, token, memory_order_release);
  return token;
}

uint64_t memory_graph_scope_open(bool takes_strays) {
  if (!pieces.base || !mg_is_here())
    return 0;
  mg_thread.busy++;
  acquire(&lock);
  uint64_t token = open_locked(takes_strays);
  release(&lock);
  if (token)
    atomic_fetch_add(&mg_scopes_open, 1);
  mg_thread.busy--;
  return token;
}

void memory_graph_scope_take_strays(uint64_t token, bool takes) {
  uint64_t expected = token;
  if (takes)
    atomic_store_explicit(&strays, token, memory_order_release);
  else
    atomic_compare_exchange_strong(&strays, &expected, 0);
}

static void sift_down(memory_graph_survivor *blocks, size_t from, size_t count) {
  for (size_t child; (child = 2 * from + 1) < count; from = child) {
    if (child + 1 < count && blocks[child + 1].address > blocks[child].address)
      child++;
    if (blocks[from].address >= blocks[child].address)
      return;
    memory_graph_survivor swapped = blocks[from];
    blocks[from] = blocks[child];
    blocks[child] = swapped;
  }
}

// In place: qsort may ask the allocator.
static void sort(memory_graph_survivor *blocks, size_t count) {
  for (size_t i = count / 2; i-- > 0;)
    sift_down(blocks, i, count);
  for (size_t end = count; end-- > 1;) {
    memory_graph_survivor largest = blocks[0];
    blocks[0] = blocks[end];
    blocks[end] = largest;
    sift_down(blocks, 0, end);
  }
}

size_t memory_graph_scope_survivors(uint64_t token, memory_graph_survivor *blocks, size_t room) {
  if (!is_open(token))
    return 0;
  uint32_t slot = slot_of(token);
  scope *self = &scopes[slot];
  size_t found = 0;
  mg_thread.busy++;
  acquire(&self->lock);
  for (size_t i = 0, count = (size_t)1 << self->bits; i < count; i++) {
    uint64_t address = self->addresses[i];
    uint64_t cell = address ? survivor_cell(address, slot) : 0;
    if (!cell)
      continue;
    if (blocks && found < room)
      blocks[found] = (memory_graph_survivor){address, MG_CELL_SIZE(cell), MG_CELL_STACK(cell),
                                              (cell & MG_CELL_REGISTERED) != 0};
    found++;
  }
  release(&self->lock);
  mg_thread.busy--;
  if (blocks)
    sort(blocks, found < room ? found : room);
  return found;
}

__attribute__((noinline)) void memory_graph_clear_dead_stack(void) {
  char dead[128 << 10];
  memset(dead, 0, sizeof dead);
  // The compiler must believe that somebody reads it.
  __asm__ volatile("" : : "r"(dead) : "memory");
}

size_t memory_graph_stack_frames(uint32_t stack, uint64_t *frames, size_t room) {
  return mg_stack_frames(stack, frames, room);
}

typedef struct image_search {
  uint64_t address;
  const char *found;
} image_search;

static int look_into(struct dl_phdr_info *image, size_t size, void *context) {
  (void)size;
  image_search *search = context;
  for (int i = 0; i < image->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &image->dlpi_phdr[i];
    if (segment->p_type == PT_LOAD &&
        search->address - image->dlpi_addr - segment->p_vaddr < segment->p_memsz) {
      search->found = image->dlpi_name;
      return 1;
    }
  }
  return 0;
}

// Not dladdr: that one goes through all symbols of the image.
const char *memory_graph_image(uint64_t address) {
  image_search search = {address, NULL};
  dl_iterate_phdr(look_into, &search);
  return search.found;
}

void memory_graph_thread_quiet(bool is_quiet) {
  mg_thread.busy += is_quiet ? MG_QUIET : -MG_QUIET;
}

uint64_t memory_graph_scope_lost(uint64_t token) {
  return is_open(token) ? __atomic_load_n(&scopes[slot_of(token)].lost, __ATOMIC_RELAXED) : 0;
}

bool memory_graph_copy(uint64_t address, void *to, size_t bytes) {
  struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)address, bytes};
  return mg_sys6(SYS_process_vm_readv, mg_pid(), (long)&here, 1, (long)&there, 1, 0) == (long)bytes;
}

void memory_graph_scope_close(uint64_t token) {
  if (!is_open(token))
    return;
  memory_graph_scope_take_strays(token, false);
  uint32_t slot = slot_of(token);
  scope *self = &scopes[slot];
  mg_thread.busy++;
  acquire(&self->lock);
  __atomic_store_n(&self->token, 0, __ATOMIC_RELEASE);
  give_piece(self->addresses, self->bits);
  self->addresses = NULL;
  release(&self->lock);
  acquire(&lock);
  closed[(closed_first + closed_count++) % MAX_SCOPES] = (uint16_t)slot;
  release(&lock);
  atomic_fetch_sub(&mg_scopes_open, 1);
  mg_thread.busy--;
}
