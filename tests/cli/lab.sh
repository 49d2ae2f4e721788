# SPDX-License-Identifier: MIT
# Tests gtu lab: machines, counts compared with independent ones, experiments, and the report of all: it continues where
# it was interrupted, has the structure of Documentation/fidelity.md, and an independent judge agrees with every verdict.
. "${0%/*}/tap.bash"

# differs NAME FILE: the last command has printed a table whose numbers differ from those in FILE
differs() {
	skipped "$1" && return
	if [ -s "$2" ] && [ -s "$out" ] && [ "$(wc -l <"$2")" = "$(wc -l <"$out")" ] && ! cmp -s "$2" "$out"; then
		report ok "$1"
	else
		report "not ok" "$1"
	fi
}

prints "gtu lab list lists experiments and machines" "^  gtx980 " gtu lab list
prints "gtu lab machine prints a machine" "^l2.slices = 24$" gtu lab machine oracle-titanx
cp "$out" m.machine
fails_with 3 "gtu lab machine refuses a machine file without sources" "has no '# source" gtu lab machine ./m.machine
prints "gtu lab machine --set runs" "^l1.mshrs = 7$" gtu lab machine gtx980 --set "l1.mshrs = 7"
fails_with 2 "gtu lab machine refuses to set an unknown key" "unknown machine key 'l3.size'" gtu lab machine gtx980 --set "l3.size=1 B"
fails_with 2 "gtu lab machine refuses an unknown machine" "oracle-gtx980" gtu lab machine gtx970
exits 3 "gtu lab check refuses a missing folder" gtu lab check ./none
exits 2 "gtu lab check refuses to run without a folder" gtu lab check

# a path of 40 vertices, whose counts were computed by hand
mkdir -p own/graphs
{
	echo "%%MatrixMarket matrix coordinate pattern general"
	echo "40 40 39"
	for i in $(seq 1 39); do echo "$i $((i + 1))"; done
} >own.mtx
needs xz
[ -n "$missing" ] || xz -c own.mtx >own/graphs/path.mtx.xz
counts() {
	echo "graph,kernel,config,statement_or_counter,value,class"
	echo "path,pr_push_vm,GTX980_like,stmt:row[v]:lanes,40,exact"
	echo "path,pr_push_vm,GTX980_like,stmt:row[v]:warps,2,exact"
	echo "path,pr_push_vm,GTX980_like,stmt:col[k]:lanes,39,exact"
	echo "path,pr_push_vm,GTX980_like,stmt:next[col[k]]:transactions,$1,exact"
	echo "path,no_such_kernel,GTX980_like,cycles,1,tolerance"
}
counts 6 >own/counts.csv	# words 1 to 32 touch 5 sectors, words 33 to 39 one
prints "gtu lab check passes a folder with the right counts" "^exact +4 of +4 equal" gtu lab check own
says "gtu lab check reports the kernel that it does not know" "^no_such_kernel .*unknown to the laboratory" "$out"
counts 7 >own/counts.csv
prints 4 "gtu lab check fails a folder with a wrong count" "differs: path pr_push_vm GTX980_like .* is 7, ours 6" gtu lab check own --json r.json
says "gtu lab check writes its own count into the JSON" '"ours": 6' r.json
exits 3 "gtu lab check refuses to run without a known kernel" gtu lab check own --only no_such_kernel
exits 2 "gtu lab check refuses an unknown run" gtu lab check own --only other
[ -n "$missing" ] || echo "5 5" | xz >own/graphs/path.mtx.xz
fails_with 3 "gtu lab check refuses a damaged graph" "path.mtx.xz:1:" gtu lab check own
always

# ---- gtu lab report in its short form ----
papers="emogi iru scu graphpeg sparseweaver"
files() { (cd r && ls) | grep -vxE '[a-z]+(\.[a-z0-9-]+)?\.json|fidelity\.md'; }

gtu lab report r --short --commit one >/dev/null 2>&1 &
pid=$!
while [ ! -e r/iru.json ] && kill -0 $pid 2>/dev/null; do sleep 0.1; done
kill -INT $pid
wait $pid
status=$?
check "an interrupted report exits with 130" test $status -eq 130
files >half
empty "an interrupted report leaves no half files" half
holds "an interrupted report writes no page" test ! -e r/fidelity.md
prints "gtu lab report continues after the runs that ended" "^gtu: iru, iru: kept$" bash -c 'gtu lab report r --short --commit one 2>&1'
files >half
empty "the report leaves only its runs and its page" half
cp r/fidelity.md first.md
cp -a r before
prints "gtu lab report keeps all runs" "^gtu: iru, iru: kept$" bash -c 'gtu lab report r --short --commit one 2>&1'
lacks "gtu lab report repeats no run" "processor time" "$out"
check "a report of kept runs writes the same page" cmp r/fidelity.md first.md
head -c 1000 before/iru.json >r/iru.json
prints "gtu lab report repeats a run whose file is damaged" "^gtu: iru, iru: [0-9.]+ s of processor time$" bash -c 'gtu lab report r --short --commit one 2>&1'
lacks "gtu lab report repeats no other run" "(emogi|scu|graphpeg|sparseweaver): .*processor time" "$out"
json "the repeated run is complete" r/iru.json 'len(d["rows"]) > 300'
sed -i 's/"key": "one, /"key": "other, /' r/iru.json
prints "gtu lab report repeats a run of other sources" "^gtu: iru, iru: [0-9.]+ s of processor time$" bash -c 'gtu lab report r --short --commit one 2>&1'
says "the run's file names the sources and the parameters" '"key": "one, parameters [0-9a-f]{16}, short, gtu lab run iru"' r/iru.json

