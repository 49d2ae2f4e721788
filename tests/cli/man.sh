# SPDX-License-Identifier: MIT
# Checks that the man pages document all of the tool, the library and the driver, and that their examples work.
. "${0%/*}/tap.bash"

check "make-man makes the pages" "$root/Documentation/man/make-man" "$bin/gtu" man "January 1, 2000"
verbs=$(gtu --help | sed -n '/^usage/d; s/^  \([a-z]*\)   *[^ ].*/\1/p' | grep -vxE 'gtu|help|version')
at_least 13 "$(wc -w <<<"$verbs")" "verbs"
needs gcc

# the options of a verb's parser, with macros expanded, and those that its page documents
parsed() {
	gcc -E -P -D_GNU_SOURCE -DGTU_VERSION='""' -I"$root/include" -I"$root" \
		"$@" | tr -d '\n' | grep -oE '\{ ?"[a-z-]+", ?[012], ' | sed 's/[^"]*"\([^"]*\).*/\1/' | grep -vx help |
		sort -u
}
explained() {
	sed -n '/^\.Sh DESCRIPTION/,/^\.Sh [^D]/p' "$1" | grep '^\.It' | grep -o 'Fl \\-[^ ]*' | sed 's/^Fl \\-//; s/\\-/-/g' | sort -u
}
for verb in $verbs; do
	sources=("$root/tools/cmd/cmd_$verb.c")
	[ "$verb" = bench ] && sources+=("$root/tools/bench/bench_gpu.c")
	holds "Documentation has the hand-written part of gtu-$verb(1)" test -s "$root/Documentation/man/gtu-$verb.part"
	holds "make-man makes gtu-$verb(1)" test -s "man/man1/gtu-$verb.1"
	parsed "${sources[@]}" >parsed
	explained "man/man1/gtu-$verb.1" >explained
	same "gtu-$verb(1) and --help have the options that the verb takes" parsed explained
	holds "gtu(1) refers to gtu-$verb(1)" grep -q "^\.Xr gtu-$verb 1" man/man1/gtu.1
done

always

# section 3: exported functions, and inline functions of the headers
{
	sed -n 's/^\t\([A-Za-z][A-Za-z_0-9]*\);$/\1/p' "$root"/libruntime/libgtu{,-mpi}.map
	cat "$root"/include/gtu/*.h | grep '^static inline' | sed 's/(.*//; s/.*[ *]//'
} | sort >functions
at_least 90 "$(wc -l <functions)" "public functions"
: >without
while read -r function; do
	page=man/man3/$function.3
	{ [ -e "$page" ] && grep -q "^\.Nm $function\( ,\)\?$" "$page" && grep -q "^\.Ss .*&$function()" "$page"; } ||
		echo "$function" >>without
done <functions
empty "every public function is in a page, by its name" without
ls man/man3 | sed 's/\.3$//' | grep -vxFf functions >pages
grep -v '^#' "$root/Documentation/man/families" | cut -d'|' -f1 | grep -vxFf functions | sort >families
same "section 3 has no page for an unknown function" <(sort pages) families

# section 4
{
	grep -o '^#define GTU_IOCTL_[A-Z_]*	*_IO(' "$root/include/uapi/gtu/gtu.h" | grep -o 'GTU_IOCTL_[A-Z_]*'
	grep -h '^module_param(' "$root"/driver/*.c | sed 's/.*(\([a-z_]*\),.*/\1/'
	sed -n 's/^GTU_ATTR(\([a-z_0-9]*\),.*/\1/p' "$root/driver/gtu_sysfs.c"
	# errors: the table of the interface
	sed -n '/Errors of all ioctls/,/^ \*\/$/s/^ \* .*%\(E[A-Z0-9]*\)  *.*/\1/p' "$root/include/uapi/gtu/gtu.h"
} >of_driver
at_least 50 "$(wc -l <of_driver)" "ioctls, parameters and attributes"
while read -r word; do
	grep -qE "^\.It .*\b$word\b" man/man4/gtu.4 || echo "$word"
done <of_driver >without
empty "gtu(4) has every ioctl, parameter, attribute and error" without
grep -o '^\.It \(Dv GTU_IOCTL\|Va [a-z_0-9]* Pq\).*' man/man4/gtu.4 | grep -oE 'GTU_IOCTL_[A-Z_]*|Va [a-z_0-9]*' | sed 's/Va //' |
	sort -u >said
grep -E '^GTU_IOCTL' of_driver >want
grep -h '^module_param(' "$root"/driver/*.c | sed 's/.*(\([a-z_]*\),.*/\1/' >>want
same "gtu(4) has no unknown ioctl or parameter" said <(sort -u want)

