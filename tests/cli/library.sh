# SPDX-License-Identifier: MIT
# Checks that libgtu.so exports exactly what the public headers declare, and that programs can use the installed library.
. "${0%/*}/tap.bash"

needs gcc
headers=$(cd "$root/include" && echo gtu/*.h uapi/gtu/hw.h)
for h in $headers; do echo "#include <$h>"; done >all.c
# every function that the headers declare but do not define
gcc -aux-info prototypes -fsyntax-only -I"$root/include" all.c
sed -n 's|.*include/gtu/[a-z_]*\.h:[0-9]*:N[CO] \*/ extern [^(]*[ *]\([A-Za-z_0-9]*\) (.*|\1|p' prototypes | sort -u |
	grep -v '^gtu_mpi_' >declared
at_least 80 "$(wc -l <declared)" "functions that the headers declare"
needs nm
nm -D --defined-only "$bin/libgtu.so" | sed -n 's/.* T \([^@]*\).*/\1/p' | sort >exported
same "the library exports the functions that the headers declare" declared exported
nm -D --defined-only "$bin/libgtu.so" | grep -v ' A GTU_' | grep -v '@@GTU_[0-9]*$' >unversioned
empty "every symbol has a version" unversioned
nm -D --defined-only "$bin/libgtu.so" | grep -v ' [TA] ' >data
empty "the library exports no variable" data
sed -n 's/^int \([A-Za-z_]*\)(.*/\1/p' "$root/include/gtu/paper_names.h" | sort >papers
at_least 18 "$(wc -l <papers)" "names of the papers"
grep -v '^gtu_' exported >without_prefix
same "exported names start with gtu_, except those of the papers" without_prefix papers
nm -D --defined-only "$bin/libgtu.so" | sed 's/@.*//' | awk 'NR == FNR { paper[$1]; next }
	$3 ~ /^gtu_/ { at[$1] } $3 in paper { of[$3] = $1 } END { for (p in of) if (!(of[p] in at)) print p }' papers - >differ
empty "each name of the papers is an alias of a gtu_ function" differ
needs gcc
echo '#include <gtu/gtu.h>' | gcc -DGTU_NO_PAPER_NAMES -E -I"$root/include" - >plain.i
echo '#include <gtu/gtu.h>' | gcc -E -I"$root/include" - >papers.i
says "gtu.h has the names of the papers" '\b(load_iru|push_vert|weaver_reg)\b' papers.i
lacks "GTU_NO_PAPER_NAMES leaves out the names of the papers" '\b(load_iru|push_vert|weaver_reg)\b' plain.i

always
at_least 5 "$(wc -w <<<"$headers")" "public headers"
# each public header compiles by itself in C and in C++
for h in $headers; do
	echo "#include <$h>" >one.c
	needs gcc
	check "$h compiles alone in C" gcc -std=c11 -Wall -Wextra -Werror -pedantic-errors -fsyntax-only -I"$root/include" one.c
	needs g++
	check "$h compiles alone in C++" g++ -std=c++11 -Wall -Wextra -Werror -fsyntax-only -I"$root/include" -x c++ one.c
	always
done

needs_install
check "make install installs into DESTDIR" in_turn make -C "$root" install DESTDIR="$work/dest" PREFIX=/opt/gtu
holds "make install installs the tool" test -x dest/opt/gtu/bin/gtu
sed -n '/^```c$/,/^```$/p' "$root/README.md" | sed '/^```/d' >use.c
at_least 10 "$(wc -l <use.c)" "lines in the README's program"
echo "3 elements, the first is 11" >want
needs pkg-config
export PKG_CONFIG_PATH=$work/dest/opt/gtu/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$work/dest
check "a program links with the shared library" \
	bash -c 'gcc use.c -o use-so $(pkg-config --cflags --libs gtu)'
check "the program runs with the shared library" env LD_LIBRARY_PATH=dest/opt/gtu/lib ./use-so
same "the program with the shared library prints the right result" "$out" want
check "the example over weave.h compiles and links" \
	bash -c 'gcc -Wall -Wextra -Werror "$0" -o weave_bfs $(pkg-config --cflags --libs gtu)' "$root/Documentation/examples/weave.c"
printf '0 1\n0 2\n1 3\n4 0\n' >w.txt
for unit in 0 1 2 3 4 5; do
	for direction in push pull; do
		check "the example over weave.h runs by unit $unit, $direction" env LD_LIBRARY_PATH=dest/opt/gtu/lib ./weave_bfs w.txt $unit $direction
		same "the example over weave.h prints the right levels by unit $unit, $direction" "$out" <(printf '0 0\n1 1\n2 1\n3 2\n4 -1\n')
	done
done
check "a program links with the archive" \
	bash -c 'gcc use.c -o use-a $(pkg-config --cflags gtu) dest/opt/gtu/lib/libgtu.a $(pkg-config --libs --static gtu | sed "s/-lgtu//")'
check "the program runs with the archive" ./use-a
same "the program with the archive prints the right result" "$out" want
always
finish
