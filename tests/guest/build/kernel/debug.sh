# SPDX-License-Identifier: MIT
#
# A 6.1 kernel with everything that looks for mistakes (debug.config), built from the distribution's source
# package. For tests/guest/build/get-kernel.sh. Another kernel of the kind sources this and names its own.
source=linux-source-6.1
suites="bookworm bookworm-updates"
# what a later one says of a symbol counts
configs=("$here/build/kernel/debug.config")

# `1` goes up with every change of this script that makes another kernel
key() { cat "${configs[@]}" | grep -v '^ *#' | sha256sum | sed 's/ .*/ 1/'; }

# What only other machines compile is not unpacked; Kconfig files and Makefiles are needed, of all of them.
skip_sources=('drivers/gpu/*.[ch]' 'drivers/media/*.[ch]' 'drivers/net/*/*.[ch]' 'sound/*.[ch]'
	'arch/[!x]*/*.[chS]' 'Documentation/*.rst' 'Documentation/*.txt' 'Documentation/*.yaml' '*.dts' '*.dtsi')

unpack() {
	local mirror

	rm -rf -- *
	say "loading $source (about 140 MB)"
	if ! load_package $source; then
		mirror=$(need_mirror) && new_state "$PWD/apt" "$mirror" $suites &&
			private_apt "$PWD/apt" apt-get download $source >&2 ||
			unavailable "package $source could not be loaded. Is the network there?"
	fi
	set -o pipefail
	dpkg-deb --fsys-tarfile $source*.deb | tar -xO "./usr/src/$source.tar.xz" | xz -dcT0 |
		tar -x "${skip_sources[@]/#/--exclude=*/}" || die "cannot unpack $source"
	set +o pipefail
	rm -f $source*.deb
	key >unpacked
}

# Symbols that something else forbids go away without a word: every line must be in the result.
check_config() {
	local line lost=
	while read -r line; do
		case $line in
		CONFIG_*=n) grep -q "^${line%n}" .config && lost+=" $line" ;;
		CONFIG_*) grep -qxF "$line" .config || lost+=" $line" ;;
		esac
	done <wanted.config
	[ -z "$lost" ] || die "the kernel's configuration came out without$lost"
}

# What modules are built with, and what checks the driver: to the folder $1, from a built tree.
take_headers() {
	{
		echo ./Makefile ./Kbuild ./.config ./Module.symvers ./COPYING ./CREDITS ./MAINTAINERS ./README \
			./tools/objtool/objtool ./tools/testing/selftests/Makefile ./tools/testing/selftests/lib.mk | tr ' ' '\n'
		find ./arch/x86 -maxdepth 1 -type f
		find ./include ./scripts ./arch/x86/include ./arch/x86/tools ./tools/scripts ./tools/build \
			./tools/testing/selftests/kselftest* ./usr/include ./LICENSES -type f -o -type l
	} | grep -v '\.cmd$\|\.o$' | tar -c --no-recursion -T - | tar -x -C "$1"
}

make_kernel() {
	local log=$PWD/build.log make=(make -s ARCH=x86 KBUILD_BUILD_USER=gtu KBUILD_BUILD_HOST=guest)

	local tool

	for tool in make gcc flex bison bc; do
		command -v $tool >/dev/null || unavailable "$tool is missing, which the kernel's build needs. As root: apt-get install $tool"
	done
	[ "$(cat unpacked 2>/dev/null)" = "$(key)" ] || unpack
	rm -rf headers vmlinuz release lib
	cd "$source" || die "$source has no folder of its name"
	awk -F= '/^CONFIG_/ { line[$1] = $0 } END { for (name in line) print line[name] }' "${configs[@]}" >wanted.config
	"${make[@]}" KCONFIG_ALLCONFIG=wanted.config allnoconfig >"$log" 2>&1 ||
		die "the kernel cannot be configured: $(tail -3 "$log")"
	check_config
	say "building the debug kernel (7 minutes with two processors; the log is $log)"
	timed "debug kernel" "${make[@]}" -j"${JOBS:-$(nproc)}" bzImage modules headers >>"$log" 2>&1 ||
		die "the debug kernel does not build: $(tail -5 "$log")"
	mkdir ../headers && take_headers ../headers || die "cannot copy the kernel's headers"
	cp arch/x86/boot/bzImage ../vmlinuz && "${make[@]}" kernelrelease >../release || exit 1
	cd .. || exit 1
	# everything is built in: no module comes with it
	mkdir -p "lib/modules/$(cat release)" && rm -rf "$source" unpacked apt
}
