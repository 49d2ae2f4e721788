# SPDX-License-Identifier: MIT
# The comparison on a GPU, with programs that only look like gtu and the other codes: stages, resuming, failures, table.
. "${0%/*}/tap.bash"

if ! command -v python3 >/dev/null; then
	skip "gpu-compare" "no python3"
	finish
fi
compare=${GTU_ROOT:-${0%/*}/../..}/tools/gpu-compare
cat >gtu <<'END'
#!/bin/sh
echo "$*" >>calls
out=; kind=device; for x; do last=$x; done
case $1 in
generate) echo graph >"$last"; exit ;;
esac
[ -e no-gpu ] && { echo "gtu: no CUDA driver on this computer"; exit 1; }
row() { echo "{\"algorithm\":\"$1\",\"kernel\":\"auto\",\"seconds\":$2,\"placement\":{\"edges\":\"$3\",\"edge_bytes\":4,\"compressed\":false,\"cache_bytes\":$4}}"; }
case "$*" in
*"--only link"*) body='"link_gbps":{"pinned":{"sequential":51.5},"device":{"sequential":900}}' ;;
*--gpu-memory*) body="\"results\":[$(row bfs 0.004 managed 67108864),$(row bfs 0.002 managed 1073741824)]" ;;
*) body="\"results\":[$(row "$(echo "$*" | sed 's/.*--only \([a-z]*\),.*/\1/')" 0.010 managed 1),$(row bfs 0.001 device 0)]" ;;
esac
echo "{$body}" >"$last"
END
mkdir -p gap
printf '#!/bin/sh\necho "Trial Time: 0.02"; echo "Average Time: 0.04"\n' >gap/bfs
cp gap/bfs gap/sssp; cp gap/bfs gap/cc
printf '#!/bin/sh\necho crashed; exit 139\n' >gap/pr
printf '#!/bin/sh\n[ $1 = pr ] && exit 77\necho "$* is done"; echo 30.5\n' >other
chmod +x gtu gap/* other
all() { "$compare" d --gtu ./gtu --gap gap --other EMOGI=./other --scale 10 "$@"; }
check "--help" "$compare" --help
exits 2 "without a folder" "$compare"
check "what is left" all --list
says "all of it" "^left +gtu bfs kronecker" "$out"
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
check "the curve" grep -q "<polyline" d/curve.svg
same "what was done is not done again" <(head -3 calls) before
printf '#!/bin/sh\necho "Average Time: 0.5"\n' >gap/pr
wc -l <calls >before
check "once it works" all
says "nothing is left" "nothing is left" "$out"
wc -l <calls >after
same "and nothing of ours ran again" before after
rm -r d; touch no-gpu
exits 1 "without a GPU" all
says "one sentence" "no CUDA driver"
check "once" test "$(grep -c "no CUDA driver" "$err" 2>/dev/null || grep -c "no CUDA driver" "$out")" = 1
exits 1 "a graph of another kind" all --graphs lattice
finish
