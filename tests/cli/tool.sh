# SPDX-License-Identifier: MIT
# What holds for every verb: help, complaints, exit codes, standard output that cannot be written.
. "${0%/*}/tap.bash"

verbs="info bringup fdt convert generate stat run bench lab serve"
exits 2 "no verb" gtu
says "shows the verbs" "^  run "
check "--help" gtu --help
says "on standard output" "^  run " "$out"
check "version" gtu version
check "--version" gtu --version
says "gives a number" "^gtu [0-9]+\.[0-9]+\.[0-9]+$" "$out"
for verb in $verbs; do
	check "$verb --help" gtu "$verb" --help
	says "$verb --help says how to use it" "^usage: gtu $verb" "$out"
	check "help $verb" gtu help "$verb"
	says "help $verb is the same" "^usage: gtu $verb" "$out"
	exits 2 "$verb --no-such-option" gtu "$verb" --no-such-option
	says "names the option and the verb" "^gtu $verb: .*no-such-option"
done
exits 2 "an unknown verb" gtu conver
says "suggests the nearest" "did you mean 'convert'"
exits 2 "a verb like no other" gtu zzzzzzzz
exits 2 "an option misspelt" gtu info --devcie model
says "suggests the nearest option" "did you mean --device"
exits 2 "an option without its value" gtu info --device
says "says so" "--device needs a value"
exits 2 "help of an unknown verb" gtu help bnch
says "suggests the nearest, too" "did you mean 'bench'"
exits 2 "a word too many" gtu info extra
exits 2 "a device there is none of" gtu info --device nonsense
exits 2 "a parameter there is none of" gtu info --device model:nonsense=1
says "names it" "nonsense"
exits 2 "a parameter out of range" gtu info --device model:iru_sets=3

check "info" gtu info
for word in "^device  *model" "^  scu  present" "^  iru  present" "^  peg  present" "^  wvr  present" \
	"^  zcm  present" "elements per cycle" "^device tree" "instruction sets: " "^  cuda  "; do
	says "info shows $word" "$word" "$out"
done
# the model of this build has every capability that hw.h defines
capabilities=$(sed -n 's/^#define GTU_CAP_\([A-Z_]*\).*/\1/p' "$root/include/uapi/gtu/hw.h" | tr 'A-Z_' 'a-z-')
check "hw.h defines at least 6 capabilities" test "$(wc -w <<<"$capabilities")" -ge 6
check "gtu info prints its capabilities" gtu info
for word in $capabilities; do
	says "gtu info names the capability $word" "^capabilities .*\b$word " "$out"
done
check "info with a parameter" gtu info --device model:scu_width=8,iru_timeout=256
says "which it reports" " 8 elements per cycle" "$out"
says "as the other" " 256 cycles of the timeout" "$out"
check "info --fdt" gtu info --fdt blob --quiet
says "a device tree" "GTU device model" blob
exits 1 "info --fdt where nothing can be written" gtu info --fdt /nonexistent/blob
says "says where" "/nonexistent/blob"
# a device of the test's own that is always full: were it removed by mistake, nobody would miss it
if mknod full c 1 7 2>/dev/null && ! echo 2>/dev/null >full; then
	exits 1 "info on a full disk" bash -c 'gtu info >full'
	says "is not silent" "cannot write to standard output"
	exits 1 "--help on a full disk" bash -c 'gtu --help >full'
	says "is not silent, either" "cannot write to standard output"
	exits 1 "--version on a full disk" bash -c 'gtu --version >full'
	exits 1 "help of a verb on a full disk" bash -c 'gtu help run >full'
	printf '1 2\n' >e.txt
	for command in "info --fdt" "info --json" "stat e.txt --json" "run cc e.txt --output" "run cc e.txt --json" \
		"bench units --only scu --seconds 0 --largest 1M --json"; do
		exits 1 "gtu $command on a full device" gtu $command full
		says "names it" "^gtu: full: cannot be written: No space left"
		check "which is there as before" test -c full
	done
	check "no temporary is left" bash -c '! ls full.* 2>/dev/null'
else
	skip "a full disk" "no device node can be made here"
fi

# a write that fails leaves the file that was there; a limit on its size stands for the full disk
printf '1 2\n' >e.txt
for command in "info --fdt" "info --json" "stat e.txt --json" "run cc e.txt --output" "run cc e.txt --json" \
	"bench units --only scu --seconds 0 --largest 1M --json"; do
	mkdir t
	echo before >t/kept
	cp t/kept kept.want
	exits 1 "gtu $command past the limit" bash -c "(ulimit -f 0; cd t; exec gtu --quiet ${command/e.txt/../e.txt} kept) 2>&1 | cat >&2; exit \${PIPESTATUS[0]}"
	same "keeps the old file" t/kept kept.want
	check "and leaves nothing beside it" test "$(ls t)" = kept
	rm -r t
