# SPDX-License-Identifier: MIT
# gtu lab: machines, and counts beside independent ones.
. "${0%/*}/tap.bash"

check "list" gtu lab list
says "names a machine" "^  gtx980 " "$out"
check "machine" gtu lab machine oracle-titanx
says "prints its numbers" "^l2.slices = 24$" "$out"
cp "$out" m.machine
exits 3 "a machine file without sources" gtu lab machine ./m.machine
says "says so" "has no '# source"
check "--set" gtu lab machine gtx980 --set "l1.mshrs = 7"
says "changes a number" "^l1.mshrs = 7$" "$out"
exits 2 "--set of what is not there" gtu lab machine gtx980 --set "l3.size=1 B"
says "says so" "unknown machine key 'l3.size'"
exits 2 "an unknown machine" gtu lab machine gtx970
says "names those there are" "oracle-gtx980"
exits 3 "check of a folder that is not there" gtu lab check ./none
exits 2 "check without a folder" gtu lab check

# a folder of our own: a path of 40 vertices, whose counts are worked out by hand
mkdir -p own/graphs
{
	echo "%%MatrixMarket matrix coordinate pattern general"
	echo "40 40 39"
	for i in $(seq 1 39); do echo "$i $((i + 1))"; done
} | xz >own/graphs/path.mtx.xz
counts() {
	echo "graph,kernel,config,statement_or_counter,value,class"
	echo "path,pr_push_vm,GTX980_like,stmt:row[v]:lanes,40,exact"
	echo "path,pr_push_vm,GTX980_like,stmt:row[v]:warps,2,exact"
	echo "path,pr_push_vm,GTX980_like,stmt:col[k]:lanes,39,exact"
	echo "path,pr_push_vm,GTX980_like,stmt:next[col[k]]:transactions,$1,exact"
	echo "path,no_such_kernel,GTX980_like,cycles,1,tolerance"
}
counts 6 >own/counts.csv	# words 1 to 32 touch 5 sectors, words 33 to 39 one
check "counts that are right" gtu lab check own
says "says so" "^exact +4 of +4 equal" "$out"
says "names the kernel it does not know" "^no_such_kernel .*unknown to the laboratory" "$out"
counts 7 >own/counts.csv
exits 4 "a count that is wrong" gtu lab check own --json r.json
says "says which" "differs: path pr_push_vm GTX980_like .* is 7, ours 6" "$out"
says "and in the JSON" '"ours": 6' r.json
exits 3 "nothing that is known" gtu lab check own --only no_such_kernel
exits 2 "a run that is not there" gtu lab check own --only other
xz -dc own/graphs/path.mtx.xz >own.mtx
echo "5 5" | xz >own/graphs/path.mtx.xz
exits 3 "a damaged graph" gtu lab check own
says "names file and line" "path.mtx.xz:1:"

