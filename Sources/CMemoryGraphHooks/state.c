#include "mg_layout.h"
mg_state_layout mg_state;