# ---- experiments: the report has run each whole ----
says "gtu lab run emogi checks 320 results against the reference" '"results_checked": 320' r/emogi.json
json "gtu lab run emogi compares with HALO and Subway" r/emogi.json 'sum(r.get("table") == 3 for r in d["rows"]) == 8 and sum(r.get("table") == 4 for r in d["rows"]) == 36'
json "an L1 holds a strided array until its lines are as many" r/emogi.json '{r["what"]: round(r["ours"], 3) for r in d["rows"] if " warps an SM: bytes" in r["what"]} == {f"strided, {w} warps an SM: bytes moved for each": b for w, b in ((16, 1), (24, 1), (32, 1), (40, 8), (64, 8))}'
check "gtu lab run emogi runs with one source" gtu lab run emogi --scale 8 --figure 9
cp "$out" table
check "gtu lab run emogi runs with five sources" gtu lab run emogi --scale 8 --figure 9 --set emogi.sources=5
differs "emogi.sources changes figure 9" table
exits 2 "gtu lab run emogi refuses 65 sources" gtu lab run emogi --scale 8 --figure 9 --set emogi.sources=65
says "gtu lab run emogi reports the share of 128-byte requests" "merged and aligned: share of 128-byte requests" r/emogi.json
prints "gtu lab run emogi --figure 5 runs over a file" "5  BFS naive: share of 32-byte requests" gtu lab run emogi --figure 5 --graph own.mtx
cp "$out" table
lacks "gtu lab run emogi --figure 5 prints no figure 8" "^ *8  " table
fails_with 2 "gtu lab run emogi refuses an unknown figure" "it has 3, 4, 5, " gtu lab run emogi --figure 2
check "gtu lab run emogi --plot runs" gtu lab run emogi --figure 5 --graph own.mtx --plot p.svg
says "gtu lab run emogi --plot draws figure 5" "Figure 5: share of 32-byte requests" p.svg
exits 2 "gtu lab run emogi refuses one file for --plot and --json" gtu lab run emogi --graph own.mtx --plot p.svg --json p.svg
exits 2 "gtu lab list refuses --plot" gtu lab list --plot p.svg
check "gtu lab run iru runs" gtu lab run iru --scale 8 --json i.json
says "gtu lab run iru checks 36 results against the reference" '"results_checked": 36' i.json
json "gtu lab run iru has the times of figure 3 and the sizes of table 1" i.json 'sum(r.get("figure") == 3 and r["graph"] == "mean" for r in d["rows"]) == 12 and [r["ours"] for r in d["rows"] if r.get("table") == 1][:2] == [80, 1.75]'
# graphs that exceed the L2
check "gtu lab run iru --algorithm pr runs" gtu lab run iru --scale 12 --algorithm pr --json pr.json
for set in private_hash=1 bypass_l2=1 interleaved=1 l2_whole_lines=0; do
	check "gtu lab run iru runs with iru.$set" gtu lab run iru --scale 12 --algorithm pr --set iru.$set --json set.json
	json "iru.$set changes the results" set.json '[r["ours"] for r in d["rows"]] != [r["ours"] for r in __import__("json").load(open("pr.json"))["rows"]]'
