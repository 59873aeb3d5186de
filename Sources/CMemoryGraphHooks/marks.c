// marks.c: generations, and the names of marks and of their files.

#include "mg_agent.h"
#include "mg_sys.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

enum { MAX_MARKS = 1 << 16, MAX_NAME = 200, MAX_PATH = MG_MAX_PATH };

// One mark at a time; a second one waits for its turn.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static mg_arena entries;    // mg_mark_entry
static mg_arena file_names; // const char *, the names used for files in this run
static uint32_t file_name_count;
static const char *folder;
static bool generation_ended;

// Whether the mark of the program's end was taken.
static bool is_over;

bool mg_marks_start(void) {
  if (!mg_arena_reserve(&entries, MAX_MARKS * sizeof(mg_mark_entry)) ||
      !mg_arena_reserve(&file_names, MAX_MARKS * sizeof(const char *)))
    return false;
  mg_state.marks = (uintptr_t)entries.base;
  return true;
}

void mg_marks_set_folder(const char *path) {
  folder = path;
  // As `memgraph run` does: a folder that is asked for is made. Where that fails the first snapshot says why.
  if (path)
    mg_sys2(SYS_mkdir, path, 0777);
}

void mg_marks_end_generation(void) {
  __atomic_store_n(&mg_state.generation, mg_state.generation + 1, __ATOMIC_RELAXED);
  generation_ended = true;
}

static int append_mark(const char *name) {
  uint64_t row = mg_state.mark_count;
  const char *kept = mg_keep_text(name);
  if (!kept || !mg_arena_commit(&entries, (row + 1) * sizeof(mg_mark_entry)))
    return ENOMEM;
  ((mg_mark_entry *)(void *)entries.base)[row] = (mg_mark_entry){
      .name = (uintptr_t)kept, .time = mg_clock(CLOCK_BOOTTIME), .generation = mg_state.generation};
  mg_state.mark_name = (uintptr_t)kept;
  mg_state.mark_count = row + 1;
  return 0;
}

// Writes a name into a buffer as the stem of a file's name.
static size_t sanitize(const char *name, char *stem) {
  size_t count = 0;
  for (const char *c = name; *c && count < MAX_NAME; c++) {
    bool is_plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                    (*c >= '0' && *c <= '9') || *c == '_' || *c == '-' || (*c == '.' && count > 0);
    stem[count++] = is_plain ? *c : '-';
  }
  if (count == 0)
    stem[count++] = '-';
  stem[count] = 0;
  return count;
}

static bool is_used(const char *stem) {
  const char **names = (const char **)(void *)file_names.base;
  for (uint32_t i = 0; i < file_name_count; i++)
    if (strcmp(names[i], stem) == 0)
      return true;
  return false;
}

static size_t append_number(char *text, size_t at, unsigned number) {
  char digits[12];
  size_t count = 0;
  do
    digits[count++] = (char)('0' + number % 10);
  while (number /= 10);
  text[at++] = '-';
  while (count)
    text[at++] = digits[--count];
  text[at] = 0;
  return at;
}

// The path for a mark's snapshot: a name that was used in this run gets -2, -3, ...
static int path_for(const char *name, char *path) {
  char stem[MAX_NAME + 16];
  size_t count = sanitize(name, stem);
  for (unsigned number = 2; is_used(stem); number++)
    append_number(stem, count, number);
  const char *kept = mg_keep_text(stem);
  if (!kept || !mg_arena_commit(&file_names, (file_name_count + 1) * sizeof(const char *)))
    return ENOMEM;
  ((const char **)(void *)file_names.base)[file_name_count++] = kept;
  size_t folder_bytes = strlen(folder), stem_bytes = strlen(stem);
  if (folder_bytes + stem_bytes + sizeof "/.mgraph" > MAX_PATH)
    return ENAMETOOLONG;
  memcpy(path, folder, folder_bytes);
  path[folder_bytes] = '/';
  memcpy(path + folder_bytes + 1, stem, stem_bytes);
  memcpy(path + folder_bytes + 1 + stem_bytes, ".mgraph", sizeof ".mgraph");
  return 0;
}

// Makes a path absolute: the reader has another working folder.
static int absolute_path(const char *path, char *result) {
  size_t bytes = strlen(path) + 1, folder_bytes = 0;
  if (path[0] != '/') {
    long count = mg_sys2(SYS_getcwd, result, MAX_PATH);
    if (count < 0)
      return (int)-count;
    folder_bytes = (size_t)count; // with its NUL
    result[folder_bytes - 1] = '/';
  }
  if (folder_bytes + bytes > MAX_PATH)
    return ENAMETOOLONG;
  memcpy(result + folder_bytes, path, bytes);
  return 0;
}

static int take(const char *name, const char *path) {
  int error = append_mark(name);
  if (error)
    return error;
  generation_ended = false;
  if (path)
    error = mg_channel_snapshot(path);
  // No copy of the process was made: no thread has to stand still for the number alone.
  if (!generation_ended)
    mg_marks_end_generation();
  return error;
}

// Who wants a mark or a snapshot.
enum asker {
  THE_PROGRAM,
  ITS_END,
  ANOTHER_PROCESS,
};

static int mark(const char *name, char *written, enum asker asker) {
  if (!name)
    return EINVAL;
  static char path[MAX_PATH]; // not on the stack, which may be a small one
  pthread_mutex_lock(&lock);
  mg_thread.busy++;
  int error = asker == ANOTHER_PROCESS && is_over ? ESRCH : folder ? path_for(name, path) : 0;
  if (!error)
    error = take(name, folder ? path : NULL);
  if (written)
    strcpy(written, folder && !error ? path : "");
  if (asker == ITS_END)
    is_over = true;
  mg_thread.busy--;
  pthread_mutex_unlock(&lock);
  return error;
}

int mg_mark(const char *name) {
  return mark(name, NULL, THE_PROGRAM);
}

int mg_mark_end(const char *name) {
  return mark(name, NULL, ITS_END);
}

int mg_mark_telling(const char *name, char *written) {
  return mark(name, written, ANOTHER_PROCESS);
}

static int snapshot(const char *path, enum asker asker) {
  if (!path || !*path)
    return EINVAL;
  static char absolute[MAX_PATH]; // not on the stack, which may be a small one
  char stem[MAX_NAME + 1];
  pthread_mutex_lock(&lock);
  mg_thread.busy++;
  int error = asker == ANOTHER_PROCESS && is_over ? ESRCH : absolute_path(path, absolute);
  if (!error) {
    // A snapshot ends a generation as a mark does, or two snapshots could not be told apart. It is
    // named after its file.
    const char *name = strrchr(absolute, '/') + 1;
    size_t bytes = strlen(name);
    const char *extension = ".mgraph";
    if (bytes > strlen(extension) && strcmp(name + bytes - strlen(extension), extension) == 0)
      bytes -= strlen(extension);
    if (bytes > MAX_NAME)
      bytes = MAX_NAME;
    memcpy(stem, name, bytes);
    stem[bytes] = 0;
    error = take(stem, absolute);
  }
  mg_thread.busy--;
  pthread_mutex_unlock(&lock);
  return error;
}

int mg_snapshot(const char *path) {
  return snapshot(path, THE_PROGRAM);
}

int mg_snapshot_asked(const char *path) {
  return snapshot(path, ANOTHER_PROCESS);
}