check "run emogi" gtu lab run emogi --scale 9 --json e.json
says "all results are the reference's" '"results_checked": 151' e.json
says "an array in requests of 128 bytes" "merged and aligned: share of 128-byte requests" e.json
check "one figure of it, over a file" gtu lab run emogi --figure 5 --graph own.mtx
says "and nothing else" "5  BFS naive: share of 32-byte requests" "$out"
cp "$out" table
exits 1 "but that figure" grep "^ *8  " table
exits 2 "a figure that is not there" gtu lab run emogi --figure 2
says "names those there are" "it has 3, 4, 5, "
check "its plot" gtu lab run emogi --figure 5 --graph own.mtx --plot p.svg
says "is one" "Figure 5: share of 32-byte requests" p.svg
exits 2 "both into one file" gtu lab run emogi --graph own.mtx --plot p.svg --json p.svg
exits 2 "a plot of nothing" gtu lab list --plot p.svg
check "run iru" gtu lab run iru --scale 8 --json i.json
says "all results are the reference's" '"results_checked": 36' i.json
check "one algorithm of it" gtu lab run iru --scale 8 --algorithm bfs --json b.json
says "two runs a graph" '"results_checked": 12' b.json
exits 1 "and no other" grep -E '"(sssp|pr):' b.json
check "one algorithm, and the file's own edges" gtu lab run iru --algorithm bfs --graph own.mtx
exits 2 "an algorithm that it has not" gtu lab run iru --algorithm cc
says "names those there are" "use one of bfs, sssp, pr"
exits 2 "an experiment whose algorithms stand side by side" gtu lab run emogi --algorithm bfs
says "says so" "--algorithm is for iru and scu"
exits 2 "--algorithm elsewhere" gtu lab check own --algorithm bfs
check "a build of our own" gtu lab run iru --scale 8 --figure 15 --set iru.prefetch=1 --set iru.timeout=1
cp "$out" table
check "whose time-outs are seen" gtu lab run iru --scale 8 --figure 15
exits 1 "as another table" cmp "$out" table
exits 2 "an IRU that cannot be built" gtu lab run iru --set iru.prefetch=300
says "says why" "fetches 1 to 256 lines ahead"
exits 2 "a key that it has not" gtu lab run iru --set iru.color=3
exits 2 "the IRU's keys elsewhere" gtu lab run emogi --set iru.prefetch=3
check "a sweep" gtu lab run iru --scale 8 --figure 16 --algorithm pr --sweep "iru.prefetch=1, 8,64" --json sw.json --plot sw.svg
says "has a column for each value" "paper +1 +8 +64\$" "$out"
cp "$out" swept
check "whose columns" gtu lab run iru --scale 8 --figure 16 --algorithm pr --set iru.prefetch=8 --json one.json
check "are what a run with that value gives" python3 -c '
import json
s, one = json.load(open("sw.json")), json.load(open("one.json"))
assert s["sweep"] == {"key": "iru.prefetch", "values": ["1", "8", "64"]}, s["sweep"]
assert [r["ours"][1] for r in s["rows"]] == [r["ours"] for r in one["rows"]]
assert any(r["ours"][0] != r["ours"][1] for r in s["rows"])
assert s["results_checked"] == 3 * one["results_checked"]'
says "its plot is lines over the number" ">iru.prefetch<" sw.svg
check "a page of it" gtu report sw.json -o sw.html
says "has the columns too" "<th[^>]*>64" sw.html
exits 2 "a value that cannot be" gtu lab run iru --scale 8 --figure 16 --algorithm pr --sweep iru.prefetch=1,300
says "says why" "fetches 1 to 256 lines ahead"
says "behind what was run before it" "^36|results equal" "$out"
exits 2 "a sweep of one value" gtu lab run iru --sweep iru.prefetch=1
exits 2 "of the same twice" gtu lab run iru --sweep iru.prefetch=1,2,1
exits 2 "of nothing" gtu lab run iru --sweep iru.prefetch=1,,2
exits 2 "of no key" gtu lab run iru --sweep 1,2
exits 2 "two sweeps" gtu lab run iru --sweep iru.prefetch=1,2 --sweep iru.timeout=1,2
exits 2 "a sweep elsewhere" gtu lab check own --sweep iru.prefetch=1,2
exits 2 "a sweep of a real GPU" gtu lab run emogi --device cuda:0 --sweep link.requests=1,2
check "run sparseweaver" gtu lab run sparseweaver --scale 8 --json w.json
says "every figure and the table" '"table": 5' w.json
says "all results are the reference's" '"results_checked": [34][0-9][0-9]' w.json
check "with an own Weaver" gtu lab run sparseweaver --scale 9 --figure 13 --set wvr.entries=64
cp "$out" table
check "of whose rounds is seen" gtu lab run sparseweaver --scale 9 --figure 13
exits 1 "as other cycles" cmp "$out" table
exits 2 "a Weaver that cannot be built" gtu lab run sparseweaver --set wvr.entries=31
says "says why" "an integer from 32 to 65536"
check "run graphpeg" gtu lab run graphpeg --scale 8 --figure 10 --json p.json
says "all results are the reference's" '"results_checked": 270' p.json
says "a mean over all" '"what": "PEG over hardware worklists"' p.json
check "tables of it, over a file" gtu lab run graphpeg --table 4 --graph own.mtx --set peg.blocks=1
says "value by value" "table 4  kc: unlimited over 8 entries" "$out"
check "lab run graphpeg --table 5 runs over a file" gtu lab run graphpeg --table 5 --graph own.mtx
says "table 5 has the file's row of every algorithm" "table 5  kc: unlimited over 24 entries +own.mtx" "$out"
exits 2 "a figure without a row over a file is refused" gtu lab run sparseweaver --figure 11 --graph own.mtx
says "the refusal names the figure" "figure 11 has no row over these graphs"
exits 2 "a PEG that cannot be built" gtu lab run graphpeg --set peg.list_bytes=48128
says "says why" "exceed an SM"
exits 2 "a key that PEG has not" gtu lab run graphpeg --set peg.color=3
check "run scu" gtu lab run scu --scale 8 --json s.json
says "all results are the reference's" '"results_checked": 180' s.json
says "of both machines" "tx1 sssp: coalescing by grouping" s.json
check "a narrower SCU" gtu lab run scu --scale 8 --figure 11 --machine tx1 --set scu.in_flight=1
cp "$out" table
check "whose requests are seen" gtu lab run scu --scale 8 --figure 11 --machine tx1
exits 1 "as another table" cmp "$out" table
exits 2 "an SCU that cannot be built" gtu lab run scu --set scu.width=64
says "says why" "width is 1 to 32"
exits 2 "tables of no power of two" gtu lab run scu --scale 8 --set scu.bfs_lines=1000
says "says why" "power of two"
exits 2 "a key that it has not" gtu lab run scu --set scu.color=3
exits 2 "a machine without a link" gtu lab run emogi --machine gtx980
exits 2 "an unknown paper" gtu lab run halo
exits 2 "both files and a scale" gtu lab run emogi --graph own.mtx --scale 9
exits 3 "a graph that is not there" gtu lab run emogi --graph none.mtx
check "bench lab" gtu bench lab --scale 8 --json b.json
says "counts instructions" '"warp_instructions": [1-9]' b.json
# a real GPU for emogi: without one, one sentence
exits 1 "lab run emogi --device without a driver" env GTU_CUDA_LIBRARY=/nonexistent gtu lab run emogi --device cuda:0
says "which says so" "no CUDA driver|built without nvcc"
exits 2 "lab run iru --device" gtu lab run iru --device cuda:0
says "is for emogi" "--device is for emogi"
finish
