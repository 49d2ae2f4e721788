# SPDX-License-Identifier: MIT
#
# A 6.1 kernel with the kernel's debugging options (debug.config), built from the distribution's source package.
# For tests/guest/build/get-kernel.sh. debug-6.12.sh sources this file and overrides its names.
source=linux-source-6.1
suites="bookworm bookworm-updates"
# a later file overrides an earlier one's value of a symbol
configs=("$here/build/kernel/debug.config")

# increment `1` with every change of this script that changes the kernel
key() { cat "${configs[@]}" | grep -v '^ *#' | sha256sum | sed 's/ .*/ 1/'; }

# Sources that x86 does not compile are skipped. The Kconfig files and Makefiles of all architectures are needed.
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

# The kernel's build drops symbols with unmet dependencies silently, so check that the result has every line.
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

# Copies the headers, scripts and selftests for building and checking modules from a built tree to the folder $1.
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
	# everything is built in: the kernel has no modules
	mkdir -p "lib/modules/$(cat release)" && rm -rf "$source" unpacked apt
}
