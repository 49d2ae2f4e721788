# SPDX-License-Identifier: MIT
# Tests make install and uninstall, the library's symbols, and completion in bash and zsh.
. "${0%/*}/tap.bash"

needs_install
dest=$work/dest
words=(DESTDIR="$dest" PREFIX=/usr LIBDIR=/usr/lib/somewhere)
check "make install installs into DESTDIR" in_turn make -s -C "$root" install "${words[@]}"
for file in usr/bin/gtu usr/lib/somewhere/libgtu.so usr/lib/somewhere/libgtu.a usr/lib/somewhere/pkgconfig/gtu.pc \
	usr/include/uapi/gtu/{hw,units}.h usr/include/gtu/{gtu,graph,error,gpu,hash,weave}.h usr/share/man/man1/gtu{,-run,-lab}.1 \
	usr/share/man/man3/{gtu_scu,gtu_scu_data}.3 usr/share/man/man4/gtu.4 usr/share/man/man7/gtu.7 \
	usr/share/bash-completion/completions/gtu usr/share/zsh/site-functions/_gtu usr/lib/udev/rules.d/60-gtu.rules \
	usr/lib/sysusers.d/gtu.conf etc/modprobe.d/gtu.conf etc/security/limits.d/gtu.conf; do
	holds "make install installs $file" test -f "dest/$file"
