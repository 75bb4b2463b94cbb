#include "AppsOnly.h"
