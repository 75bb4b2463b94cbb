#!/usr/bin/env bash
# Sourced by tools/api and tools/docs; does nothing by itself.

# The public modules.
# shellcheck disable=SC2034 # used where this is sourced
readonly public_modules=(
    GroupContainer Cluster Widgets WidgetApp NotificationCenter WidgetKit Extensions ExtensionHosting GroupDatabase
    Transfers GroupPasteboard GroupSecrets AppleFileCoordination GroupContainerTesting
)

# symbol_graphs DIRECTORY: builds the public modules, and writes the graphs of their public symbols to
# DIRECTORY/MODULE/. The graphs stay in .build/graphs, and are made again once a module was built again.
symbol_graphs() {
    # shellcheck disable=SC2154 # by common.sh
    local directory="$1" kept="$root/.build/graphs" module output built
    for module in Cluster GroupContainerTesting WidgetApp NotificationCenter WidgetKit ExtensionHosting GroupDatabase \
        Transfers GroupPasteboard GroupSecrets AppleFileCoordination; do
        # For an up-to-date build its output is of no use.
        # shellcheck disable=SC2154 # by common.sh
        output="$(swift_build "${swift_options[@]}" --target "$module" 2>&1)" || {
            printf '%s\n' "$output"
            return 1
        }
    done
    built="$(swift_build "${swift_options[@]}" --show-bin-path)"
    if [[ ! -e "$kept/made" ||
        -n "$(find "$built/Modules" -name '*.swiftmodule' -newer "$kept/made" -print -quit)" ]]; then
        rm -rf -- "$kept"
        for module in "${public_modules[@]}"; do
            mkdir -p -- "$kept/$module"
            swift-symbolgraph-extract -module-name "$module" -I "$built/Modules" \
                -I Sources/Container/CGroupLinux/include \
                -Xcc -fmodule-map-file="$built/CGroupLinux.build/module.modulemap" \
                -Xcc -fmodule-map-file="$built/AppsOnly.build/module.modulemap" \
                -Xcc -fmodule-map-file=Sources/Container/CGroupInotifyTools/module.modulemap \
                -Xcc -fmodule-map-file=Sources/Services/CGroupSQLite/module.modulemap \
                -Xcc -fmodule-map-file=Sources/Services/CGroupSecret/module.modulemap \
                -target "$(uname -m)-unknown-linux-gnu" -minimum-access-level public -skip-inherited-docs \
                -emit-extension-block-symbols \
                -output-dir "$kept/$module" || return 1
        done
        : >"$kept/made"
    fi
    mkdir -p -- "$directory"
    cp -R -- "$kept/." "$directory"
}
