# shellcheck shell=bash
# What the reader of docs/guide/shell.md has: a program that a message starts, a makefile, SQLite's shell.
# shellcheck source=tools/lib/pages/common.sh
. "$PAGES/common.sh"
swift() { :; }
make() { :; }
todo-widget() { until_interrupted "$(type -P todo-widget)" "$@"; }
widget-host() { until_interrupted "$(type -P widget-host)" "$@"; }
groupctl() {
    if [ "$1 $2" = "channels follow" ]; then until_interrupted "$(type -P groupctl)" "$@"; else command groupctl "$@"; fi
}
ln -s "$PAGES/../../../Sources" Sources
printf '#!/bin/sh\ncat >/dev/null\n' >switch
chmod +x switch
printf 'all:\n\t@true\n' >Makefile
finish() { grep -q Milk ./shared/Library/todo.json; }
