#!/usr/bin/env bash
# Run by tools/package-deb: installs, uses, upgrades and purges packages in a bare root.
#
# usage: deb-check.sh DIR
#
# Makes a root directory with debootstrap (minbase, of this machine's release), in a mount and a process namespace of its
# own. There is no Swift in it.
set -euo pipefail
shopt -s inherit_errexit

packages="$(realpath -- "$1")"
# shellcheck source=/dev/null
release="$(. /etc/os-release && echo "$VERSION_CODENAME")"
place="$(mktemp -d "${TMPDIR:-/var/tmp}/group-container-deb.XXXXXX")"
# This process sees no mount in it.
trap 'rm -rf --one-file-system -- "$place"' EXIT

echo "== making a new $release"
if ! debootstrap --variant=minbase "$release" "$place/root" >"$place/said" 2>&1; then
    tail -n 20 -- "$place/said" >&2
    exit 1
fi
cp -L -- /etc/resolv.conf "$place/root/etc/resolv.conf" 2>/dev/null || true
cp -- /etc/apt/apt.conf.d/* "$place/root/etc/apt/apt.conf.d/" 2>/dev/null || true
mkdir -p -- "$place/root/srv/new" "$place/root/srv/newer"
cp -- "$packages"/*.deb "$place/root/srv/new/"
# The same packages as a later version.
for package in "$packages"/*.deb; do
    rm -rf -- "$place/package"
    dpkg-deb --raw-extract "$package" "$place/package"
    version="$(sed -n 's/^Version: //p' "$place/package/DEBIAN/control")"
    sed -i "s/^Version: .*/Version: $version+1/; s/(= $version)/(= $version+1)/" "$place/package/DEBIAN/control"
    dpkg-deb --build -Znone --root-owner-group "$place/package" "$place/root/srv/newer/$(basename -- "$package")" >/dev/null
done
cat >"$place/root/srv/use" <<'END'
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LANG=C.UTF-8
said=/srv/said
quietly() {
    if ! "$@" >"$said" 2>&1 </dev/null; then
        tail -n 30 "$said" >&2
        exit 1
    fi
}
# What the packages themselves do not own, and what other programs change.
files() {
    find / -xdev \( -path /proc -o -path /srv -o -path /var/log -o -path /var/cache -o -path /var/lib/apt \
        -o -path /var/lib/dpkg -o -path /tmp -o -path '/etc/*-' \) -prune -o -print | LC_ALL=C sort
}
quietly apt-get --quiet=2 update
# What uses the packages, and the largest that they need, whose triggers leave files. What else they need comes with
# them, and goes.
quietly apt-get --quiet=2 install --yes --no-install-recommends gcc libc6-dev pkg-config python3 libgtk-4-1
files >/srv/before

echo "== install"
quietly apt-get --quiet=2 install --yes --no-install-recommends /srv/new/*.deb
! command -v swift

echo "== use"
useradd --create-home user
cat >/srv/user <<'USER'
set -euo pipefail
cd "$HOME"
groupctl create ./shared/
date | groupctl write ./shared/ now.txt
groupctl read ./shared/ now.txt >/dev/null
python3 - <<'PYTHON'
from group_container import Container
container = Container("./shared", purpose="python")
for _ in range(10):
    container.update_json("n.json", lambda state: {"n": state["n"] + 1}, default={"n": 0})
assert container.read_json("n.json") == {"n": 10}
PYTHON
cat >member.c <<'C'
#include <group_container.h>
#include <stdio.h>
int main(void) {
    group_container container;
    group_error *error;
    if (group_open("./shared", NULL, &container, &error) != GROUP_OK) return puts(error->message), 1;
    if (group_write(container, "c.txt", "C", 1, NULL, NULL, &error) != GROUP_OK) return puts(error->message), 1;
    group_close(container);
}
C
cc -Wall -Werror -o member member.c $(pkg-config --cflags --libs group-container)
./member
[ "$(groupctl read ./shared/ c.txt)" = C ]
echo '{"id":1,"do":"read","path":"c.txt"}' | groupctl serve ./shared/ | grep -q '"text":"C"'
for program in groupctl watch-group widget-host widget-window group-share group-transfer group-cluster; do
    "$program" --version >/dev/null
done
if widget-window ./shared/ >window.log 2>&1; then exit 1; fi
grep -q "display" window.log
USER
runuser -u user -- env HOME=/home/user bash /srv/user
for unit in watch-group@ widget-host@ group-serve@ group-cluster@; do test -e "/usr/lib/systemd/user/$unit.service"; done
test -e /usr/share/man/man1/widget-window.1.gz -a -e /usr/share/applications/widget-window.desktop
test -e /usr/share/man/man1/groupctl.1.gz -a -e /usr/share/bash-completion/completions/groupctl

echo "== upgrade, while a program follows"
runuser -u user -- env HOME=/home/user watch-group /home/user/shared >/srv/stream 2>&1 &
follower=$!
# The first line tells that it follows.
for _ in $(seq 100); do
    echo "$_" | runuser -u user -- env HOME=/home/user groupctl write /home/user/shared/ seen.txt
    if grep -q seen.txt /srv/stream; then break; fi
    sleep 0.1
done
grep -q seen.txt /srv/stream
quietly apt-get --quiet=2 install --yes --no-install-recommends /srv/newer/*.deb
dpkg-query --show --showformat='${Version}\n' group-container | grep -q '+1$'
echo after | runuser -u user -- env HOME=/home/user groupctl write /home/user/shared/ after.txt
for _ in $(seq 100); do
    if grep -q after.txt /srv/stream; then break; fi
    sleep 0.1
done
grep -q after.txt /srv/stream
kill "$follower"
wait "$follower" || true

echo "== purge"
quietly apt-get --quiet=2 purge --yes group-container group-container-window group-container-doc libgroupcontainer0 \
    libgroupcontainer-dev python3-group-container
quietly apt-get --quiet=2 autoremove --purge --yes
userdel --remove user 2>/dev/null
files >/srv/after
if ! diff /srv/before /srv/after; then
    echo "the purge has left something" >&2
    exit 1
fi
echo "installed, used, upgraded and purged; nothing is left"
END
# shellcheck disable=SC2016 # expanded inside
unshare --mount --pid --fork --kill-child --propagation private -- bash -euc '
    cd -- "$1"
    mount --bind . .
    cd -- "$1"
    mount --rbind /dev dev
    mount -t tmpfs -o size=64m,mode=1777 none dev/shm
    mount -t proc none proc
    exec env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        chroot . bash /srv/use
' bash "$place/root"