done
json "whole lines of the L2 change the DRAM accesses" set.json '[r["ours"] for r in d["rows"] if r["what"] == "pr: DRAM accesses, normalized"] != [r["ours"] for r in __import__("json").load(open("pr.json"))["rows"] if r["what"] == "pr: DRAM accesses, normalized"]'
check "gtu lab run iru --algorithm bfs runs" gtu lab run iru --scale 8 --algorithm bfs --json b.json
says "gtu lab run iru --algorithm bfs checks 12 results" '"results_checked": 12' b.json
lacks "gtu lab run iru --algorithm bfs runs no other algorithm" '"(sssp|pr):' b.json
prints "gtu lab run iru --algorithm bfs checks its results over a file" "^[1-9][0-9]* results equal" gtu lab run iru --algorithm bfs --graph own.mtx
fails_with 2 "gtu lab run iru refuses an algorithm that it lacks" "use one of bfs, sssp, pr" gtu lab run iru --algorithm cc
fails_with 2 "gtu lab run emogi refuses --algorithm" "--algorithm is for iru and scu" gtu lab run emogi --algorithm bfs
exits 2 "gtu lab check refuses --algorithm" gtu lab check own --algorithm bfs
check "gtu lab run iru --set runs with a configuration of the user" gtu lab run iru --scale 8 --figure 15 --set iru.prefetch=1 --set iru.timeout=1
cp "$out" table
check "gtu lab run iru runs figure 15 with the paper's configuration" gtu lab run iru --scale 8 --figure 15
differs "gtu lab run iru --set iru.timeout changes figure 15" table
fails_with 2 "gtu lab run iru refuses a prefetch of 300 lines" "fetches 1 to 256 lines ahead" gtu lab run iru --set iru.prefetch=300
exits 2 "gtu lab run iru refuses to set an unknown key" gtu lab run iru --set iru.color=3
exits 2 "gtu lab run emogi refuses to set a key of the IRU" gtu lab run emogi --set iru.prefetch=3
check "gtu lab run iru --sweep runs with three values" gtu lab run iru --scale 8 --figure 16 --algorithm pr --sweep "iru.prefetch=1, 8,64" --json sw.json --plot sw.svg
says "gtu lab run iru --sweep prints a column for each value" "paper +1 +8 +64\$" "$out"
check "gtu lab run iru runs with one of the swept values" gtu lab run iru --scale 8 --figure 16 --algorithm pr --set iru.prefetch=8 --json one.json
python "the column of a swept value has the numbers of a run with that value" <<'END'
import json
s, one = json.load(open("sw.json")), json.load(open("one.json"))
assert s["sweep"] == {"key": "iru.prefetch", "values": ["1", "8", "64"]}, s["sweep"]
assert [r["ours"][1] for r in s["rows"]] == [r["ours"] for r in one["rows"]]
assert any(r["ours"][0] != r["ours"][1] for r in s["rows"])
assert s["results_checked"] == 3 * one["results_checked"]
END
says "gtu lab run iru --sweep draws lines over the swept key" ">iru.prefetch<" sw.svg
check "gtu report makes a page of the sweep" gtu report sw.json -o sw.html
says "the page has a column for the swept value 64" "<th[^>]*>64" sw.html
exits 2 "gtu lab run iru --sweep refuses a value out of range" gtu lab run iru --scale 8 --figure 16 --algorithm pr --sweep iru.prefetch=1,300
says "gtu lab run iru --sweep prints the range of the value" "fetches 1 to 256 lines ahead"
says "gtu lab run iru --sweep prints the rows of the values before the wrong one" "^ +16 +.* [0-9]+\.[0-9]{3}$" "$out"
exits 2 "gtu lab run iru --sweep refuses one value" gtu lab run iru --sweep iru.prefetch=1
exits 2 "gtu lab run iru --sweep refuses a value given twice" gtu lab run iru --sweep iru.prefetch=1,2,1
exits 2 "gtu lab run iru --sweep refuses an empty value" gtu lab run iru --sweep iru.prefetch=1,,2
exits 2 "gtu lab run iru --sweep refuses values without a key" gtu lab run iru --sweep 1,2
exits 2 "gtu lab run iru refuses two sweeps" gtu lab run iru --sweep iru.prefetch=1,2 --sweep iru.timeout=1,2
exits 2 "gtu lab check refuses --sweep" gtu lab check own --sweep iru.prefetch=1,2
exits 2 "gtu lab run emogi refuses --sweep on a real GPU" gtu lab run emogi --device cuda:0 --sweep link.requests=1,2
says "gtu lab run sparseweaver reports table 5" '"table": 5' r/sparseweaver.json
says "gtu lab run sparseweaver checks 300 to 499 results against the reference" '"results_checked": [34][0-9][0-9]' r/sparseweaver.json
json "EGHW reads edge information, and the convolution is initialized" r/sparseweaver.json 'all(r["ours"] > 0 for r in d["rows"] if r["what"] == "EGHW: edge information" or "share of the initialization" in r["what"])' 'sum(r["what"] == "EGHW: edge information" for r in d["rows"]) == 1' 'sum("share of the initialization" in r["what"] for r in d["rows"]) == 9'
json "table 1 has five counts of each of seven mappings" r/sparseweaver.json 'sum(r.get("table") == 1 for r in d["rows"]) == 35'
json "the auto-tuner's best is at least vertex mapping" r/sparseweaver.json 'all(r["ours"] >= 1 for r in d["rows"] if "best over vertex" in r["what"] and r["graph"] != "rank order")' 'sum("best over vertex" in r["what"] for r in d["rows"]) >= 4'
check "gtu lab run sparseweaver --set runs with 64 entries" gtu lab run sparseweaver --scale 9 --figure 13 --set wvr.entries=64
cp "$out" table
check "gtu lab run sparseweaver runs figure 13 with the paper's entries" gtu lab run sparseweaver --scale 9 --figure 13
differs "gtu lab run sparseweaver --set wvr.entries changes figure 13" table
fails_with 2 "gtu lab run sparseweaver refuses 31 entries" "between 32 and 65536" gtu lab run sparseweaver --set wvr.entries=31
says "gtu lab run graphpeg checks 765 results against the reference" '"results_checked": 765' r/graphpeg.json
says "gtu lab run graphpeg reports the mean over all algorithms" '"what": "PEG over hardware worklists"' r/graphpeg.json
prints "gtu lab run graphpeg --table 4 runs over a file" "table 4  kc: unlimited over 8 entries" gtu lab run graphpeg --table 4 --graph own.mtx
cp "$out" table
check "gtu lab run graphpeg runs with one block" gtu lab run graphpeg --table 4 --graph own.mtx --set peg.blocks=1
differs "peg.blocks changes table 4" table
prints "lab run graphpeg --table 5 runs over a file" "table 5  kc: unlimited over 24 entries +own.mtx" gtu lab run graphpeg --table 5 --graph own.mtx
{ echo "%%MatrixMarket matrix coordinate pattern general"; echo "2 2 1"; echo "1 2"; } >two.mtx
check "gtu lab run emogi --figure 5 runs over one edge" gtu lab run emogi --figure 5 --graph two.mtx --json two.json
lacks "a share of 0 is not divided by" "\bnan\b|\binf\b" two.json
json "the number of rows without a value is in the JSON" two.json 'd["rows_without_value"] == 1 and all(r["ours"] is not None for r in d["rows"])'
prints "the number of rows without a value is printed" "^1 row has no value over these graphs" gtu lab run emogi --figure 5 --graph two.mtx
fails_with 2 "a figure without a row over a file is refused" "figure 11 has no row over these graphs" gtu lab run sparseweaver --figure 11 --graph own.mtx
fails_with 2 "gtu lab run graphpeg refuses lists that exceed the shared memory" "exceed an SM" gtu lab run graphpeg --set peg.list_bytes=48128
prints "gtu lab run graphpeg --figure 8 runs over a file" "8  edges, threshold of 512 against ideal +mean" gtu lab run graphpeg --figure 8 --graph own.mtx
check "gtu lab run graphpeg runs figure 8" gtu lab run graphpeg --figure 8 --scale 8
cp "$out" table
check "gtu lab run graphpeg runs with a shift of 2" gtu lab run graphpeg --figure 8 --scale 8 --set peg.shift=2
differs "peg.shift changes figure 8" table
exits 2 "gtu lab run graphpeg refuses a shift of 64" gtu lab run graphpeg --figure 8 --set peg.shift=64
exits 2 "gtu lab run graphpeg refuses to set an unknown key" gtu lab run graphpeg --set peg.color=3
says "gtu lab run scu checks 168 results against the reference" '"results_checked": 168' r/scu.json
json "gtu lab run scu splits the energy between GPU and SCU" r/scu.json 'sum("energy of the SCU over" in r["what"] and r["graph"] == "mean" for r in d["rows"]) == 6'
json "the SCU takes more energy if its L2 accesses cost as an SM's" r/scu.json 'all(m[k + "energy reduction, L2 accesses as an SM\u0027s"] < m[k + "energy reduction"] for m in [{r["what"]: r["ours"] for r in d["rows"] if r["graph"] == "mean"}] for k in ("gtx980 bfs: ", "gtx980 sssp: ", "gtx980 pr: ", "tx1 bfs: ", "tx1 sssp: ", "tx1 pr: "))'
check "gtu lab run scu --figure 12 runs" gtu lab run scu --scale 8 --figure 12 --json s12.json
json "gtu lab run scu --figure 12 runs the ablations of grouping" s12.json '{r["what"].split(":")[0] for r in d["rows"] if "speed-up by grouping" in r["what"]} == {m + " " + a for m in ("gtx980", "tx1") for a in ("bfs", "sssp", "pr")}'
check "gtu lab run scu runs figure 10 with state bytes" gtu lab run scu --scale 8 --figure 10 --machine tx1 --algorithm bfs --set scu.state_bytes=1 --json state.json
json "probes of state bytes make the SCU slower" state.json '[r["ours"] for r in d["rows"] if r["what"] == "tx1 bfs: speed-up" and r["graph"] == "mean"][0] < [r["ours"] for r in __import__("json").load(open("r/scu.json"))["rows"] if r["what"] == "tx1 bfs: speed-up" and r["graph"] == "mean"][0]'
for key in packets skips_dram_latency l2_blocks; do
	check "gtu lab run scu runs figure 10 with scu.$key=0" gtu lab run scu --scale 8 --figure 10 --machine gtx980 --algorithm bfs --set scu.$key=0 --json path.json
	json "scu.$key=0 makes the SCU slower" path.json '[r["ours"] for r in d["rows"] if r["what"] == "gtx980 bfs: speed-up" and r["graph"] == "mean"][0] < [r["ours"] for r in __import__("json").load(open("r/scu.json"))["rows"] if r["what"] == "gtx980 bfs: speed-up" and r["graph"] == "mean"][0]'
