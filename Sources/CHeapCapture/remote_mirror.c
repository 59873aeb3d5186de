#include "remote_mirror.h"
