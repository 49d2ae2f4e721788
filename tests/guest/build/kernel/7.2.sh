# SPDX-License-Identifier: MIT
#
# Kernel 7.2 from a newer Debian's backports: image, headers, and the compiler for its modules with its dependencies,
# unpacked into a tree. `make` builds modules in that tree by chroot, which needs root.
# For tests/guest/build/get-kernel.sh.
base=trixie suite=trixie-backports

key() { echo "7.2 of $suite 2"; }

make_kernel() {
	local mirror release name deb tool apt=$PWD/apt
	mirror=$(need_mirror) || unavailable "the machine's apt sources name no Debian mirror ('apt-get update' run?)"
	[ "$(id -u)" -eq 0 ] || unavailable "modules for 7.2 are built in a tree of their own, which takes root"
	new_state "$apt" "$mirror" $base $suite || unavailable "the index of $suite could not be loaded. Is the network there?"
	release=$(private_apt "$apt" apt-cache search --names-only '^linux-image-7\.2\.[0-9.]*\+deb[0-9]*-amd64$' |
		sed 's/^linux-image-\([^ ]*\).*/\1/' | sort -V | tail -1)
	[ -n "$release" ] || unavailable "$suite has no kernel 7.2 any more: tests/guest/build/kernel/7.2.sh needs another suite"
	say "loading kernel $release and its compiler (about 200 MB)"
	private_apt "$apt" apt-get install -y --no-install-recommends --download-only "linux-headers-$release" \
		make bash coreutils sed grep mawk findutils base-files >/dev/null || unavailable "the headers of $release could not be loaded"
	# base-files first: it creates the tree's folders and links
	for deb in "$apt"/cache/archives/base-files_*.deb "$apt"/cache/archives/*.deb; do
		dpkg-deb -x "$deb" tree || die "cannot unpack $deb"
	done
	# links that are otherwise made by the package's installation
	ln -sf bash tree/usr/bin/sh && ln -sf mawk tree/usr/bin/awk
	for tool in as ld ld.bfd nm objcopy objdump ar strip readelf; do
		ln -sf "x86_64-linux-gnu-$tool" "tree/usr/bin/$tool"
	done
	mkdir -p tree/module
	for name in "linux-binary-$release" "linux-modules-$release"; do
		private_apt "$apt" apt-get download "$name" >&2 || unavailable "package $name could not be loaded"
	done
	for deb in linux-binary-*.deb linux-modules-*.deb; do
		dpkg-deb -x "$deb" image || die "cannot unpack $deb"
	done
	cp "image/usr/lib/modules/$release/vmlinuz" vmlinuz || die "linux-binary-$release has no kernel where it was"
	add_modules "$(echo image/usr/lib/modules/*/kernel)" "$release"
	rm -rf image linux-*.deb "$apt" tree/usr/share/{doc,man,locale,info}
	ln -s "tree/usr/src/linux-headers-$release" headers
	cat >make <<-END
		#!/bin/sh
		# make MODULE-FOLDER ARGUMENTS: the headers' make, in the tree that has their compiler
		here=\$(cd "\$(dirname "\$0")" && pwd)
		exec unshare -m sh -c 'mount --bind /dev "\$1/tree/dev" && mount --bind "\$2" "\$1/tree/module" &&
			mount -t proc proc "\$1/tree/proc" && tree=\$1/tree && shift 2 &&
			exec chroot "\$tree" /usr/bin/env -i PATH=/usr/bin:/usr/sbin make -C /usr/src/linux-headers-$release \\
				M=/module "\$@"' make "\$here" "\$@"
	END
	chmod +x make
	echo "$release" >release
}
