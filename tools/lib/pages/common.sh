# shellcheck shell=bash
# What several pages need.

# A command that goes on until Ctrl-C gets that after two seconds.
until_interrupted() {
    local status=0
    timeout -s INT 2 "$@" || status=$?
    ((status == 0 || status == 2 || status == 124 || status == 130))
}
watch-group() { until_interrupted "$(type -P watch-group)" "$@"; }
