# SPDX-License-Identifier: MIT
#
# The distribution's kernel for arm64, where a device tree describes the devices. Unpacks the image and headers from the
# machine's Debian mirror; the programs that build modules are this machine's. For tests/guest/build/get-kernel.sh.
suite=$debian
# the release's kernel version, and the name of the package of its module tools
version=6.12
kbuild() { echo "linux-kbuild-${1%-arm64}"; }
if [ $debian = bookworm ]; then
	version=6.1
	kbuild() { echo linux-kbuild-6.1; }
fi

# A newer build of the package does not change the key. Increment the number with every change of the result.
key() { echo "arm64 $version of $suite 1"; }

make_kernel() {
	local mirror release deb apt=$PWD/apt
	mirror=$(need_mirror) || unavailable "the machine's apt sources name no Debian mirror ('apt-get update' run?)"
	apt_architecture=arm64
	new_state "$apt" "$mirror" $suite || unavailable "the index of $suite for arm64 could not be loaded. Is the network there?"
	release=$(private_apt "$apt" apt-cache search --names-only "^linux-image-${version/./\\.}\.[0-9.]*(-[0-9]+|\+deb[0-9]+)-arm64\$" |
		sed 's/^linux-image-\([^ ]*\).*/\1/' | sort -V | tail -1)
	[ -n "$release" ] || unavailable "$suite has no kernel $version for arm64: tests/guest/build/kernel/arm64.sh needs another suite"
	say "loading kernel $release (about 75 MB)"
	private_apt "$apt" apt-get download linux-image-$release linux-headers-$release \
		linux-headers-${release%-arm64}-common >&2 || unavailable "the packages of kernel $release could not be loaded"
	# modpost and other tools run on this machine, whatever the target
	if [ "$(dpkg --print-architecture)" = arm64 ] || ! load_package $(kbuild $release); then
		apt_architecture=$(dpkg --print-architecture)
		new_state "$apt-here" "$mirror" $suite && private_apt "$apt-here" apt-get download $(kbuild $release) >&2 ||
			unavailable "package $(kbuild $release) could not be loaded"
	fi
	unpack_image linux-image-*.deb "$release"
	for deb in linux-headers-*.deb linux-kbuild-*.deb; do
		dpkg-deb -x "$deb" tree || die "cannot unpack $deb"
	done
	# replace the path that depends on where the package is installed, and the compiler of another machine
	sed -i 's|^include /usr/src/|include ../|' "tree/usr/src/linux-headers-$release/Makefile"
	rm -rf *.deb tree/usr/share tree/lib apt apt-here
	ln -s "tree/usr/src/linux-headers-$release" headers
	echo "$release" >release
}
