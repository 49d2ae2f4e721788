# SPDX-License-Identifier: MIT
# Tests common to all verbs: help, error messages, exit codes, unwritable standard output.
. "${0%/*}/tap.bash"

verbs=$(gtu --help | sed -n '/^usage/d; s/^  \([a-z]*\)   *[^ ].*/\1/p' | grep -vxE 'gtu|help|version')
at_least 13 "$(wc -w <<<"$verbs")" "verbs"
fails_with 2 "gtu without a verb is a usage error" "^  run " gtu
prints "gtu --help exits with 0" "^  run " gtu --help
check "gtu version exits with 0" gtu version
prints "gtu --version exits with 0" "^gtu [0-9]+\.[0-9]+\.[0-9]+$" gtu --version
for verb in $verbs; do
	prints "gtu $verb --help exits with 0" "^usage: gtu $verb" gtu "$verb" --help
	prints "gtu help $verb exits with 0" "^usage: gtu $verb" gtu help "$verb"
	fails_with 2 "gtu $verb refuses an unknown option" "^gtu $verb: .*no-such-option" gtu "$verb" --no-such-option
done
exits 2 "gtu refuses a verb that is near none" gtu zzzzzzzz
fails_with 2 "gtu help refuses an unknown verb" "did you mean 'bench'" gtu help bnch
exits 2 "gtu info refuses an extra word" gtu info extra
exits 2 "gtu info refuses an unknown device" gtu info --device nonsense

check "gtu info exits with 0" gtu info
for word in "^device  *model" "^  scu  present" "^  iru  present" "^  peg  present" "^  wvr  present" \
	"^  zcm  present" "elements per cycle" "^device tree" "instruction sets: " "^  cuda  "; do
	says "gtu info prints a line that matches '$word'" "$word" "$out"
done
# the model of this build has every capability that hw.h defines
capabilities=$(sed -n 's/^#define GTU_CAP_\([A-Z_]*\).*/\1/p' "$root/include/uapi/gtu/hw.h" | tr 'A-Z_' 'a-z-')
check "hw.h defines at least 6 capabilities" test "$(wc -w <<<"$capabilities")" -ge 6
check "gtu info prints its capabilities" gtu info
for word in $capabilities; do
	says "gtu info names the capability $word" "^capabilities .*\b$word " "$out"
done
prints "gtu info takes parameters of the model" " 8 elements per cycle" gtu info --device model:scu_width=8,iru_timeout=256
says "gtu info reports the set time-out of the IRU" " 256 cycles of the timeout" "$out"
check "gtu info --registers reads the registers" gtu info --registers --device model:iru_timeout=77,peg_engines=2
for line in '0x1000 +scu/id +0x20554353 ' '0x2080 +iru/timeout +0x4d +cycles of the timeout' \
	'0x1008 +scu/status +0x1 +state: present 1, busy 0' '0x3448 +peg/r_bc\[1\] +0x0 +balancing control: role none' \
	'0x2130 +iru_counters/timeout +0x0 '; do
	says "gtu info --registers prints a line that matches '$line'" "^$line" "$out"
done
lacks "gtu info --registers prints no register of an engine that is absent" "r_efs\[2\]" "$out"
check "gtu info --registers --json - prints JSON" gtu info --registers --json -
cp "$out" registers.json
json "the JSON of gtu info --registers has names, values and fields" registers.json \
	'len({r["name"] for r in d["registers"]}) == len(d["registers"]) > 200' \
	'{r["name"]: r for r in d["registers"]}["peg/r_bs[15]"]["fields"] == {"step": "none"}' \
	'{r["name"]: r for r in d["registers"]}["scu/id"]["value"] == 0x20554353'
check "gtu info --storage computes the units' bits" gtu info --storage --device model:iru_index_bits=24,iru_position_bits=24,peg_entries=8
for line in "iru   reordering hash +8192 x 80  partition, 4 +81920  80 KB" "peg   working table +8 x 98  engine, 16 +98  294 bytes" \
	"wvr   sparse work table +512 x 96  unit +6144  "; do
	says "gtu info --storage prints a line that matches '$line'" "^$line" "$out"
done
lacks "gtu info --storage compares equal entries once" "with 80 bits" "$out"
prints "gtu info --storage names the paper's bits where ours differ" "80 KB with 80 bits: 81920 here" gtu info --storage
# parameters of the default device, in entries x bits; the SCU's are bytes
for line in "scu   vector buffer +5120 x 8 " "scu   FIFO of requests +38912 x 8 " "scu   hash requests +18432 x 8 " \
	"iru   reordering hash +8192 x 96 " "iru   prefetching buffer +256 x 64 " "iru   classifier's queues +256 x 96 " \
	"iru   ring's buffers +64 x 96 " "peg   balancing registers +1 x 260 "; do
	says "gtu info --storage prints a line that matches '$line'" "^$line" "$out"
