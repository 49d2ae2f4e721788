# SPDX-License-Identifier: MIT
# gtu bringup on a function in this process: a sound one passes, every planted mistake is found and named.
. "${0%/*}/tap.bash"

check "a sound function" gtu bringup --device model --json ok.json --html ok.html
says "says so" "^nothing failed$" "$out"
says "and where the time went" "^[0-9.]+ s: config [0-9.]+, identity .*, lockstep [0-9.]+$" "$out"
for step in config identity registers mailbox aperture doorbells flr dma irqs units lockstep; do
	says "step $step was done" "^ok +$step " "$out"
done
check "nothing of it is skipped or doubtful" bash -c "! grep -qE '^(skip|warn|FAIL)' '$out'"
check "the report as JSON" python3 - <<'END'
import json
r = json.load(open("ok.json"))
assert r["failed"] == 0 and r["diagnoses"] == [] and r["lockstep"]["agreed"] == 20000, r
assert {b["bar"]: b["bytes"] for b in r["bars"]} == {0: 65536, 1: 4096, 2: 1 << 24, 4: 1 << 24}, r["bars"]
assert any(x["name"] == "CYCLE_LIMIT" and x["read"] == x["expected"] == 1 << 40 for x in r["registers"])
assert sum(r["requests"]["host_read"]) > 1000
END
check "the page names no other file and ends" bash -c '! grep -qE "(src|href)=" ok.html && tail -1 ok.html | grep -q "</html>"'
for picture in "BAR map" "request sizes"; do
	says "the page has: $picture" "<svg.*aria-label=\"$picture\"" ok.html
done
says "the page has the register walk" "<td><code>CYCLE_LIMIT</code>" ok.html
check "the page is well-formed where it is drawn" python3 - <<'END'
import re, xml.dom.minidom
for svg in re.findall(r"<svg.*?</svg>", open("ok.html").read(), re.S):
    xml.dom.minidom.parseString(svg)
END

check "the list of mistakes" gtu bringup --bugs
cp "$out" bugs
check "has at least 20" test "$(wc -l <bugs)" -ge 20
while read -r bug _; do
	exits 4 "$bug is found" gtu bringup --device model --bug "$bug" --json bug.json
	check "and named: $bug, and nothing else" python3 - "$bug" <<-'END'
		import json, sys
		r = json.load(open("bug.json"))
		assert r["diagnoses"] == sys.argv[1:], (r["diagnoses"], [f["text"] for f in r["findings"] if f["state"] == "fail"])
	END
done <bugs

exits 4 "lock step says where it begins" gtu bringup --device model --bug data --only lockstep --html bad.html
says "with descriptor, place and both bytes" "\[data\] descriptor [0-9]+ of seed 1: COPY .*: byte 0x[0-9a-f]+ of output is 0x[0-9a-f]+, the model's 0x[0-9a-f]+" "$out"
says "on the page too" "class=\"name\">data<" bad.html
check "other descriptors" gtu bringup --device model --only lockstep --lockstep 3000 --seed 7
says "of that seed" "3000 descriptors of seed 7" "$out"
exits 4 "what is wrong gets no memory" gtu bringup --device model --bug stuck-bit
says "and says so" "^skip +dma +something before has failed" "$out"
exits 4 "unless it is told to" gtu bringup --device model --bug stuck-bit --force
says "then it goes on" "^ok +dma " "$out"
check "one step" gtu bringup --device model --only aperture --march 16K
says "over more" "over 16384 bytes" "$out"

exits 2 "an unknown mistake" gtu bringup --device model --bug dma-pag
says "suggests one" "did you mean dma-page"
exits 2 "a mistake in a board" gtu bringup --device 0000:00:00.0 --bug w1c
exits 2 "an unknown step" gtu bringup --only dmaa
says "suggests a step" "did you mean dma"
exits 2 "no such place" gtu bringup --device nowhere
says "says what there is" "neither model, nor /dev/gtuN, nor socket:PATH, nor a PCI address"
exits 2 "no address" gtu bringup --device 00:40.0
says "is told how one looks" "as 0000:01:00.0"
exits 2 "what may be done to a machine, for none" gtu bringup --device model --unbind
says "says for whom it is" "for a function on the PCI bus"
# nothing is written to what is not ours; nobody but root could
other=$(grep -Lsi 0x4754 /sys/bus/pci/devices/*/device | head -1)
if [ -n "$other" ]; then
	other=$(basename "$(dirname "$other")")
	exits 1 "a function of another kind" gtu bringup --device "$other"
	says "is left alone" "neither 1234:4754 nor a processing accelerator|needs root"
	exits 1 "also before the bus is scanned again" gtu bringup --device "$other" --rescan
	says "for the same reason" "neither 1234:4754 nor a processing accelerator|Permission denied"
	check "it is still there" test -e "/sys/bus/pci/devices/$other"
fi
exits 2 "a GPU" gtu bringup --device cuda:0
exits 2 "both reports into one file" gtu bringup --device model --json same --html same
exits 1 "a report that cannot be written" gtu bringup --device model --html /nonexistent/page
says "is told before any work" "/nonexistent/page"
check "and nothing was done" test ! -s "$out"
# over vfio-user, without a virtual machine: gtu serve is another process
serving() {
	rm -f s
	gtu --quiet serve --socket s "$@" >served 2>&1 &
	served=$!
	for _ in {1..200}; do [ -S s ] && break; sleep 0.05; done
}
served() { kill "$served" 2>/dev/null; wait "$served" 2>/dev/null; }
trap 'served; rm -rf "$work"' EXIT
serving
check "a function behind a socket" gtu bringup --device socket:s --json -
served
check "is looked at in every step" python3 - "$out" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
assert r["failed"] == 0 and {f["state"] for f in r["findings"]} == {"ok"}, r["findings"]
assert set(r["seconds"]) == set("config identity registers mailbox aperture doorbells flr dma irqs units lockstep".split())
assert r["lockstep"]["agreed"] == 20000
END
for bug in w1c dma-32 msix-mask data; do
	serving --bug $bug
	exits 4 "there too $bug is found" gtu bringup --device socket:s
	served
	says "and named" "this bug explains the findings: $bug$" "$out"
done
serving --fault all-ones=700
exits 4 "a function that goes away" gtu bringup --device socket:s --force
served
says "is told of once" "^1 failed$" "$out"
says "as what it is" "MAGIC reads 0xffffffff, no longer 0x31555447: the function was lost" "$out"
says "and is not asked any more" "^skip +lockstep +the function is lost" "$out"
serving --fault stuck-reset
exits 4 "one that does not come back from its reset" gtu bringup --device socket:s --force
served
says "is told of once too" "^1 failed$" "$out"
serving --fault die-at=3000
exits 4 "a server that dies" gtu bringup --device socket:s
served
says "is a function that is gone" "the function was lost" "$out"
exits 1 "nobody at the socket" gtu bringup --device socket:none
says "says so" "no server listens on none"

exits 2 "gtu serve with an unknown mistake" gtu serve --socket s --bug nonsense
finish