done
exits 2 "gtu lab run scu refuses a port of 9 packets a cycle" gtu lab run scu --scale 8 --set scu.packets=9
check "gtu lab run scu runs figure 12 on the machine tx1" gtu lab run scu --scale 8 --figure 12 --machine tx1
cp "$out" table
check "gtu lab run scu runs figure 12 with groups of 2" gtu lab run scu --scale 8 --figure 12 --machine tx1 --set scu.group=2
differs "scu.group changes figure 12" table
fails_with 2 "gtu lab run scu refuses groups of 33" "groups must have 1 to 32 elements" gtu lab run scu --scale 8 --set scu.group=33
says "gtu lab run scu reports grouping on the machine tx1" "tx1 sssp: coalescing by grouping" r/scu.json
check "gtu lab run scu --set runs with one request in flight" gtu lab run scu --scale 8 --figure 11 --machine tx1 --set scu.in_flight=1
cp "$out" table
check "gtu lab run scu runs figure 11 with the paper's requests in flight" gtu lab run scu --scale 8 --figure 11 --machine tx1
differs "gtu lab run scu --set scu.in_flight changes figure 11" table
fails_with 2 "gtu lab run scu refuses a width of 64" "width is 1 to 32" gtu lab run scu --set scu.width=64
fails_with 2 "gtu lab run scu refuses a table of 60 bytes" "must have 16 to" gtu lab run scu --scale 8 --set scu.bfs_bytes=60
exits 2 "gtu lab run scu refuses to set an unknown key" gtu lab run scu --set scu.color=3
exits 2 "gtu lab run emogi refuses a machine without a link" gtu lab run emogi --machine gtx980
exits 2 "gtu lab run refuses an unknown experiment" gtu lab run halo
exits 2 "gtu lab run emogi refuses --graph with --scale" gtu lab run emogi --graph own.mtx --scale 9
exits 3 "gtu lab run emogi refuses a missing graph" gtu lab run emogi --graph none.mtx
check "gtu bench lab runs" gtu bench lab --scale 8 --json b.json
says "gtu bench lab counts warp instructions" '"warp_instructions": [1-9]' b.json
# emogi on a real GPU: one error message if there is none
exits 1 "gtu lab run emogi --device cuda:0 fails without a driver" env GTU_CUDA_LIBRARY=/nonexistent gtu lab run emogi --device cuda:0
says "gtu lab run emogi says that the driver or the GPU code is missing" "no CUDA driver|built without nvcc"
fails_with 2 "gtu lab run iru refuses --device" "--device is for emogi" gtu lab run iru --device cuda:0

