#include "group_container.h"
