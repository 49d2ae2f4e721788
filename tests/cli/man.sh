# SPDX-License-Identifier: MIT
# The man pages say what the tool, the library and the driver have, no less and no more; what they show works.
. "${0%/*}/tap.bash"

check "the pages are made" "$root/Documentation/man/make-man" "$bin/gtu" man "January 1, 2000"
verbs=$(gtu --help | sed -n '/^usage/d; s/^  \([a-z]*\)   *[^ ].*/\1/p' | grep -vxE 'gtu|help|version')
check "there are verbs" test "$(wc -w <<<"$verbs")" -ge 9

# the options that a verb's parser knows, macros undone, and those that its page explains
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
	check "gtu-$verb(1) has its part by hand" test -s "$root/Documentation/man/gtu-$verb.part"
	check "gtu-$verb(1) is there" test -s "man/man1/gtu-$verb.1"
	parsed "${sources[@]}" >parsed
	explained "man/man1/gtu-$verb.1" >explained
	same "gtu-$verb(1) and --help have the options that the verb takes" parsed explained
	check "gtu(1) refers to gtu-$verb(1)" grep -q "^\.Xr gtu-$verb 1" man/man1/gtu.1
done

# section 3: what the library exports and what headers define in place
{
	sed -n 's/^\t\([a-z][a-z_0-9]*\);$/\1/p' "$root/libruntime/libgtu.map"
	cat "$root"/include/gtu/*.h | grep '^static inline' | sed 's/(.*//; s/.*[ *]//'
} | sort >functions
check "there are functions" test "$(wc -l <functions)" -ge 90
: >without
while read -r function; do
	page=man/man3/$function.3
	{ [ -e "$page" ] && grep -q "^\.Nm $function\( ,\)\?$" "$page" && grep -q "^\.Ss .*&$function()" "$page"; } ||
		echo "$function" >>without
done <functions
same "every public function is in a page, by its name" without /dev/null
ls man/man3 | sed 's/\.3$//' | grep -vxFf functions >pages
grep -v '^#' "$root/Documentation/man/families" | cut -d'|' -f1 | grep -vxFf functions | sort >families
same "and no other" <(sort pages) families

# section 4
{
	grep -o '^#define GTU_IOCTL_[A-Z_]*	*_IO(' "$root/include/uapi/gtu/gtu.h" | grep -o 'GTU_IOCTL_[A-Z_]*'
	grep -h '^module_param(' "$root"/driver/*.c | sed 's/.*(\([a-z_]*\),.*/\1/'
	sed -n 's/^GTU_ATTR(\([a-z_0-9]*\),.*/\1/p' "$root/driver/gtu_sysfs.c"
	# errors: the table of the interface
	sed -n 's/^ \* %\(E[A-Z0-9]*\)  *.*/\1/p' "$root/include/uapi/gtu/gtu.h" | head -19
} >of_driver
check "there are ioctls, parameters and attributes" test "$(wc -l <of_driver)" -ge 50
while read -r word; do
	grep -qE "^\.It .*\b$word\b" man/man4/gtu.4 || echo "$word"
done <of_driver >without
same "gtu(4) has each of them" without /dev/null
grep -o '^\.It \(Dv GTU_IOCTL\|Va [a-z_0-9]* Pq\).*' man/man4/gtu.4 | grep -oE 'GTU_IOCTL_[A-Z_]*|Va [a-z_0-9]*' | sed 's/Va //' |
	sort -u >said
grep -E '^GTU_IOCTL' of_driver >want
grep -h '^module_param(' "$root"/driver/*.c | sed 's/.*(\([a-z_]*\),.*/\1/' >>want
same "and none that is not" said <(sort -u want)

