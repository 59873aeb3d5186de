// sample.c: which blocks are recorded where only a sample of them is.
//
// Each byte that is asked for is a sample with the same small probability, whatever was asked for before: a
// Poisson process along the bytes, as tcmalloc's sampler (docs/sampling.md of google/tcmalloc) and jemalloc's
// profiler (prof_sample_new_event_wait in src/prof.c) have it. The distance from one sample to the next is then geometric,
// which for such distances is the exponential distribution rounded down. A block of s bytes has a sample in it
// with the probability 1 - exp(-s / interval), so each that has one stands for 1 / (1 - exp(-s / interval))
// blocks. The distribution has no memory: after a block with samples the next distance begins at its end.
//
// Blocks of no bytes are never sampled.

#include "mg_agent.h"
#include "mg_sys.h"

#include <time.h>

// xorshift64*, one state a thread.
static uint64_t next_random(mg_thread_state *self) {
  if (!self->random) {
    // The run's own random number, the thread and the time, mixed as splitmix64 does.
    uint64_t seed = mg_state.run_identity + (uintptr_t)self + mg_clock(CLOCK_MONOTONIC);
    seed = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    seed = (seed ^ seed >> 27) * UINT64_C(0x94d049bb133111eb);
    self->random = (seed ^ seed >> 31) | 1;
  }
  uint64_t state = self->random;
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  self->random = state;
  return state * UINT64_C(0x2545f4914f6cdd1d);
}

// -ln of a number from 1 to 2^53, divided by 2^53. No libm: a preloaded agent runs before libraries are
// initialised.
static double negative_log(uint64_t number) {
  int exponent = 63 - __builtin_clzll(number);
  // number = m * 2^exponent with 1 <= m < 2; ln m = 2 artanh((m - 1) / (m + 1)), whose argument is below 1/3.
  double m = (double)number / (double)(UINT64_C(1) << exponent);
  double t = (m - 1) / (m + 1), square = t * t, power = t, sum = 0;
  for (int n = 1; n <= 21; n += 2) {
    sum += power / n;
    power *= square;
  }
  return (53 - exponent) * 0.69314718055994530942 - 2 * sum;
}

static uint64_t gap_to_next(mg_thread_state *self) {
  uint64_t number = (next_random(self) >> 11) + 1;
  return (uint64_t)(negative_log(number) * mg_config.sample_interval);
}

__attribute__((noinline)) bool mg_sample_reached(size_t size) {
  mg_thread_state *self = &mg_thread;
  if (!self->random) {
    // The thread's first block: the first distance begins before it.
    uint64_t gap = gap_to_next(self);
    if (size <= gap) {
      self->unsampled = gap - size;
      return false;
    }
  }
  self->unsampled = gap_to_next(self);
  return true;
}

void mg_sample_next(void) {
  next_random(&mg_thread); // from here on it is not the thread's first block
  mg_thread.unsampled = 0;
}

// --- the samples that are alive -----------------------------------------------------------------
//
// One for each `interval` bytes of heap or so: few enough for a lock. Rows stay where they are; a row's address is
// written last and cleared first, so that a twin that is made in between sees no half of one.

enum { FIRST_BITS = 14, ROWS_EACH_HEAD = 16, MAX_ROWS = 1 << 26 };

_Atomic(mg_sample_heads *) mg_sample_table;
static mg_arena rows; // mg_sample; row 0 is unused
static uint32_t row_count = 1, live_count, free_row;
static atomic_flag lock = ATOMIC_FLAG_INIT;

static void acquire(void) {
  while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
    mg_sys0(SYS_sched_yield);
}
static void release(void) {
  atomic_flag_clear_explicit(&lock, memory_order_release);
}

MG_INLINE mg_sample *row_at(uint32_t row) {
  return (mg_sample *)(void *)rows.base + row;
}

static mg_sample_heads *make_heads(unsigned bits) {
  mg_sample_heads *table = mg_own_map(sizeof *table + (sizeof table->rows[0] << bits));
  if (table)
    table->shift = 64 - bits;
  return table;
}