for paper in emogi iru scu graphpeg sparseweaver; do
	prints "gtu lab parameters $paper has a scale" "^scale = [0-9]+.*# source: " gtu lab parameters $paper
	cp "$out" $paper.parameters
done
prints "gtu lab run prints its score" "^[0-9]+ of [0-9]+ judged rows met \([0-9]+%\), null model [0-9]+$" gtu lab run iru --scale 8
fails_with 2 "gtu lab parameters refuses an unknown paper" "unknown experiment 'halo'" gtu lab parameters halo
exits 2 "gtu lab parameters refuses --set" gtu lab parameters scu --set scu.width=1
check "gtu lab run takes a value in bytes" gtu lab run scu --scale 8 --algorithm bfs --set scu.bfs_bytes=65536
cp "$out" table
check "gtu lab run takes a value with its unit" gtu lab run scu --scale 8 --algorithm bfs --set "scu.bfs_bytes=64 KiB"
same "64 KiB are 65536 bytes" table "$out"
check "gtu lab run takes 1 KiB" gtu lab run scu --scale 8 --algorithm bfs --set "scu.bfs_bytes=1 KiB"
differs "scu.bfs_bytes changes the results" table
fails_with 2 "gtu lab run refuses another unit" "'scu.bfs_bytes' is given in B, not in 'cycles'" gtu lab run scu --scale 8 --set "scu.bfs_bytes=64 cycles"