# what hand-written parts name exists
cat "$root"/include/gtu/*.h "$root"/include/uapi/gtu/*.h >headers
grep -hoE '\b(GTU_[A-Z_0-9]+|struct [a-z_]+|Fn [a-z_0-9]+)\b' "$root"/Documentation/man/gtu.[47].part | sed 's/^Fn //' |
	sort -u >named
while read -r word; do
	grep -qE "\b$word\b" headers || echo "$word"
done <named >without
same "names in gtu(4) and gtu(7) are declared" without /dev/null

for page in man/man[1347]/*; do
	[ -L "$page" ] && continue
	grep -ho '^\.Xr [^ ]* [0-9]' "$page" | while read -r _ name section; do
		[ -e "man/man$section/$name.$section" ] || echo "$page: $name($section)"
	done
done >dangling
same "pages that are referred to exist" dangling /dev/null
if command -v mandoc >/dev/null; then
	find man -type f -exec mandoc -Tlint {} + 2>&1 | grep -v 'referenced manual not found' >lint
	same "mandoc has nothing to say" lint /dev/null
else
	skip "mandoc has nothing to say" "no mandoc"
fi
if command -v man >/dev/null && command -v groff >/dev/null; then
	for page in man/man[1347]/*.[1347]; do
		[ -L "$page" ] || man --warnings=w -l "$page" 2>&1 >/dev/null
	done >warnings
	same "nor has man --warnings" warnings /dev/null
else
	skip "nor has man --warnings" "no man or no groff"
fi

# ---- the examples, as they stand but for sizes ----
examples() {
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh [^E]/p' "$1" | sed -n '/^\.Bd -literal/,/^\.Ed/p' | grep -v '^\.' |
		sed 's/\\-/-/g; s/\\e/\\/g; s/\t# .*//'
}
smaller() {
	sed -E 's/--scale (1[3-9]|[23][0-9])/--scale 10/; s/--vertices (710000|416K|1M)/--vertices 2000/
		s/--seconds 10/--seconds 0.1/; s/--largest 16M/--largest 2M/; s/(bench ioctl)/\1 --pin 2M/
		s/^(gtu lab run .*)/\1 --scale 8/; s|/tmp/gtu.sock|gtu.sock|'
}
shared=${GTU_SHARED:-$root/../shared}
mkdir -p example/here/graphs && cd example/here || exit 1
printf 'p sp 50 98\n' >roads.gr
for i in {1..49}; do echo "a $i $((i + 1)) $i"; echo "a $((i + 1)) $i $i"; done >>roads.gr
xz -k roads.gr
seq 1 99 | awk '{ print $1, ($1 * 7) % 100 }' | tee soc-LiveJournal1.txt >wiki-Vote.txt
gzip soc-LiveJournal1.txt wiki-Vote.txt
printf '1,2,7,9,0.5\n2,3,7,9,1.5\n' >trips.csv
printf '1\n2\n3\n' >graphs/datagen.v
printf '1 2 0.5\n2 3 0.25\n' >graphs/datagen.e
printf 'graph.datagen.directed = false\ngraph.datagen.edge-properties.names = weight\n' >graphs/datagen.properties
[ -d "$shared/oracles" ] && ln -s "$(cd "$shared" && pwd)" ../shared
for page in gtu.1 gtu-{info,doctor,generate,convert,stat,run,lab,bench,report,top,bringup,fdt}.1 gtu.7 gtu.4; do
	examples "$work/man/man${page##*.}/$page" | smaller >commands
	check "${page%.*}(${page##*.}) has examples" test -s commands
	while read -r command; do
		case $command in
		*"doctor --device /dev/gtu0"*)
			[ -e /dev/gtu0 ] && code=0 || code=1
			exits $code "$command" bash -c "$command" ;;
		"gtu top"*)
			[[ $command == *--json* ]] || command+=" --once"
			[ -e /sys/class/gtu/gtu0/epoch ] && [ "$(id -u)" = 0 ] && code=0 || code=1
			exits $code "$command" bash -c "$command" ;;
		*"bringup --unbind"* | *"bringup --device /dev"*) skip "$command" "it wants a board" ;;
		*"bringup --device model --bug"*) exits 4 "$command" bash -c "$command" ;;
		*../shared/oracles*)
			[ -d ../shared ] || { skip "$command" "no $shared/oracles"; continue; }
			case $command in *--only*) ;; *) command+=" --only karate" ;; esac
			check "$command" bash -c "$command" ;;
		*"| jq"*)
			command -v jq >/dev/null || command=${command%|*}
			check "$command" bash -c "$command" ;;
		*) check "$command" bash -c "$command" ;;
		esac
	done <commands
done
command=$(examples "$work/man/man1/gtu-serve.1" | smaller)
check "gtu-serve(1) has an example" test -n "$command"
bash -c "exec $command" >served 2>&1 &
server=$!
for _ in {1..100}; do
	[ -S gtu.sock ] && break
	sleep 0.1
done
check "$command" test -S gtu.sock
kill $server
wait $server
check "and it ends" test $? -eq 0
cd "$work" || exit 1
finish
