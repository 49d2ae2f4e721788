# SPDX-License-Identifier: MIT
# Tests golden vectors: export, check, the reader of Documentation/vectors.md, wrong files, other builds.
. "${0%/*}/tap.bash"

files="basic iru peg scu tables wvr"
check "gtu bringup exports vectors" gtu bringup --device model --export-vectors v
for file in $files; do
	says "$file.gtv has 256 jobs" "^ok +vectors +v/$file.gtv: 256 jobs$" "$out"
	holds "$file.gtv has 256 descriptors and completions" test "$(grep -c '^d 10 ' v/$file.gtv) $(grep -c '^c 8 ' v/$file.gtv)" = "256 256"
done
check "gtu bringup passes its own vectors" gtu bringup --device model --check-vectors v
for file in $files; do
	says "$file.gtv passes" "^ok +vectors +$file.gtv: 256 jobs, every completion and byte as in the file$" "$out"
done
gtu bringup --device model --export-vectors again --seed 1 >/dev/null
gtu bringup --device model --export-vectors other --seed 2 --lockstep 10 >/dev/null
holds "the same seed gives the same files" cmp v/scu.gtv again/scu.gtv
holds "--lockstep chooses the number of jobs" test "$(grep -c '^d' other/scu.gtv)" = 10
holds "--seed chooses the jobs" test "$(grep '^d' v/scu.gtv | head -10)" != "$(grep '^d' other/scu.gtv)"

# the reader of the document
sed -n '/^```c$/,/^```$/p' "$root/Documentation/vectors.md" | sed '1d;$d' >reader.c
holds "the document's loop has at most 20 lines" test "$(sed -n '/while/,/^\t}$/p' reader.c | wc -l)" -le 20
check "the document's reader builds" ${CC:-cc} -Wall -Wextra -Werror -o reader reader.c
for file in $files; do
	./reader <v/$file.gtv >said
	cycles=0
	while read -r kind _ _ _ _ took _; do
		[ "$kind" != c ] || cycles=$((cycles + 16#$took))
	done <v/$file.gtv
	says "the reader reads all of $file.gtv" "^256 jobs write [1-9][0-9]* words in $cycles cycles$" said
done

# a file that is wrong in one number
damaged() { # SED MESSAGE TEXT
	rm -rf broken
	mkdir broken
	sed "$1" v/basic.gtv >broken/basic.gtv
	holds "'$1' changes the file" test "$(cmp -s v/basic.gtv broken/basic.gtv; echo $?)" = 1
	exits 4 "gtu bringup fails $3" gtu bringup --device model --check-vectors broken
	says "gtu bringup reports $3" "$2" "$out"
}
line=$(grep -n '^e' v/basic.gtv | head -1 | cut -d: -f1)
damaged "${line}s/\$/0/" "basic.gtv:[0-9]+: job [0-9]+: byte 0x[0-9a-f]+ of memory is" "an expected word that is wrong"
damaged "${line}d" "byte 0x[0-9a-f]+ of memory is" "a write that the file does not expect"
damaged '/^c/{s/^\(c 8 [0-9a-f]* [0-9a-f]* [0-9a-f]*\) [0-9a-f]*/\1 7/;}' "word 3 of the completion is 0x[0-9a-f]+, not 0x7" "a wrong number of cycles"
damaged '/^r/s/10000/20000/' "keys must have generation 1" "other keys"
damaged '/^w/s/^w [0-9]* [0-9a-f]*/w 2 fffffff8/' "inside the memory" "an address outside the memory"
damaged '/^d/s/^d 10/d 11/' "number up to 10" "a count that is too large"
exits 4 "gtu bringup fails a function with the bug cycles" gtu bringup --device model --bug cycles --check-vectors v
says "gtu bringup names the word with the wrong cycles" "basic.gtv:[0-9]+: job [0-9]+: word 3 of the completion" "$out"
exits 4 "gtu bringup fails a function with the bug keep" gtu bringup --device model --bug keep --check-vectors v
says "gtu bringup names the file of tables for the bug keep" "^FAIL +vectors +tables.gtv" "$out"
lacks "gtu bringup names no other file for the bug keep" "^FAIL +vectors +[a-su-z]" "$out"
exits 4 "gtu bringup fails a folder without vectors" gtu bringup --device model --check-vectors .
says "gtu bringup names the missing files" "has no files \*.gtv" "$out"

# other builds
check "gtu bringup skips vectors of another build" gtu bringup --device model:iru_sets=256 --check-vectors v
says "gtu bringup names the register that differs" "^skip +vectors +iru.gtv is for a build whose register 0x2010 is 1024; this one has 256$" "$out"
says "gtu bringup runs the files of the same parameters" "^ok +vectors +scu.gtv" "$out"
check "gtu bringup exports vectors of a smaller build" gtu bringup --device model:absent_units=30,scu_latency=9 --export-vectors small
holds "vectors of a smaller build have files of its units only" test "$(ls small | tr '\n' ' ')" = "basic.gtv scu.gtv tables.gtv "
check "gtu bringup passes vectors of a smaller build" gtu bringup --device model:absent_units=30,scu_latency=9 --check-vectors small
check "gtu bringup ignores cycles of a device with real clocks" gtu bringup --device model:caps_off=64 --check-vectors v
says "gtu bringup passes plain jobs without their cycles" "scu.gtv: 256 jobs, every completion and byte as in the file, except for cycles$" "$out"
says "gtu bringup skips streams without logical cycles" "^skip +vectors +iru.gtv: without LOGICAL_CYCLES" "$out"
check "gtu bringup skips what the SCU lacks" gtu bringup --device model:absent_scu=filtering+grouping --check-vectors v
says "gtu bringup skips tables that the build lacks" "^skip +vectors +tables.gtv: job [0-9]+ is not in this build" "$out"
# a board that is not the model
needs python3
python3 "$root/tests/tiny/tiny.py" serve --socket "$work/tiny" >served 2>&1 &
server=$!
at_exit kill $server 2>/dev/null
wait_until $server grep -q " 00010000 .* $work/tiny$" /proc/net/unix
check "gtu bringup runs vectors on another implementation" gtu bringup --device "socket:$work/tiny" --check-vectors v
says "the other implementation passes basic.gtv" "^ok +vectors +basic.gtv: 256 jobs" "$out"
always

fails_with 2 "gtu bringup refuses vectors through a driver" "without its driver" gtu bringup --device /dev/gtu0 --export-vectors w
fails_with 2 "gtu bringup refuses vectors with --only" "--only" gtu bringup --device model --only dma --check-vectors v
fails_with 1 "gtu bringup refuses a folder that it cannot create" "cannot create /proc/w" gtu bringup --device model --export-vectors /proc/w
finish
