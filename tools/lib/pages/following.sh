# shellcheck shell=bash
# What the reader of docs/guide/following.md has: a container with a few items, and a place for their copies.
# shellcheck source=tools/lib/pages/common.sh
. "$PAGES/common.sh"
groupctl create ./shared/
mkdir copy
echo build/ >.gitignore
for item in src/main.c notes.txt; do echo "$item" | groupctl write ./shared/ "$item"; done
has_come() {
    case "$*" in
        *src.tar*) [ -s src.tar ] ;;
        *seen.cursor*) [ -s seen.cursor ] ;;
        *) grep -q 'created src/main.c' handled ;;
    esac 2>/dev/null
}
# In another terminal, somebody works until there is an archive.
work() {
    for number in $(seq 600); do
        if [ -s src.tar ]; then return; fi
        echo "$number" | groupctl write ./shared/ src/main.c
    done
}
watch-group() {
    work &
    until_interrupted "$(type -P watch-group)" "$@"
}
handle() { echo "$1 $2" >>handled; }
finish() { grep -q 'created src/main.c' handled && tar -tf src.tar | grep main.c >/dev/null && [ -s seen.cursor ]; }