bool mg_samples_start(void) {
  if (!mg_arena_reserve(&rows, (size_t)MAX_ROWS * sizeof(mg_sample)) ||
      !mg_arena_commit(&rows, sizeof(mg_sample)))
    return false;
  mg_sample_heads *table = make_heads(FIRST_BITS);
  if (!table)
    return false;
  rows.is_budgeted = true;
  mg_sample_table = table;
  mg_state.samples = (uintptr_t)rows.base;
  mg_state.sample_capacity = 1;
  return true;
}

static void link_row(mg_sample_heads *table, uint32_t row) {
  uint32_t *head = &table->rows[mg_sample_slot(table, row_at(row)->address)];
  row_at(row)->next = *head;
  __atomic_store_n(head, row, __ATOMIC_RELAXED);
}

// Widens the heads where too many chains have rows: each death of a block that is none of them would take the
// lock. Whoever reads the old heads meanwhile finds its own block's chain there as it was.
static void widen(void) {
  mg_sample_heads *old = mg_sample_table;
  unsigned bits = 64 - (unsigned)old->shift;
  if ((uint64_t)live_count * ROWS_EACH_HEAD <= UINT64_C(1) << bits)
    return;
  mg_sample_heads *table = make_heads(bits + 2);
  if (!table)
    return; // more deaths take the lock, no more
  for (uint32_t row = 1; row < row_count; row++)
    if (row_at(row)->address)
      link_row(table, row);
  atomic_store_explicit(&mg_sample_table, table, memory_order_release);
}

// The place that names a block's row: a head, or the row before it.
static uint32_t *find_locked(uintptr_t address) {
  mg_sample_heads *table = mg_sample_table;
  uint32_t *link = &table->rows[mg_sample_slot(table, address)];
  while (*link && row_at(*link)->address != address)
    link = &row_at(*link)->next;
  return link;
}

static void remove_locked(uint32_t *link) {
  uint32_t row = *link;
  mg_sample *entry = row_at(row);
  __atomic_store_n(&entry->address, 0, __ATOMIC_RELEASE);
  __atomic_store_n(link, entry->next, __ATOMIC_RELAXED);
  entry->cell = 0;
  entry->next = free_row;
  free_row = row;
  live_count--;
}

static bool add_locked(uintptr_t address, uint64_t cell) {
  uint32_t row = free_row;
  if (row) {
    free_row = row_at(row)->next;
  } else {
    if (row_count >= MAX_ROWS || !mg_arena_commit(&rows, (row_count + 1) * sizeof(mg_sample)))
      return false;
    row = row_count++;
    mg_state.sample_capacity = row_count;
  }
  mg_sample *entry = row_at(row);
  entry->cell = cell;
  __atomic_store_n(&entry->address, address, __ATOMIC_RELEASE);
  link_row(mg_sample_table, row);
  live_count++;
  widen();
  return true;
}

uint64_t mg_sample_cell(uintptr_t address) {
  acquire();
  uint32_t row = *find_locked(address);
  uint64_t cell = row ? row_at(row)->cell : 0;
  release();
  return cell;
}

bool mg_sample_change(uintptr_t address, uint64_t set, uint64_t cleared) {
  acquire();
  uint32_t *link = find_locked(address);
  bool is_there = true;
  if (*link) {
    uint64_t cell = (row_at(*link)->cell & ~cleared) | set;
    if (cell)
      mg_cell_store(&row_at(*link)->cell, cell);
    else
      remove_locked(link);
  } else if (set) {
    is_there = add_locked(address, set);
  }
  release();
  return is_there;
}

uint64_t mg_sample_take(uintptr_t address) {
  acquire();
  uint32_t *link = find_locked(address);
  uint64_t cell = *link ? row_at(*link)->cell : 0;
  if (cell)
    remove_locked(link);
  release();
  return cell;
}