done
check "the installed tool runs" dest/usr/bin/gtu version
for file in "$root"/libruntime/python/gtu/*.py; do
	holds "make install installs Python's ${file##*/}" cmp "$file" "dest/usr/lib/python3/dist-packages/gtu/${file##*/}"
done
mkdir dest/usr/lib/python3/dist-packages/gtu/__pycache__
touch dest/usr/lib/python3/dist-packages/gtu/__pycache__/__init__.cpython-311.pyc
at_least 30 "$(find dest -type f | wc -l)" "installed files"
find dest -perm /022 ! -type l >writable
empty "no installed file is writable by others" writable
holds "the udev rule gives devices to the group gtu" \
	grep -qx 'SUBSYSTEM=="gtu", KERNEL=="gtu\[0-9\]\*", GROUP="gtu", MODE="0660", TAG+="uaccess"' dest/usr/lib/udev/rules.d/60-gtu.rules
for file in modprobe.d security/limits.d; do
	grep -v '^#' "dest/etc/$file/gtu.conf" | grep . >inforce
	holds "$file/gtu.conf has comments" grep -q "^#" "dest/etc/$file/gtu.conf"
	empty "$file/gtu.conf sets nothing as installed" inforce
done
grep -h '^module_param(' "$root"/driver/*.c | sed 's/.*(\([a-z_]*\),.*/\1/' | sort >parameters
sed -n 's/^#options gtu \([a-z_]*\)=[0-9a-f:]*$/\1/p' dest/etc/modprobe.d/gtu.conf | sort >templates
same "modprobe.d/gtu.conf has every parameter of the module" parameters templates

echo 'options gtu hang_ms=5000' >dest/etc/modprobe.d/gtu.conf
check "make install runs over an existing installation" in_turn make -s -C "$root" install "${words[@]}"
holds "make install keeps a configuration file that was changed" grep -q hang_ms=5000 dest/etc/modprobe.d/gtu.conf
check "make uninstall runs with a changed configuration file" in_turn make -s -C "$root" uninstall "${words[@]}"
find dest -type f -o -type l >left
same "make uninstall leaves the changed configuration file and nothing else" left <(echo dest/etc/modprobe.d/gtu.conf)
rm -rf dest
check "make install installs into an empty DESTDIR" in_turn make -s -C "$root" install "${words[@]}"
mkdir -p dest/usr/lib/other
check "make uninstall runs beside another program's folder" in_turn make -s -C "$root" uninstall "${words[@]}"
holds "make uninstall keeps another program's folder, and no other" rmdir dest/usr/lib/other dest/usr/lib dest/usr
find dest -mindepth 1 >left
empty "make uninstall leaves no other file or folder" left

always
needs nm readelf
# the library's exported symbols, by release
nm -D --with-symbol-versions --defined-only "$bin/libgtu.so" | sed 's/.* //; s/@@/@/' | LC_ALL=C sort -u >exported
sed -n 's/^ \([^ ]*@GTU_[0-9]*\) [0-9.]*$/\1/p' "$root/packaging/debian/libgtu1.symbols" | LC_ALL=C sort -u >promised
at_least 80 "$(wc -l <promised)" "symbols in libgtu1.symbols"
sed 's/^\(GTU_[0-9]*\)$/\1@\1/; s/^\(GTU_[0-9]*\)@GTU_.*/\1@\1/' exported | LC_ALL=C sort -u >have
same "the library has the symbols of libgtu1.symbols, and no other" have promised
check "the library's soname is that of libgtu1.symbols" bash -c \
	"readelf -d '$bin/libgtu.so' | grep -q \"\\[\$(sed -n 's/^\\(libgtu\\.so\\.[0-9]*\\) .*/\\1/p' '$root/packaging/debian/libgtu1.symbols')\\]\""

always

# completion
check "make-completion makes the completions" "$root/packaging/completion/make-completion" "$bin/gtu" completion
verbs=$(gtu --help | sed -n '/^usage/d; s/^  \([a-z]*\)   *[^ ].*/\1/p' | grep -vx gtu)
options_of() { # as man.sh holds --help to the parser
	{
		gtu "$1" --help
		[ "$1" = bench ] && gtu bench gpu --help
		echo "  --help  --quiet"
	} | grep '^  --' | grep -oE '(^  |, |  )--[a-z-]+' | grep -o -- '--[a-z-]*' | sort -u
}
complete_bash() { # WORDS...: what is offered for the last
	bash --norc -c '
		. "$1"
		shift
		compopt() { :; }
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_gtu
		printf "%s\n" "${COMPREPLY[@]}"' bash completion/gtu "$@"
}
for verb in $verbs; do
	complete_bash gtu "$verb" -- | sort >offered
	same "bash offers the options of $verb" offered <(options_of "$verb")
done
complete_bash gtu ru >offered
same "bash completes a verb" offered <(echo run)
complete_bash gtu run bfs g.gtu --unit s >offered
same "bash completes a unit" offered <(printf 'scu\nscu-basic\n')
complete_bash gtu run p >offered
holds "bash completes an algorithm" grep -qx pagerank offered
complete_bash gtu bringup --only lo >offered
same "bash completes a step" offered <(echo lockstep)
complete_bash gtu serve --bug dma- >offered
same "bash completes a bug" offered <(printf 'dma-32\ndma-page\n')
complete_bash gtu info --tables i >offered
same "bash completes a unit of the device" offered <(echo iru)
touch graph.gtu
complete_bash gtu run bfs gr >offered
same "bash completes a file" offered <(echo graph.gtu)
complete_bash gtu generate road --seed '' >offered
same "bash offers nothing for --seed" offered <(echo)
# the tool accepts every value that completion offers
complete_bash gtu run bfs x --unit '' >offered
at_least 5 "$(wc -l <offered)" "units that bash offers"
while read -r unit; do
	quietly gtu run bfs none.gtu --unit "$unit"
	says "gtu run knows the unit $unit that bash offers" "none.gtu|GPU|cuda"
done <offered
needs zsh
check "zsh reads its completion" zsh -n completion/_gtu
for verb in $verbs; do
	zsh -f -c '_arguments() { print -rl -- "$@" }; words=(gtu '"$verb"' x); CURRENT=3
		source completion/_gtu' >arguments 2>err.txt
	empty "zsh prints no error for $verb" err.txt
	grep -o "^\*--[a-z-]*" arguments | sed 's/^\*//' | sort >offered
	same "zsh offers the options of $verb" offered <(options_of "$verb")
done
always
finish
