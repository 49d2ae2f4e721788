# SPDX-License-Identifier: MIT
#
# The distribution's kernel of the newest release whose headers are installed (package linux-headers-amd64). Its
# image is unpacked without being installed. For tests/guest/build/get-kernel.sh.
key() {
	release=$(for d in /lib/modules/*/build; do
		[ -e "$d/Makefile" ] && basename "$(dirname "$d")"
	done | sort -V | tail -1)
	[ -n "$release" ] || unavailable "no kernel headers are installed. As root: apt-get install linux-headers-amd64"
	echo "$release 2"
}

make_kernel() {
	local release from
	release=$(key) || exit
	release=${release% *}
	if [ -r "/boot/vmlinuz-$release" ] && [ -d "/lib/modules/$release/kernel" ]; then
		cp "/boot/vmlinuz-$release" vmlinuz && add_modules "/lib/modules/$release/kernel" "$release"
	else
		say "loading the image of kernel $release (about 70 MB)"
		load_package "linux-image-$release" ||
			unavailable "the image of kernel $release could not be loaded. Is the network there? If the archive" \
				"has a newer one by now, as root: apt-get update && apt-get install linux-headers-amd64"
		unpack_image linux-image-*.deb "$release"
	fi
	ln -s "/lib/modules/$release/build" headers
	echo "$release" >release
}