# ---- the page of the report ----
check "gtu report draws the papers" gtu report $(for p in $papers; do echo r/$p.json; done) -o r.html
says "gtu report counts the rows met by paper" "Rows of the papers" r.html
mkdir causes
for p in $papers; do echo "# nothing" >causes/$p.fidelity; done
with_causes() { gtu lab report r --short --commit one --causes causes "$@"; }
cat >causes/iru.fidelity <<'END'
# a run without a cause, a reading, and a file that does not exist
stage wait cause --set iru.timeout=4 cycles --set iru.prefetch=1
stage hash reading --set iru.private_hash=1
stage real reading --graph @shared/none.gtu
cause 16 | mean | *: speed-up in kernels | wait | the time-out
cause 16 | * | * | - | not known
END
prints "gtu lab report runs the stages of a file" "^gtu: iru, wait: [0-9.]+ s of processor time$" bash -c '"$@" 2>&1' bash gtu lab report r --short --commit one --causes causes
says "gtu lab report reports a missing graph" "^gtu: iru, real: not run, .*/none.gtu is missing" "$out"
says "the page has a miss with its cause" '^\| 16 \| bfs: speed-up in kernels \| mean .*\| the time-out \| wait \| [0-9.]+ \|$' r/fidelity.md
says "the page has a miss whose cause is not known" '^\| 16 \| .*\| not known \| - \| - \|$' r/fidelity.md
says "the page has the other reading beside the judged one" '^\| figure \| row \| graph \| paper \| ours \| hash \| verdict \|$' r/fidelity.md
says "the page names the run's command" '`gtu lab run iru --set iru.timeout=4 cycles --set iru.prefetch=1 --scale 8`' r/fidelity.md
json "the run has the values of its stage" r/iru.wait.json 'd["set"] == ["iru.timeout=4 cycles", "iru.prefetch=1"] and d["scale"] == 8'
rm r/fidelity.md
fails_with 3 "gtu lab report --complete refuses misses without a cause" "[0-9]+ missed rows have no cause in tools/experiments" with_causes --complete
says "gtu lab report --complete lists the misses without a cause" '^sparseweaver.fidelity: figure 10 \| mean \| .*: missed without a cause$' "$err"
lacks "gtu lab report --complete lists no miss with a cause" '^iru.fidelity: figure 16 ' "$err"
holds "gtu lab report --complete writes the page before it fails" test -s r/fidelity.md
python "each paper has a cause for all its figures with misses" causes $papers <<'END'
import json, sys
for name in sys.argv[2:]:
    rows = [r for r in json.load(open("r/%s.json" % name))["rows"] if r["verdict"] == "missed"]
    figures = {str(r["figure"]) if "figure" in r else "table %d" % r["table"] for r in rows}
    with open("%s/%s.fidelity" % (sys.argv[1], name), "w") as f:
        f.writelines("cause %s | * | * | - | not known: nothing was tried\n" % x for x in figures)
END
needs python3
check "gtu lab report --complete passes if every miss has a cause" with_causes --complete
always
echo "stage one cause --figure 12 --set iru.prefetch=1" >>causes/iru.fidelity
sed -i '1,$s/^cause 16 .*$/cause 16 | mean | * | one | a run without the row/' causes/iru.fidelity
fails_with 3 "gtu lab report --complete refuses a run that lacks the row" "missed row" with_causes --complete
says "gtu lab report --complete names the run that lacks the row" "missed, and the run 'one' lacks the row$" "$err"
exits 2 "gtu lab run refuses --complete" gtu lab run iru --complete
prints "make lab-report wants a cause for every miss" "--complete --output" make -C "$root" -n lab-report
cat >lines <<'END'
stage
stage a
stage a other
stage iru reading
stage ../a reading
stage a reading --color 3
stage a reading --set
cause 16 | mean | x
cause x | mean | * | - | a
cause 99 | mean | * | - | a
cause 16 | mean | no such row | - | a
cause 16 | mean | instructions a cycle and SM, baseline | - | a
cause 16 | mean | * | none | a
reading a
END
while IFS= read -r line; do
	echo "$line" >causes/iru.fidelity
	fails_with 3 "gtu lab report refuses '$line'" "iru.fidelity:1: " with_causes
done <lines
rm causes/iru.fidelity
fails_with 1 "gtu lab report refuses a folder without the paper's file" "iru.fidelity: cannot be read" with_causes
gtu lab report r --short --commit one >/dev/null 2>&1
fails_with 1 "gtu lab report refuses a folder that cannot be made" "cannot be created" gtu lab report none/r --short
exits 2 "gtu lab run refuses --short" gtu lab run iru --short
prints "make lab-report writes Documentation/fidelity.md" "--output Documentation/fidelity.md" make -C "$root" -n lab-report
prints "make lab-report SCALE=short writes another folder" "lab report build/lab-report-short " make -C "$root" -n lab-report SCALE=short
lacks "make lab-report SCALE=short writes no document" "--output" "$out"

cat >judge.py <<'END'
"""An independent judge of the rows in the runs' files."""
import json, math, sys
def away(a, b):
    return abs(math.log(a / b)) if a > 0 and b > 0 else math.inf
