# SPDX-License-Identifier: MIT
# The comparison on a GPU, with programs that only look like gtu and the other codes: stages, resuming, failures, table.
. "${0%/*}/tap.bash"

if ! command -v python3 >/dev/null; then
	skip "gpu-compare" "no python3"
	finish
fi
compare=${GTU_ROOT:-${0%/*}/../..}/tools/bench/gpu-compare
cat >gtu <<'END'
#!/bin/sh
echo "$*" >>calls
out=; kind=device; for x; do last=$x; done
case $1 in
generate|convert) echo graph >"$last"; exit ;;
esac
[ -e no-gpu ] && { echo "gtu: no CUDA driver on this computer"; exit 1; }
row() { echo "{\"algorithm\":\"$1\",\"kernel\":\"auto\",\"gpu_memory\":$4,\"seconds\":$2,\"placement\":{\"edges\":\"$3\",\"edge_bytes\":4,\"compressed\":false,\"cache_bytes\":$4}}"; }
case "$*" in
*"--only link"*) body='"link_gbps":{"pinned":{"sequential":51.5},"device":{"sequential":900}}' ;;
*--ranks*) body='"ranks":[{"name":"EMOGI","error":0.001,"iterations":3,"own_error":0.0009,"seconds":0.0061}],"results":[]' ;;
*--gpu-memory*) body="\"results\":[$(row bfs 0.004 managed 67108864),$(row bfs 0.002 managed 1073741824)]" ;;
*) body="\"graphs\":[{\"edges\":8192,\"sources\":[5,7,11,13]}],\"results\":[$(for x in bfs cc sssp pr; do row $x 0.010 managed 1; echo ,; done)$(row bfs 0.001 device 0)]" ;;
esac
echo "{$body}" >"$last"
END
mkdir -p gap
printf '#!/bin/sh\necho "Trial Time: 0.02"; echo "Average Time: 0.04"\n' >gap/bfs
cp gap/bfs gap/sssp; cp gap/bfs gap/cc
printf '#!/bin/sh\necho crashed; exit 139\n' >gap/pr
cat >other <<'END'
#!/bin/sh
[ $1 = cc ] && exit 77
[ $1 = pr ] && echo ranks >"$4"
[ -s "$2" ] || exit 1
echo "$* is done, from $(wc -l <"$3") sources"; echo 30.5
END
chmod +x gtu gap/* other
all() { "$compare" d --gtu ./gtu --gap gap --other EMOGI=./other --scale 10 --sources 4 --sssp-sources 3 "$@"; }
check "--help" "$compare" --help
exits 2 "without a folder" "$compare"
check "what is left" all --list
says "all of it" "^left +EMOGI bfs kronecker" "$out"
check "some stages" all --stages 3
says "and more are left" "stages are left" "$out"
check "the first are done" all --list
says "the link" "^done +link" "$out"
cp calls before
exits 1 "a code that crashes" all
says "is named" "gap/pr"
check "the rest was done" grep -q "GAP reference, all cores *40.00" d/table.txt
check "the other code" grep -q "^EMOGI *30.50" d/table.txt
check "the row on the card" grep -q "edges on the card *1.00" d/table.txt
check "how much faster" grep -q "over the best other *3.05x" d/table.txt
check "at equal error" grep -q "as close as EMOGI .* 6.10 *6.10" d/table.txt
check "which is what PageRank is compared at" grep -q "over the best other .* 5.00x *5.00x" d/table.txt
check "with the errors" grep -q "pr uniform: EMOGI has a total distance of 0.001 .* 3 iterations 0.0009" d/table.txt
check "the same sources for all" test "$(tr '\n' ' ' <d/sources-bfs-uniform.txt)" = "5 7 11 13 "
check "fewer of paths" test "$(tr '\n' ' ' <d/sources-sssp-uniform.txt)" = "5 7 11 "
check "one eighth of the card" grep -q -- "--gpu-memory 4096 --ranks EMOGI=d/ranks-EMOGI-uniform.f32" calls
check "GAP's steps are tried" test -e d/gap-sssp-32-uniform.json
check "and take a graph of ours" grep -q "convert --weights none --quiet d/uniform-10.gtu" calls
check "the curve" grep -q "<polyline" d/curve.svg
same "what was done is not done again" <(head -3 calls) before
printf '#!/bin/sh\necho "Average Time: 0.5"\n' >gap/pr
wc -l <calls >before
check "once it works" all
says "nothing is left" "all stages are done" "$out"
wc -l <calls >after
same "and nothing of ours ran again" before after
check "graphs may go when all is done" all --tidy
check "and stay away" test ! -e d/uniform-10.gtu -a ! -e d/uniform-10.wsg -a -s d/gtu-uniform.json
rm -r d; touch no-gpu
exits 1 "without a GPU" all
says "one sentence" "no CUDA driver"
check "once" test "$(grep -c "no CUDA driver" "$err" 2>/dev/null || grep -c "no CUDA driver" "$out")" = 1
exits 1 "a graph of another kind" all --graphs lattice
finish
