// mappings.c: which mapping of the process an address lies in, asked of the kernel.

#include "mg_agent.h"
#include "mg_sys.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static uintptr_t parse_hex(const char **text) {
  uintptr_t value = 0;
  for (;; (*text)++) {
    char c = **text;
    if (c >= '0' && c <= '9')
      value = value << 4 | (uintptr_t)(c - '0');
    else if (c >= 'a' && c <= 'f')
      value = value << 4 | (uintptr_t)(c - 'a' + 10);
    else
      return value;
  }
}

// start-end perms offset device inode   path
static void parse_line(const char *line, mg_mapping *mapping) {
  const char *text = line;
  mapping->low = parse_hex(&text);
  text++;
  mapping->high = parse_hex(&text);
  bool is_writable = text[0] == ' ' && text[1] == 'r' && text[2] == 'w';
  for (int field = 0; field < 4 && *text; field++) {
    text += strspn(text, " ");
    text += strcspn(text, " ");
  }
  text += strspn(text, " ");
  mapping->is_heap =
      is_writable && (!*text || strcmp(text, "[heap]") == 0 || strncmp(text, "[anon", 5) == 0);
}

bool mg_mapping_find(uintptr_t address, mg_mapping *mapping) {
  // The thread's own: the main thread, whose /proc/self is, has no memory any more once it has ended.
  long file = mg_sys4(SYS_openat, AT_FDCWD, "/proc/thread-self/maps", O_RDONLY | O_CLOEXEC, 0);
  if (file < 0)
    return false;
  char buffer[1024];
  size_t have = 0;
  bool found = false, skips_rest = false;
  while (!found) {
    long count = mg_sys3(SYS_read, file, buffer + have, sizeof buffer - 1 - have);
    if (count == -EINTR)
      continue;
    if (count <= 0)
      break;
    have += (size_t)count;
    buffer[have] = 0;
    char *line = buffer;
    while (!found) {
      char *end = memchr(line, '\n', have - (size_t)(line - buffer));
      // A line that is longer than the buffer has a long path; its beginning says all.
      bool is_cut = !end && line == buffer && have == sizeof buffer - 1;
      if (!skips_rest && (end || is_cut)) {
        if (end)
          *end = 0;
        parse_line(line, mapping);
        found = address >= mapping->low && address < mapping->high;
      }
      if (!end) {
        have = is_cut || skips_rest ? 0 : have - (size_t)(line - buffer);
        skips_rest = is_cut || skips_rest;
        memmove(buffer, line, have);
        break;
      }
      skips_rest = false;
      line = end + 1;
    }
  }
  mg_sys1(SYS_close, file);
  return found;
}