def meets(r, ours):
    paper, null = r["paper"], r["null"]
    if r["rule"] == "count":
        return 0.85 - 1e-9 <= ours / paper <= 1.15 + 1e-9
    if r["rule"] == "range":
        return paper <= ours <= r["high"]
    if r["rule"] == "direction":
        return ours != null and (ours >= 1.01 * null if r["direction"] == "more" else ours <= null / 1.01)
    if r["rule"] == "rank":
        return ours >= 0.8
    if r["graph"] == "curve":
        return ours >= 0.8 and r["distance"] < 1
    return ours > 0 and (ours > null) == (paper > null) and away(ours, paper) <= away(paper, null) / 3 + 1e-9
judged = null_met = 0
for name in sys.argv[1:]:
    d = json.load(open(name))
    met = 0
    points = {}
    for r in d["rows"]:
        if r["rule"] in ("open", "calibrated", "input"):
            assert r["verdict"] is None and r["reason"], r
            assert r["rule"] != "open" or r["paper"] is None or r["reason"] != "the paper has no number", r
            continue
        if r["rule"] == "curve" and r["graph"] != "curve" and r["paper"] is not None:
            points.setdefault(r.get("curve") or r["what"], []).append(r)
        if r["verdict"] is None:
            assert r["paper"] is None or r["rule"] == "curve", r
            continue
        null = r["rule"] != "rank" and r["graph"] != "curve" and meets(r, r["null"])
        want = meets(r, r["ours"]) and not null
        assert r["verdict"] == ("met" if want else "missed"), r
        judged += 1
        met += want
        null_met += null
    assert met == d["score"]["met"], name
    for curve, of in points.items():
        assert all((r["verdict"] is None) == (len(of) >= 3) for r in of) or any(r.get("curve") == curve for r in d["rows"]), curve
assert judged > 150, judged
END
python "an independent judge agrees with every verdict" judge.py $(for p in $papers; do echo r/$p.json; done)

cat >page.py <<'END'
"""The page's structure: headings and heads of tables; every judged row is on the page once."""
import json, re, sys
def shape(name):
    """Sections with the heads of their tables. Readings depend on the runs, graphs and rows on the scale."""
    lines = open(name).read().split("\n")
    found, section = [], None
    for i, line in enumerate(lines):
        if line.startswith("#"):
            section = line
            if section != "### Other readings":
                found.append(line)
        elif re.match(r"^\|(---\|)+$", line) and section != "### Other readings":
            found.append(lines[i - 1])
    return found
ours, document = shape("r/fidelity.md"), shape(sys.argv[1])
assert ours == document, [x for x in zip(ours, document) if x[0] != x[1]][:3]
text = open("r/fidelity.md").read()
for name in ("emogi", "iru", "scu", "graphpeg", "sparseweaver"):
    for r in json.load(open("r/%s.json" % name))["rows"]:
        row = "| %s | %s | %s | " % (r["figure"] if "figure" in r else "table %d" % r["table"], r["what"], r["graph"])
        if r["verdict"]:
            assert text.count(row) >= 1 and re.search(re.escape(row) + r".*\| %s \| %s \|\n" % (r["rule"], r["verdict"]), text), row
sections = re.findall(r"^(\d+) of (\d+) judged rows met", text, re.M)
totals = re.search(r"^\| all \| (\d+) \| (\d+) \|", text, re.M)
assert len(sections) == 5 and (sum(int(s[1]) for s in sections), sum(int(s[0]) for s in sections)) == (int(totals[1]), int(totals[2]))
END
python "the page has the structure of Documentation/fidelity.md and every judged row" page.py "$root/Documentation/fidelity.md"
needs python3
sed 's/| null model | rule | verdict |/| rule | verdict |/' "$root/Documentation/fidelity.md" >other.md
exits 1 "a page with other columns is found" python3 page.py other.md
always
python "values are calibrated only on rows that are not judged" "$root" <<'END'
import glob, json, os, re, sys
root = sys.argv[1]
papers = ("emogi", "iru", "scu", "graphpeg", "sparseweaver")
rows = [r for p in papers for r in json.load(open("r/%s.json" % p))["rows"]]
calibrations = 0
for name in ["%s.parameters" % p for p in papers] + glob.glob(root + "/firmware-model/machines/*.machine"):
    for line in open(name):
        source = line.partition("# source: ")[2].strip()
        # a calibration on another card's measurements, which no row is judged by, names a document
        if not source.startswith("calibrated") or os.path.basename(name) == "h200.machine":
            continue
        calibrations += 1
        m = re.match(r"calibrated on: (figure|table) (\d+), ([^;]*)", source)
        assert m, (name, line)
        found = [r for r in rows if r.get(m[1]) == int(m[2]) and r["what"] == m[3].strip()]
        assert found, ("no such row", name, line)
        assert all(r["verdict"] is None for r in found), ("the row is judged", name, line)
        assert any(r["rule"] == "calibrated" for r in found), ("the row is not a calibrated one", name, line)
