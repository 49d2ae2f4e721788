# SPDX-License-Identifier: MIT
# Tests Documentation/examples: programs built against the installed library give the tool's results. recipes.sh tests
# the template of a unit.
. "${0%/*}/tap.bash"

gtu --quiet generate kronecker --scale 9 --seed 7 g.gtu
gtu --quiet run bfs g.gtu --source 0 --unit none --output hops.txt
reached=$(awk '$2 < 2^62 { n++; if ($2 > far) far = $2 } END { print n " vertices within " far " hops" }' hops.txt)
holds "gtu run bfs reaches more than 100 vertices" test "${reached%% *}" -gt 100

needs_install
needs pkg-config
check "make install installs the library" in_turn make -s -C "$root" install DESTDIR="$work/dest" PREFIX=/opt/gtu SYSCONFDIR=/opt/gtu/etc
export PKG_CONFIG_PATH=$work/dest/opt/gtu/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$work/dest
export LD_LIBRARY_PATH=$work/dest/opt/gtu/lib
# the installed examples equal those of the source
sources=("$root"/Documentation/examples/*.c)
at_least 6 ${#sources[@]} "examples in the source"
for source in "${sources[@]}"; do
	source=dest/opt/gtu/share/doc/gtu/examples/$(basename "$source")
	name=$(basename "$source" .c)
	[ "$name" = unit ] && continue
	holds "$name.c has fewer than 60 lines" awk 'END { exit NR < 5 || NR >= 60 }' "$source"
	check "$name.c builds without a warning against the installed library" bash -c \
		"gcc -std=gnu11 -Wall -Wextra -Werror -O1 $source -o $name \$(pkg-config --cflags --libs gtu)"
	fails_with 1 "$name fails without its graph" "none.gtu" "./$name" none.gtu
	check "$name runs over a graph" "./$name" g.gtu
	[ -n "$missing" ] || cp "$out" "$name.txt"
done
for name in scu graphpeg emogi; do
	head -1 $name.txt >first 2>/dev/null
	same "$name reaches the vertices that gtu run reaches" first <(echo "$reached")
done
same "weave gives the hops that gtu run gives" weave.txt <(sed 's/ 9223372036854775807$/ -1/' hops.txt)
holds "emogi counts the requests of its run" awk '/byte reads/ { n += $3 } END { exit n == 0 }' emogi.txt
edges=$(gtu stat g.gtu --json - | sed -n 's/.*"edges": *\([0-9]*\).*/\1/p')
degree=$(gtu stat g.gtu --json - | sed -n 's/.*"max_degree": *\([0-9]*\).*/\1/p')
head -1 iru.txt >first 2>/dev/null
# edges go in both directions: the maximum in-degree equals the maximum out-degree
same "iru gets every edge once" first <(echo "$edges edges, the greatest in-degree is $degree")
always

finish