done
says "gtu info --storage adds up what it prints" \
	"^$(awk '/ x / { n = /partition/ ? 4 : /engine/ ? 16 : 1; for (i = 1; i <= NF; i++) if ($i == "x") s += n * $(i - 1) * $(i + 1) / 8 } END { printf "%.0f", s }' "$out") bytes in all copies" "$out"
check "gtu info --storage leaves out absent units" gtu info --storage --device model:absent_units=iru+zcm
lacks "gtu info --storage prints no part of an absent unit" "^iru|^zcm" "$out"
gtu info --storage --json - >storage.json
json "the JSON of gtu info --storage has entries and bits" storage.json \
	'[(r["entries"], r["bits"]) for r in d["storage"] if r["part"] == "working table"] == [(24, 98)]'
fails_with 2 "gtu info prints one of registers and storage" "exclude each other" gtu info --storage --registers
check "gtu info --fdt writes a file" gtu info --fdt blob --quiet
says "gtu info --fdt writes a device tree" "GTU device model" blob
fails_with 1 "gtu info --fdt fails in a missing folder" "/nonexistent/blob" gtu info --fdt /nonexistent/blob
# a private copy of /dev/full, so that removing it by mistake does no harm
given "no device file can be made here" eval 'mknod full c 1 7 && ! echo 2>/dev/null >full'
printf '1 2\n' >e.txt
fails_with 1 "gtu info fails on a full disk" "cannot write to standard output" bash -c 'gtu info >full'
fails_with 1 "gtu --help fails on a full disk" "cannot write to standard output" bash -c 'gtu --help >full'
exits 1 "gtu --version fails on a full disk" bash -c 'gtu --version >full'
exits 1 "gtu help fails on a full disk" bash -c 'gtu help run >full'
for command in "info --fdt" "info --json" "stat e.txt --json" "run cc e.txt --output" "run cc e.txt --json" \
	"bench units --only scu --seconds 0 --max-set 1M --json"; do
	fails_with 1 "gtu $command fails on a full device" "^gtu: full: cannot be written: No space left" gtu $command full
	holds "gtu $command leaves the full device in place" test -c full
done
find . -maxdepth 1 -name "full.*" >left
empty "no temporary file is left beside a full device" left
always

# limited BLOCKS ARGUMENTS: runs gtu in the folder t with a limit on file sizes. The message goes to a pipe, because the
# limit applies to every file that gtu writes.
limited() {
	bash -c "(ulimit -f $1; cd t; exec gtu --quiet $2) 2>&1 | cat >&2; exit \${PIPESTATUS[0]}"
}
# a failed write leaves the existing file unchanged; a limit on file sizes simulates a full disk
printf '1 2\n' >e.txt
for command in "info --fdt" "info --json" "stat e.txt --json" "run cc e.txt --output" "run cc e.txt --json" \
	"bench units --only scu --seconds 0 --max-set 1M --json"; do
	mkdir t
	echo before >t/kept
	cp t/kept kept.want
	exits 1 "gtu $command fails past the limit on file sizes" limited 0 "${command/e.txt/../e.txt} kept"
	same "gtu $command keeps the old file past the limit" t/kept kept.want
	holds "gtu $command leaves no temporary file past the limit" test "$(ls t)" = kept
	rm -r t
done
mkdir t
fails_with 1 "gtu generate fails past the limit on file sizes" "File too large" limited 8 "generate kronecker --scale 14 k.gtu"
ls -A t >left
empty "gtu generate leaves no file past the limit" left
ln -s real t/link
check "gtu info --fdt writes through a link to a missing file" gtu info --fdt t/link --quiet
check "gtu info --fdt writes through a link to an existing file" gtu info --fdt t/link --quiet
holds "gtu info --fdt keeps the link" test -L t/link -a -f t/real
chmod 600 t/real
check "gtu info --fdt writes over a file of mode 600" gtu info --fdt t/real --quiet
holds "gtu info --fdt keeps mode 600" test "$(stat -c %a t/real)" = 600
# another user may have made a link in a sticky folder, or in a folder of his own
mkdir t/foreign
ln -s ../stolen t/foreign/link
foreign() {
	exits 1 "gtu info --fdt refuses a link in a folder that is $1" gtu info --fdt t/foreign/link --quiet
	says "gtu info says that another user may have made the link in a folder that is $1" "another user may have made"
	exits 1 "gtu info --json refuses a link in a folder that is $1" gtu info --json t/foreign/link --quiet
	holds "gtu info writes nothing through a link in a folder that is $1" test ! -e t/stolen -a -L t/foreign/link
}
chmod 1777 t/foreign
foreign sticky
given "only root can make another user's folder" test "$(id -u)" = 0
chmod 755 t/foreign && chown 65534 t/foreign 2>/dev/null
foreign "another user's"
always
rm -r t/foreign
for name in t/kept.gtu t/kept.txt; do
	touch $name && chmod 600 $name
	check "gtu convert replaces a file of mode 600: $name" gtu convert e.txt $name --quiet
	holds "gtu convert keeps mode 600 of $name" test "$(stat -c %a $name)" = 600
	rm $name