assert calibrations >= 1, calibrations
END
# the instructions of the baselines' kernels
counter=$root/tools/baselines/count-instructions
PATH=$PATH:/usr/local/cuda/bin
needs nvcc
cat >kernels.cu <<'CUDA'
#include "count.cuh"
#define MULTIPLY(x)	asm volatile("mul.lo.u32 %0, %0, %1;" : "+r"(x) : "r"(y))
template <unsigned UNUSED>
static __device__ __forceinline__ void work(unsigned *p, unsigned y)
{
	__shared__ unsigned s[32];
	unsigned x = threadIdx.x;
	COUNT(2); /* start: what the next regions need */
	MULTIPLY(x);
	COUNT(0); /* five: five multiplications */
	MULTIPLY(x); MULTIPLY(x); MULTIPLY(x); MULTIPLY(x); MULTIPLY(x);
	COUNT(1); /* memory: a load, a store, a barrier */
	s[threadIdx.x] = p[threadIdx.x] + x;
	__syncthreads();
	COUNT(12); /* two: two multiplications */
	MULTIPLY(x); MULTIPLY(x);
	COUNT(13); /* end: the rest */
	p[threadIdx.x] = s[31 - threadIdx.x] + x;
}
extern "C" __global__ void first_work(unsigned *p, unsigned y)
{
	work<1>(p, y);
}
CUDA
cp "$root/tools/baselines/count.cuh" .

# value REGION FILE
value() {
	sed -n "s/^first_work\.$1 = \([0-9]*\) instructions\t# .*/\1/p" "$2"
}
# within WANT GOT SLACK
within() {
	[ $(($2 - $1)) -le "$3" ] && [ $(($1 - $2)) -le "$3" ]
}
for isa in sass ptx; do
	"$counter" --isa $isa kernels.cu >$isa
	holds "$isa: each region has a line with its source" \
		test "$(grep -c "^first_work\.\(entry\|start\|five\|memory\|two\|end\) = [0-9]* instructions	# source: compiled: $isa of .*kernels.cu: " $isa)" = 6
	# ptxas may move an instruction without side effects across a marker
	slack=$([ $isa = sass ] && echo 1 || echo 0)
	holds "$isa: five multiplications are five instructions" within 5 "$(value five $isa)" $slack
	holds "$isa: two multiplications are two instructions" within 2 "$(value two $isa)" $slack
	holds "$isa: accesses and barriers are counted apart" \
		grep -q '^first_work.memory .* a load, a store, a barrier; and 1 of global memory; and 1 of shared memory; and 1 barriers$' $isa
	check "$isa: the instructions of the baselines' kernels are counted" "$counter" --isa $isa "$root/tools/baselines/"*.cu
	cp "$out" all
	at_least 200 "$(wc -l <all)" "regions of the baselines' kernels ($isa)"
	holds "$isa: every line of the baselines' kernels has the parameters' form" \
		test "$(grep -cv '^[a-z_0-9]*\.[a-z_]* = [0-9]* instructions	# source: compiled: [a-z]* of .*: .' all)" = 0
	# a kernel may have nothing before its first region
	holds "$isa: no region of them is empty" test "$(grep -v '_next = \|\.entry = ' all | grep -c ' = 0 instructions')" = 0
done
# GraphPEG's counts are those of the script: GUNROCK_SEARCH_STEP = 10 is gunrock_search.step
"$counter" --isa ptx "$root/tools/baselines/graphpeg.cu" >all
grep -o '[A-Z_]* = [0-9]*' "$root/firmware-model/lab/kernels/peg_counts.h" >counts
at_least 60 "$(wc -l <counts)" "counts of GraphPEG's kernels"
while read -r name _ n; do
	region=$(echo "${name##*_}" | tr A-Z a-z) kernel=$(echo "${name%_*}" | tr A-Z a-z)
	grep -q "^$kernel\.$region = $n instructions" all || echo "$name = $n"
done <counts >differ
holds "the counts of GraphPEG's kernels are those of compiled code" test ! -s differ
# SCU's are in its parameters, also of PTX: the paper's figures are GPGPU-Sim's
"$counter" --isa ptx "$root/tools/baselines/scu.cu" | cut -f1 >all
gtu lab parameters scu | grep '# source: compiled: ' >compiled
sed 's/[[:space:]]*#.*//' compiled | grep -Fxvf all >differ || [ -s compiled ] || echo "no counts" >differ
holds "the counts of SCU's kernels are those of compiled code" test ! -s differ
exits 2 "an unknown option is refused" "$counter" --what kernels.cu
exits 2 "an unknown instruction set is refused" "$counter" --isa arm kernels.cu
exits 3 "an absent nvcc is reported" "$counter" --nvcc ./none kernels.cu
finish