# names in the hand-written parts exist
cat "$root"/include/gtu/*.h "$root"/include/uapi/gtu/*.h >headers
grep -hoE '\b(GTU_[A-Z_0-9]+|struct [a-z_]+|Fn [a-z_0-9]+)\b' "$root"/Documentation/man/gtu.[47].part | sed 's/^Fn //' |
	sort -u >named
while read -r word; do
	grep -qE "\b$word\b" headers || echo "$word"
done <named >without
at_least 20 "$(wc -l <named)" "names in gtu(4) and gtu(7)"
empty "names in gtu(4) and gtu(7) are declared" without

pages=()
for page in man/man[1347]/*.[1347]; do [ -L "$page" ] || pages+=("$page"); done
at_least 30 ${#pages[@]} "pages"
grep -o '^\.Xr [^ ]* [0-9]' "${pages[@]}" | sed 's/:\.Xr / /' >references
at_least 100 "$(wc -l <references)" "references from page to page"
while read -r page name section; do
	[ -e "man/man$section/$name.$section" ] || echo "$page: $name($section)"
done <references >dangling
empty "pages that are referred to exist" dangling
needs mandoc
[ -n "$missing" ] || mandoc -Tlint "${pages[@]}" 2>&1 | grep -v 'referenced manual not found' >lint
empty "mandoc -Tlint finds nothing in the pages" lint
printf '.Dd\n.Sh WRONG\n.Nosuch\n' >wrong.1
[ -n "$missing" ] || mandoc -Tlint wrong.1 >lint 2>&1
says "mandoc -Tlint finds a mistake in a wrong page" "WARNING|ERROR" lint
always
needs man groff
if [ -z "$missing" ]; then
	for page in "${pages[@]}"; do
		man --warnings=w -l "$page" 2>&1 >/dev/null
	done >warnings
fi
empty "man --warnings finds nothing in the pages" warnings
[ -n "$missing" ] || man --warnings=w -l wrong.1 >warnings 2>&1
says "man --warnings finds a mistake in a wrong page" "Nosuch" warnings
always

# ---- the examples, with smaller sizes ----
examples() {
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh [^E]/p' "$1" | sed -n '/^\.Bd -literal/,/^\.Ed/p' | grep -v '^\.' |
		sed 's/\\-/-/g; s/\\e/\\/g; s/\t# .*//'
}
smaller() {
	sed -E 's/--scale (1[3-9]|[23][0-9])/--scale 10/; s/--vertices (710000|416K|1M)/--vertices 2000/
		s/--seconds 10/--seconds 0.1/; s/--max-set 16M/--max-set 2M/; s/(bench ioctl)/\1 --pin 2M/
		s/^(gtu lab run .*)/\1 --scale 8/'
}
shared=${GTU_SHARED:-$root/../shared}
mkdir -p example/here/graphs && cd example/here || exit 1
printf 'p sp 50 98\n' >roads.gr
for i in {1..49}; do echo "a $i $((i + 1)) $i"; echo "a $((i + 1)) $i $i"; done >>roads.gr
# without xz, convert roads.gr directly for the examples that follow
if command -v xz >/dev/null; then xz -k roads.gr; else gtu convert roads.gr roads.gtu --quiet; fi
seq 1 99 | awk '{ print $1, ($1 * 7) % 100 }' | tee soc-LiveJournal1.txt >wiki-Vote.txt
gzip soc-LiveJournal1.txt wiki-Vote.txt
printf '1,2,7,9,0.5\n2,3,7,9,1.5\n' >trips.csv
printf '1\n2\n3\n' >graphs/datagen.v
printf '1 2 0.5\n2 3 0.25\n' >graphs/datagen.e
printf 'graph.datagen.directed = false\ngraph.datagen.edge-properties.names = weight\n' >graphs/datagen.properties
[ -d "$shared/oracles" ] && ln -s "$(cd "$shared" && pwd)" ../shared
for page in gtu.1 gtu-{info,doctor,generate,convert,stat,run,lab,bench,report,top,bringup,fdt}.1 gtu.7 gtu.4; do
	examples "$work/man/man${page##*.}/$page" | smaller >commands
	at_least 1 "$(wc -l <commands)" "examples in ${page%.*}(${page##*.})"
	while read -r command; do
		case $command in
		*.xz*) needs xz ;;
		*"python3"*) needs python3 ;;
		esac
		case $command in
		*"doctor --device /dev/gtu0"*)
			[ -e /dev/gtu0 ] && code=0 || code=1
			exits $code "the example of $page exits with $code on this machine: $command" bash -o pipefail -c "$command" ;;
		"gtu top"*)
			[[ $command == *--json* ]] || command+=" --once"
			[ -e /sys/class/gtu/gtu0/epoch ] && [ "$(id -u)" = 0 ] && code=0 || code=1
			exits $code "the example of $page exits with $code on this machine: $command" bash -o pipefail -c "$command" ;;
		*"bringup --unbind"* | *"bringup --device /dev"*) skip "the example of $page runs: $command" "it takes a board" ;; # not everywhere
		*"bringup --device model --bug"*) exits 4 "the example of $page finds a failure: $command" bash -o pipefail -c "$command" ;;
		*../shared/oracles*)
			[ -d ../shared ] || { skip "the example of $page runs: $command" "there is no $shared/oracles (set GTU_SHARED)"; continue; } # not everywhere
			case $command in *--only*) ;; *) command+=" --only karate" ;; esac
			check "the example of $page runs: $command" bash -o pipefail -c "$command" ;; # not everywhere
		*mpirun*)
			needs mpirun
			check "the example of $page runs: $command" env "${many_ranks[@]}" \
				bash -o pipefail -c "$command" ;;
		*"| jq"*)
			needs jq
			check "the example of $page runs: $command" bash -o pipefail -c "$command" ;;
		*) check "the example of $page runs: $command" bash -o pipefail -c "$command" ;;
		esac
		always
	done <commands
done
command=$(examples "$work/man/man1/gtu-serve.1" | smaller)
holds "gtu-serve(1) has an example" test -n "$command"
mkdir -m 700 runtime
XDG_RUNTIME_DIR=$PWD/runtime bash -c "exec $command" >served 2>&1 &
server=$!
wait_until $server test -S runtime/gtu/serve.sock
holds "the example of gtu-serve.1 makes its socket: $command" test -S runtime/gtu/serve.sock
kill $server 2>/dev/null
wait $server
code=$?
holds "the example of gtu-serve.1 ends on SIGTERM with 0" test $code -eq 0
cd "$work" || exit 1
finish
