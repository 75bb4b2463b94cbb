# shellcheck shell=bash
# What the reader of README.md has.
swift() { :; }
watch-group() { "$(type -P watch-group)" "$@" >"$HOME/stream"; }
export TMPDIR="$PWD"
# The page sets it.
# shellcheck disable=SC2154
finish() { [ "$(groupctl read "$shared" n)" = 5 ] && grep -q now.txt "$HOME/stream"; }
