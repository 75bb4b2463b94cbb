"""The checks of tools/window-check: see there."""
