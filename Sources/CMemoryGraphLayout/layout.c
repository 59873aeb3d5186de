// Nothing but the header: a reader must not get the interposers with it.
#include "mg_layout.h"

_Static_assert(sizeof(mg_thread_entry) == 208, "readers rely on the size");
_Static_assert(sizeof(mg_registration) == 40, "readers rely on the size");
