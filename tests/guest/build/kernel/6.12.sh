# SPDX-License-Identifier: MIT
#
# Long-term kernel 6.12 from the machine's Debian mirror: from Debian 12's backports, or from the machine's own newer
# release. Unpacks the image, the headers and the programs that build modules. For tests/guest/build/get-kernel.sh.
suite=$debian
[ $debian != bookworm ] || suite=bookworm-backports

# A newer build of the package does not change the key. Increment the number with every change of the result.
key() { echo "6.12 of $suite 3"; }

make_kernel() {
	local mirror release name deb apt=$PWD/apt
	mirror=$(need_mirror) || unavailable "the machine's apt sources name no Debian mirror ('apt-get update' run?)"
	new_state "$apt" "$mirror" $suite || unavailable "the index of $suite could not be loaded. Is the network there?"
	release=$(private_apt "$apt" apt-cache search --names-only '^linux-image-6\.12\.[0-9.]*\+deb[0-9]*-amd64$' |
		sed 's/^linux-image-\([^ ]*\).*/\1/' | sort -V | tail -1)
	[ -n "$release" ] || unavailable "$suite has no kernel 6.12 any more: tests/guest/build/kernel/6.12.sh needs another suite"
	say "loading kernel $release (about 125 MB)"
	for name in linux-image-$release linux-headers-$release linux-headers-${release%-amd64}-common \
		linux-kbuild-${release%-amd64}; do
		private_apt "$apt" apt-get download "$name" >&2 || unavailable "package $name could not be loaded"
	done
	unpack_image linux-image-*.deb "$release"
	for deb in linux-headers-*.deb linux-kbuild-*.deb; do
		dpkg-deb -x "$deb" tree || die "cannot unpack $deb"
	done
	# the only path that depends on where the package is installed
	sed -i 's|^include /usr/src/|include ../|' "tree/usr/src/linux-headers-$release/Makefile"
	rm -rf tree/usr/share tree/lib "$apt"
	ln -s "tree/usr/src/linux-headers-$release" headers
	echo "$release" >release
}
