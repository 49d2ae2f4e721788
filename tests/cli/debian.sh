# SPDX-License-Identifier: MIT
# Tests the contents of the Debian packages: every file is in its place and in one package, and the module source builds.
# `make deb` builds them as a distribution would and runs lintian; make deb-test installs them.
. "${0%/*}/tap.bash"

for tool in dpkg-buildpackage dpkg-deb make dh dh_dkms dh_python3 fakeroot mpicc; do
	if ! command -v $tool >/dev/null; then
		skip_all "$tool is missing (apt-get install dpkg-dev debhelper dh-dkms dh-python fakeroot libopenmpi-dev)"
	fi
done
check "make-deb builds the packages" in_turn "$root/packaging/make-deb" --built
debs=$root/build/deb-built
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$root/packaging/debian/changelog")
for package in gtu-tools libgtu1 libgtu-mpi1 libgtu-dev python3-gtu gtu-dkms gtu-tests; do
	holds "make-deb builds $package" bash -c "ls '$debs/${package}_${version}_'*.deb"
	mkdir $package
	dpkg-deb -x "$debs/${package}_$version"_*.deb $package
	dpkg-deb -e "$debs/${package}_$version"_*.deb $package.control
	(cd $package && find . -type f -o -type l) | sed 's|^\.||' | sort >$package.files
	holds "$package has a copyright file" test -s "$package/usr/share/doc/$package/copyright"
done
has() { # PACKAGE PATTERN...
	local package=$1 pattern
	shift
	for pattern; do
		holds "$package has $pattern" grep -qE "^$pattern\$" "$package.files"
	done
}
has gtu-tools /usr/bin/gtu /usr/lib/udev/rules.d/60-gtu.rules /etc/security/limits.d/gtu.conf \
	/usr/share/bash-completion/completions/gtu /usr/share/zsh/vendor-completions/_gtu \
	/usr/share/man/man1/gtu-run.1.gz /usr/share/man/man7/gtu.7.gz /usr/share/doc/gtu-tools/README.Debian
has libgtu1 '/usr/lib/[^/]*/libgtu.so.1'
has libgtu-mpi1 '/usr/lib/[^/]*/libgtu-mpi.so.1'
has libgtu-dev /usr/include/gtu/gtu.h '/usr/lib/[^/]*/libgtu.so' '/usr/lib/[^/]*/libgtu.a' '/usr/lib/[^/]*/pkgconfig/gtu.pc' \
	/usr/share/man/man3/gtu_scu.3.gz /usr/share/man/man3/gtu_scu_data.3.gz /usr/share/doc/libgtu-dev/examples/scu.c
has gtu-dkms /usr/src/gtu-$version/dkms.conf /usr/src/gtu-$version/Kbuild /usr/src/gtu-$version/driver/gtu_pci.c \
	/usr/src/gtu-$version/include/uapi/gtu/gtu.h /etc/modprobe.d/gtu.conf /usr/share/man/man4/gtu.4.gz \
	/usr/share/doc/gtu-dkms/README.Debian
has python3-gtu /usr/lib/python3/dist-packages/gtu/__init__.py /usr/lib/python3/dist-packages/gtu/py.typed
has gtu-tests /usr/libexec/gtu/tests/run /usr/libexec/gtu/tests/gtu_test /usr/libexec/gtu/tests/cli/run.sh
at_least 100 "$(cat ./*.files | wc -l)" "files in the packages"
sort ./*.files | uniq -d >twice
empty "no file is in two packages" twice
(cd "$root/driver" && ls ./*.[ch] ./Kconfig ./Makefile) | sed "s|^\.|/usr/src/gtu-$version/driver|" | sort >want
grep "/driver/" gtu-dkms.files >have
same "gtu-dkms has the whole driver" have want
(cd "$root/libruntime/python" && ls gtu/*.py gtu/py.typed) | sort >want
sed -n 's|^/usr/lib/python3/dist-packages/||p' python3-gtu.files | sort >have
same "python3-gtu has the whole module" have want
needs_pciaccess
holds "gtu-tools depends on libpciaccess" grep -qE "^Depends: .*libpciaccess0" gtu-tools.control/control
always
holds "python3-gtu is for every architecture" grep -qx "Architecture: all" python3-gtu.control/control
holds "python3-gtu depends on the library and on NumPy" grep -qE "^Depends: .*libgtu1 \(>= $version\).*python3-numpy" python3-gtu.control/control
given "python3-numpy is missing (apt-get install python3-numpy)" /usr/bin/python3 -c 'import numpy'
check "the module of python3-gtu runs with the library of libgtu1" env PYTHONDONTWRITEBYTECODE=1 \
	PYTHONPATH=python3-gtu/usr/lib/python3/dist-packages LD_LIBRARY_PATH="$(echo libgtu1/usr/lib/*/)" /usr/bin/python3 -c '
import gtu
assert gtu.library_path() == "libgtu.so.1"
assert gtu.run(gtu.generate("road", scale=6), "bfs").stats.vertices == 64'
always
check "gtu doctor of gtu-tools finds the model healthy" gtu-tools/usr/bin/gtu doctor --device model
holds "dkms.conf has the version of the package" grep -qx "PACKAGE_VERSION=\"$version\"" gtu-dkms/usr/src/gtu-$version/dkms.conf
for file in gtu-tools/etc/security/limits.d gtu-dkms/etc/modprobe.d; do
	holds "$file/gtu.conf is a configuration file for dpkg" grep -q "/gtu.conf" "${file%%/*}.control/conffiles"
done
holds "gtu-tools creates the group gtu" grep -q "addgroup --system.* gtu" gtu-tools.control/postinst
holds "the README of gtu-dkms explains Secure Boot" grep -q "mokutil --import" gtu-dkms/usr/share/doc/gtu-dkms/README.Debian
holds "the README of gtu-dkms names the build log" grep -q "/var/lib/dkms/gtu/VERSION/build/make.log" gtu-dkms/usr/share/doc/gtu-dkms/README.Debian

headers=$(ls -d /usr/src/linux-headers-*-amd64 2>/dev/null | tail -1)
given "kernel headers are missing (apt-get install linux-headers-amd64)" test -d "$headers"
# in a folder that is kept while the package has the same files, so that make compiles only what changed
source=$work/gtu-dkms/usr/src/gtu-$version module=$debs/module
update() {
	local file

	(cd "$source" && find . -type f | sort) >files
	cmp -s files "$module/.files" || rm -rf "$module"
	mkdir -p "$module"
	while read -r file; do
		cmp -s "$source/$file" "$module/$file" || install -D -p -m 644 "$source/$file" "$module/$file"
	done <files
	cp files "$module/.files"
	rm -f "$module/gtu.ko"
}
[ -n "$missing" ] || update
check "the module builds from gtu-dkms" make -C "$headers" M="$module" modules
needs modinfo
prints "modinfo reads the built gtu.ko" "^alias: +pci:v00001234d00004754" modinfo "$module/gtu.ko"
always
finish