done
mkdir t
exits 1 "generate past the limit" bash -c '(ulimit -f 8; cd t; exec gtu --quiet generate kronecker --scale 14 k.gtu) 2>&1 | cat >&2; exit ${PIPESTATUS[0]}'
says "says why" "File too large"
check "and leaves nothing" test -z "$(ls -A t)"
check "a link" ln -s real t/link
check "is followed, to what is not there yet" gtu info --fdt t/link --quiet
check "to what is there" gtu info --fdt t/link --quiet
check "which stays a link" test -L t/link -a -f t/real
chmod 600 t/real
check "a file that only its owner reads" gtu info --fdt t/real --quiet
check "stays so" test "$(stat -c %a t/real)" = 600
check "into a pipe" bash -c 'mkfifo t/pipe; cat t/pipe >t/copy & gtu info --fdt t/pipe --quiet; wait; cmp t/copy t/real && test -p t/pipe'
check "info --fdt -" gtu info --fdt -
same "is the blob and nothing else" "$out" t/real
exits 2 "info, two files of one name" gtu info --fdt t/real --json t/link
exits 2 "stat onto the graph" gtu stat e.txt --json e.txt
rm -r t

# too little memory is no mistake in the request; how little that is depends on how the tool was built
short=0
for limit in 6000 10000 14000 18000 22000 28000 40000; do
	quietly bash -c "ulimit -v $limit; exec gtu info"
	got=$?
	grep -q "not enough memory" "$err" || continue
	short=$((short + 1))
	check "not enough memory in $limit KiB is a failure at run time (exit code $got)" test $got -eq 1
done
[ $short -gt 0 ] || skip "not enough memory" "at no limit tried does the tool get that far"

# every status has its exit code; a wrong result cannot be had from a right device, so 4 is asked for here
cat >codes.c <<'END'
#include <stdlib.h>
#include "tools/support/cli.h"

int main(int argc, char **argv)
{
	struct gtu_error err = { 0 };

	cli_start("codes", argc > 2);
	return cli_exit(&err, atoi(argv[1]));
}
END
check "a program with the tool's exit codes" gcc -D_GNU_SOURCE -I"$root/include" -I"$root" codes.c \
	"$root/tools/support/cli.c" "$root/libruntime/device/error.c" -o codes -lm
for pair in 0:0 -1:1 -2:2 -3:3 -4:4 -5:1 -6:1 -7:1 -8:130 -9:1 -10:1 -11:1; do
	exits "${pair#*:}" "status ${pair%:*} is exit code ${pair#*:}" ./codes "${pair%:*}"
done
exits 4 "a failed verification" ./codes -4
says "says so" "^gtu: verification failed$"

# a bar where someone looks, and none where nobody does
if script -qec "test -t 2" /dev/null >/dev/null 2>&1 </dev/null; then
	quietly script -qec "gtu generate kronecker --scale 19 bar.gtu" /dev/null
	says "a bar on a terminal" "\[#*\.*\] +[0-9]+%" "$out"
	quietly script -qec "gtu --quiet generate kronecker --scale 19 bar.gtu" /dev/null
	check "no bar with --quiet" bash -c "! grep -q '%' '$out'"
else
	skip "a bar on a terminal" "no terminal to be had from script(1)"
fi
quietly gtu generate kronecker --scale 19 bar.gtu
check "no bar into a file" test ! -s "$err"
rm -f bar.gtu

# JSON is JSON
if command -v python3 >/dev/null; then
	check "info --json" gtu info --json -
	cp "$out" info.json
	check "is JSON" python3 -m json.tool info.json
	cat >agrees.py <<'END'
import json
d = json.load(open("info.json"))
assert d["units"]["scu"]["present"] and d["units"]["scu"]["width"] == 4, d["units"]
assert d["units"]["peg"]["present"]
assert d["fdt"]["nodes"] >= 4
END
	check "and says what the table says" python3 agrees.py
else
	skip "info --json" "no python3"
fi

exits 2 "bench what" gtu bench
check "bench --help" gtu bench --help
says "says what the share is" "median of the rounds' ratios" "$out"
exits 2 "bench something else" gtu bench unit
says "suggests" "did you mean units"
exits 2 "bench with an unknown operation" gtu bench units --only comppact
exits 2 "bench for no time" gtu bench units --seconds soon
# each result is compared with plain software's before it is timed
exits 2 "bench units --cycles refuses --json" gtu bench units --cycles --json -
check "bench units --portable runs" gtu bench units --portable --only data --seconds 0.1 --largest 1M
says "bench units --portable runs portable code" "SCU with portable code and its IRU with portable code" "$out"
check "bench units --cycles runs" gtu bench units --cycles --largest 1M
cp "$out" cycles
check "bench units --cycles --portable runs" gtu bench units --cycles --portable --largest 1M
same "logical cycles do not depend on the code that the model runs" cycles "$out"
check "bench units --cycles has a row for each of the 4 units" test "$(grep -oE '^(scu|iru|peg|wvr) ' cycles | sort -u | wc -l)" -eq 4
gtu bench --help | sed -n '/--only NAMES/,/--largest/p' >only
for name in $(sed 1d cycles | awk '{ print $1; print $2 }' | sort -u); do
	says "bench --help lists $name among the names of --only" "\b$name\b" only
done
check "bench of everything small" gtu bench units --seconds 0.1 --largest 1M --json bench.json
says "names the instruction set" "instruction set" "$out"
says "has a line for compaction" "^scu data " "$out"
says "has a line for reordering" "^iru reorder " "$out"
if command -v python3 >/dev/null; then
	check "bench --json" python3 -m json.tool bench.json
else
	skip "bench --json" "no python3"
fi
exits 2 "a fault there is none of" gtu serve --socket s --fault corrupt-completion
says "suggests the nearest" "did you mean corrupt-completions"
exits 2 "a fault at no time" gtu serve --socket s --fault stuck-reset=0
exits 2 "a seed that is none" gtu serve --socket s --seed x
finish
