# shellcheck shell=bash
# What the reader of docs/guide/defaults.md has: a container with a theme.
# shellcheck source=tools/lib/pages/common.sh
. "$PAGES/common.sh"
groupctl create ./shared/
groupctl defaults set ./shared/ settings theme dark
finish() { [ "$(command groupctl defaults get ./shared/ settings theme)" = light ]; }
