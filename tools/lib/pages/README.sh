# shellcheck shell=bash
# What the reader of README.md has.
swift() { :; }
watch-group() { "$(type -P watch-group)" "$@" >"$HOME/stream"; }
finish() { [ "$(groupctl read ./shared/ n)" = 5 ] && grep -q now.txt "$HOME/stream"; }
