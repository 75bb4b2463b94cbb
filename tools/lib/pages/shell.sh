# shellcheck shell=bash
# What the reader of docs/guide/shell.md has: a program that a message starts, a server, a makefile, SQLite's shell, an editor.
# shellcheck source=tools/lib/pages/common.sh
. "$PAGES/common.sh"
swift() { :; }
make() { :; }
todo-widget() { until_interrupted "$(type -P todo-widget)" "$@"; }
widget-host() { until_interrupted "$(type -P widget-host)" "$@"; }
groupctl() {
    case "$1 $2" in
        "channels follow" | "status --watch") until_interrupted "$(type -P groupctl)" "$@" ;;
        "top "*) ;; # It needs a terminal; its tests have one.
        *) command groupctl "$@" ;;
    esac
}
jq() { cat; }
# An editor that leaves everything as it is.
unset VISUAL
export EDITOR=true
ln -s "$PAGES/../../../Sources" Sources
printf '#!/bin/sh\ncat >/dev/null\n' >switch
printf '#!/bin/sh\nexec sleep 60\n' >server
chmod +x switch server
printf 'all:\n\t@true\n' >Makefile
finish() { grep -q Milk ./shared/Library/todo.json; }
