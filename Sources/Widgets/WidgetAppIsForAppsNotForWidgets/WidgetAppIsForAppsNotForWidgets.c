#include "WidgetAppIsForAppsNotForWidgets.h"
