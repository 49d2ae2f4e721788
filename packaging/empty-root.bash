# SPDX-License-Identifier: MIT
#
# Functions that run commands in an empty Debian by chroot. Source it, then call:
#
#   unpack_root FOLDER SUITE      unpacks packaging/empty-debian there, ready for apt
#   inside COMMAND...             runs the command in $root with a clean environment
#   quiet COMMAND...              the same without output; if it fails, prints its last lines and ends the script (die)
#
# The caller sets `root` and `scratch`, is root, and has a private mount namespace or unmounts $root/proc.

unpack_root() {
	local tar

	tar=$(packaging/empty-debian "$2") || return
	mkdir -p "$1" && tar -C "$1" -xf "$tar" || return
	mount -t proc proc "$1/proc" 2>/dev/null
	[ -e "$1/dev/null" ] || mknod -m 666 "$1/dev/null" c 1 3
	# start no services
	printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d" && chmod 755 "$1/usr/sbin/policy-rc.d"
	# as Debian's installer does: else mpirun asks name servers for this machine, 5 s each time
	printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "$(uname -n)" >"$1/etc/hosts"
	cp /etc/resolv.conf "$1/etc/resolv.conf" 2>/dev/null
	return 0
}

inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"; }

quiet() { inside "$@" >"$scratch/out" 2>&1 || { tail -20 "$scratch/out" >&2; die "'$*' failed"; }; }