done
mkfifo t/pipe
# a reader that does not wait for a writer
exec 9<>t/pipe 8<t/pipe 9>&-
check "gtu info --fdt writes into a pipe" gtu info --fdt t/pipe --quiet
cat <&8 >t/copy
exec 8<&-
same "gtu info --fdt writes the same into a pipe as into a file" t/copy t/real
holds "gtu info --fdt keeps the pipe" test -p t/pipe
check "gtu info --fdt - exits with 0" gtu info --fdt -
same "gtu info --fdt - prints the blob and nothing else" "$out" t/real
exits 2 "gtu info refuses one file under two names" gtu info --fdt t/real --json t/link
exits 2 "gtu stat refuses to write JSON over the graph" gtu stat e.txt --json e.txt
rm -r t

# every status has its exit code; a correct device gives no wrong result, so status 4 is tested directly
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
needs gcc
check "a program links with the exit codes of the tool" gcc -D_GNU_SOURCE -I"$root/include" -I"$root" codes.c \
	"$root/tools/support/cli.c" "$root/libruntime/device/error.c" -o codes -lm
for pair in 0:0 -1:1 -2:2 -3:3 -4:4 -5:1 -6:1 -7:1 -8:130 -9:1 -10:1 -11:1; do
	exits "${pair#*:}" "status ${pair%:*} is exit code ${pair#*:}" ./codes "${pair%:*}"
done
fails_with 4 "the tool's status for a failed verification exits with 4" "^gtu: verification failed$" ./codes -4

always

# a progress bar on a terminal, and none elsewhere
needs script
given "script(1) gives no terminal here" script -qec "test -t 2" /dev/null
prints "gtu generate runs on a terminal" "\[#*\.*\] +[0-9]+%" script -qec "gtu generate kronecker --scale 19 bar.gtu" /dev/null
prints "gtu --quiet generate runs on a terminal" "end" script -qec "gtu --quiet generate kronecker --scale 19 bar.gtu; echo end" /dev/null
lacks "gtu --quiet shows no progress bar on a terminal" "%" "$out"
always
check "gtu generate runs with its messages in a file" gtu generate kronecker --scale 19 bar.gtu
empty "a file gets no progress bar"
rm -f bar.gtu

# the JSON output is valid
check "gtu info --json - exits with 0" gtu info --json -
cp "$out" info.json
json "gtu info --json - prints JSON with what the table says" info.json \
	'd["units"]["scu"]["present"] and d["units"]["scu"]["width"] == 4' \
	'd["units"]["peg"]["present"]' \
	'd["fdt"]["nodes"] >= 4'

prints "gtu bench --help exits with 0" "median of the rounds' ratios" gtu bench --help
fails_with 2 "gtu bench refuses an unknown subject" "did you mean units" gtu bench unit
exits 2 "gtu bench units refuses an unknown operation" gtu bench units --only comppact
exits 2 "gtu bench units refuses a time that is no number" gtu bench units --seconds soon
# each result is compared with plain software before it is timed
exits 2 "bench units --cycles refuses --json" gtu bench units --cycles --json -
prints "bench units --portable runs" "SCU with portable code and its IRU with portable code" gtu bench units --portable --only data --seconds 0.1 --max-set 1M
check "bench units --cycles runs" gtu bench units --cycles --max-set 1M
cp "$out" cycles
check "bench units --cycles --portable runs" gtu bench units --cycles --portable --max-set 1M
same "logical cycles do not depend on the code that the model runs" cycles "$out"
check "bench units --cycles has a row for each of the 4 units" test "$(grep -oE '^(scu|iru|peg|wvr) ' cycles | sort -u | wc -l)" -eq 4
gtu bench --help | sed -n '/--only NAMES/,/--max-set/p' >only
sed 1d cycles | awk '{ print $1; print $2 }' | sort -u >names
at_least 8 "$(wc -l <names)" "units and operations of gtu bench"
while read -r name; do
	says "bench --help lists $name among the names of --only" "\b$name\b" only
done <names
prints "gtu bench units runs every operation" "instruction set" gtu bench units --seconds 0.1 --max-set 1M --json bench.json
says "gtu bench units prints a line for compaction" "^scu data " "$out"
says "gtu bench units prints a line for reordering" "^iru reorder " "$out"
python "gtu bench units --json writes JSON with a rate for every operation" <<'END'
import json
results = json.load(open("bench.json"))["results"]
assert {(r["unit"], r["operation"]) for r in results} == {("scu", "bitmask"), ("scu", "data"), ("scu", "access"),
    ("scu", "replicate"), ("scu", "expand"), ("iru", "reorder"), ("peg", "gather"), ("wvr", "weave")}, results
assert all(r["unit_gbps"] > 0 or r["unit_melements"] > 0 for r in results), results
END
fails_with 2 "gtu serve refuses an unknown fault" "did you mean corrupt-completions" gtu serve --socket s --fault corrupt-completion
exits 2 "gtu serve refuses a fault at time 0" gtu serve --socket s --fault stuck-reset=0
exits 2 "gtu serve refuses a seed that is no number" gtu serve --socket s --seed x
finish
