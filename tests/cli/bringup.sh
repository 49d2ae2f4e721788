# SPDX-License-Identifier: MIT
# Tests gtu bringup on a function in this process: a sound one passes, and every injected bug is found and named.
. "${0%/*}/tap.bash"

check "gtu bringup passes a sound function" gtu bringup --device model --json ok.json --html ok.html
cp "$out" ok.txt
says "the last line says that nothing failed" "^nothing failed$" ok.txt
says "a line says that every step was checked" "^11 of 11 steps checked$" ok.txt
says "a line gives the seconds of each step" "^[0-9.]+ s: config [0-9.]+, identity .*, lockstep [0-9.]+$" ok.txt
for step in config identity registers mailbox aperture doorbells flr dma irqs units lockstep; do
	says "step $step passes" "^ok +$step " ok.txt
done
lacks "no step of a sound function is skipped, doubtful or failed" '^(skip|warn|FAIL)' ok.txt
json "the JSON of a sound function has its BARs, registers and requests" ok.json \
	'd["failed"] == 0 and d["diagnoses"] == [] and d["lockstep"]["agreed"] == 20000' \
	'd["checked"] == d["steps"] == 11' \
	'{b["bar"]: b["bytes"] for b in d["bars"]} == {0: 65536, 1: 4096, 2: 1 << 24, 4: 1 << 24}' \
	'any(x["name"] == "CYCLE_LIMIT" and x["read"] == x["expected"] == 1 << 40 for x in d["registers"])' \
	'sum(d["requests"]["host_read"]) > 1000'
lacks "the page refers to no other file" "(src|href)=" ok.html
tail -1 ok.html >end
says "the page ends with </html>" "</html>" end
for picture in "BAR map" "request sizes"; do
	says "the page has the picture '$picture'" "<svg.*aria-label=\"$picture\"" ok.html
done
says "the page has the register walk" "<td><code>CYCLE_LIMIT</code>" ok.html
drawings "the page's drawings are well-formed XML" ok.html

check "gtu bringup --bugs lists the bugs that can be injected" gtu bringup --bugs
cp "$out" bugs
at_least 20 "$(wc -l <bugs)" "bugs to inject"
while read -r bug _; do
	rm -f bug.json
	exits 4 "gtu bringup fails a function with the bug $bug" gtu bringup --device model --bug "$bug" --json bug.json
	python "gtu bringup names the bug $bug, and no other" "$bug" <<-'END'
		import json, sys
		r = json.load(open("bug.json"))
		assert r["diagnoses"] == sys.argv[1:], (r["diagnoses"], [f["text"] for f in r["findings"] if f["state"] == "fail"])
	END
done <bugs

exits 4 "the lockstep step fails a function with the bug data" \
	gtu bringup --device model --bug data --only lockstep --html bad.html
says "lockstep reports the descriptor, the byte's offset and both values" "\[data\] descriptor [0-9]+ of seed 1: COPY .*: byte 0x[0-9a-f]+ of output is 0x[0-9a-f]+, the model's 0x[0-9a-f]+" "$out"
says "the page names the bug data" "class=\"name\">data<" bad.html
prints "--lockstep and --seed choose the descriptors" "3000 descriptors of seed 7" gtu bringup --device model --only lockstep --lockstep 3000 --seed 7
prints 4 "gtu bringup fails a function with a stuck bit" "^skip +dma +something before has failed" gtu bringup --device model --bug stuck-bit
prints 4 "gtu bringup --force fails a function with a stuck bit" "^ok +dma " gtu bringup --device model --bug stuck-bit --force
prints "gtu bringup --only aperture runs one step" "over 16384 bytes" gtu bringup --device model --only aperture --march 16K
lacks "--only aperture leaves out DMA and lockstep" "^ok +(dma|lockstep)" "$out"

exits 4 "gtu bringup fails the units of a function with the bug block-index" \
	gtu bringup --device model --bug block-index --force --only units
says "gtu bringup reads the registers of an engine that waits for its consumer" \
	"^FAIL +units +R_EFS of PEG's engine 0 is 0 while the consumer requests nothing, not 6" "$out"

# boards that are smaller than the model's default build
for board in queues=1 contexts=1,queues=1,vectors=1,event_rings=1 ring_log2=4,regions_log2=4 aperture_bytes=4096 absent_units=2 caps_off=4 \
	caps_off=8 caps_off=64; do
	check "gtu bringup passes the board $board" gtu bringup --device "model:$board"
	says "gtu bringup checks every step of the board $board" "^11 of 11 steps checked$" "$out"
done
says "without logical cycles, cycles are not compared" "except for cycles and the order of streams" "$out"
check "gtu bringup passes a board with a part of the SCU" gtu bringup --device model:absent_operations=scu-data+scu-expand,absent_scu=grouping
says "lockstep reports what is absent" "the device answers ABSENT to: scu-data, scu-expand, filtering, grouping$" "$out"
check "gtu bringup passes a board without an option of the SCU" gtu bringup --device model:absent_scu=filtering
says "lockstep reports the option that is absent" "the device answers ABSENT to: filtering$" "$out"
# boards that the tables of the specification allow, and what bring-up cannot check on them
cat >boards <<'END'
aperture_bytes=0 10 of 11 steps checked; skipped: aperture
absent_units=iru+peg 11 of 11 steps checked
absent_operations=scu-expand+iru-stream 11 of 11 steps checked
absent_operations=255 10 of 11 steps checked; skipped: units
unknown_unit=1 11 of 11 steps checked
queues=1,contexts=1,vectors=1,aperture_bytes=0,unknown_unit=1,absent_units=scu,absent_operations=peg-stream,caps_off=streams+seek 10 of 11 steps checked; skipped: aperture
END
while read -r board checked; do
	check "gtu bringup passes the board $board" gtu bringup --device "model:$board"
	says "gtu bringup counts the steps of the board $board" "^$checked\$" "$out"
done <boards
exits 1 "gtu bringup fails if the units that were asked for have no operation" \
	gtu bringup --device model:absent_operations=255 --only units
exits 1 "gtu bringup fails if the aperture that was asked for is absent" \
	gtu bringup --device model:aperture_bytes=0 --only aperture
# an operation has one name, an option another
fails_with 2 "absent_scu names no operation" 'there is no option of the SCU "scu-data"; give a sum of filtering, grouping' \
	gtu bringup --device model:absent_scu=scu-data
fails_with 2 "a mask has no bits without a meaning" "absent_scu=0x72 has bits that no option of the SCU has: the highest is bit 1" \
	gtu bringup --device model:absent_scu=0x72
exits 4 "gtu bringup finds a bug of a board without operations" gtu bringup --device model:absent_operations=31 --bug data
says "gtu bringup names the bug of a board without operations" "this bug explains the findings: data$" "$out"
prints "gtu info shows a unit that it does not know" "bit 5 of UNITS, unknown to this program" gtu info --device model:unknown_unit=1
check "gtu bringup passes a board without units" gtu bringup --device model:absent_units=31
says "gtu bringup reports the step that it skipped" "^10 of 11 steps checked; skipped: units$" "$out"
exits 1 "gtu bringup fails if a step that was asked for is skipped" gtu bringup --device model:absent_units=31 --only dma,units
says "gtu bringup counts the steps that were asked for" "^3 of 4 steps checked; skipped: units$" "$out"
exits 4 "gtu bringup finds a bug of a smaller board" gtu bringup --device model:queues=1 --bug data
says "gtu bringup names the bug of a smaller board" "this bug explains the findings: data$" "$out"
exits 2 "gtu bringup refuses an unknown parameter of the model" gtu bringup --device model:queue=1
says "gtu bringup names the unknown parameter" 'no parameter "queue"'
exits 2 "gtu bringup refuses a value that no board has" gtu bringup --device model:queues=257
says "gtu bringup names the value out of range" "queues is 257"

fails_with 2 "gtu bringup refuses a unit that no board can lack" 'there is no unit "irux"; give a sum of scu, iru' gtu bringup --device model:absent_units=iru+irux
fails_with 2 "gtu bringup refuses an operation that is unknown" 'there is no operation "scu"; give a sum of scu-bitmask' gtu bringup --device model:absent_operations=scu
fails_with 2 "gtu bringup refuses a capability that is unknown" 'there is no capability "sek"' gtu bringup --device model:caps_off=sek
fails_with 2 "gtu bringup refuses two unknown units" "neither 0 nor 1" gtu bringup --device model:unknown_unit=2
fails_with 2 "gtu bringup refuses an aperture that is no power of two" "aperture_bytes is 5000" gtu bringup --device model:aperture_bytes=5000
fails_with 2 "gtu bringup refuses an unknown bug" "did you mean dma-page" gtu bringup --device model --bug dma-pag
fails_with 2 "gtu bringup refuses to inject a bug into a board" "--bug" gtu bringup --device 0000:00:00.0 --bug w1c
fails_with 2 "gtu bringup refuses an unknown step" "did you mean dma" gtu bringup --only dmaa
fails_with 2 "gtu bringup refuses an unknown kind of device" "neither model, nor /dev/gtuN, nor socket:PATH, nor a PCI address" gtu bringup --device nowhere
fails_with 2 "gtu bringup refuses an incomplete PCI address" "as 0000:01:00.0" gtu bringup --device 00:40.0
fails_with 2 "gtu bringup refuses --unbind for the model" "for a function on the PCI bus" gtu bringup --device model --unbind
# a function that is not a GTU is not written to; only root can
other=$(grep -Lsi 0x4754 /sys/bus/pci/devices/*/device | head -1)
other=$(basename "$(dirname "${other:-/none/none}")")
needs_pciaccess
given "this machine has no PCI function" test -e "/sys/bus/pci/devices/$other"
fails_with 1 "gtu bringup refuses a PCI function of another kind" "neither 1234:4754 nor a processing accelerator|needs root" gtu bringup --device "$other"
exits 1 "gtu bringup --rescan refuses a PCI function of another kind" gtu bringup --device "$other" --rescan
says "gtu bringup --rescan prints the same message" "neither 1234:4754 nor a processing accelerator|Permission denied"
holds "the refused PCI function is still on the bus" test -e "/sys/bus/pci/devices/$other"
always

# boards on a simulated bus: a function's memory is files
needs_sys
needs_pciaccess
boards=sys/bus/pci/devices
board() { # ADDRESS VENDOR DEVICE CLASS
	local bar

	pci_files "$boards/$1" "$2" "$3" "$4"
	for bar in 0 1 2 4; do truncate -s 64K "$boards/$1/resource$bar"; done
	printf '\x47\x54\x55\x30' | dd of="$boards/$1/resource0" conv=notrunc 2>/dev/null
	: >"$boards/$1/reset"
}
bring() { # COMMAND...
	with_sys sys gtu bringup "$@"
}
mkdir -p "$boards" sys/bus/pci/drivers/other
board 0000:00:02.0 0x8086 0x1237 0x060000
fails_with 1 "gtu bringup fails where no GTU is on the bus" "no function 1234:4754 on the PCI bus" bring
cp -r sys before
fails_with 1 "gtu bringup refuses a function of another kind" "0000:00:02.0 is 8086:1237, class 060000: neither" bring --device 00:02.0
holds "nothing was written to the function of another kind" diff -r sys before
board 0001:c1:1f.7 0x1234 0x4754 0x120000
exits 4 "gtu bringup tests the only GTU on the bus" bring --hugepage
says "gtu bringup finds the GTU by its ids" "^ok +config +0001:c1:1f.7: vendor 1234, device 4754, class 120000" "$out"
says "gtu bringup reads the registers in the BAR" "^FAIL +identity +MAGIC reads 0x30555447, not 0x31555447" "$out"
says "gtu bringup reads the sizes of the BARs" "^FAIL +config +BAR 1 has 0x10000 bytes, exactly 0x1000 are right" "$out"
od -An -tx1 -j4 -N2 "$boards/0001:c1:1f.7/config" >command
says "gtu bringup ends with bus mastering off" "02 04" command
exits 4 "gtu bringup --force tests a function of another kind" bring --device 00:02.0 --force
says "gtu bringup names the ids of the other function" "^warn +config +0000:00:02.0: vendor 8086, device 1237" "$out"
ln -s ../../drivers/other "$boards/0001:c1:1f.7/driver"
: >sys/bus/pci/drivers/other/unbind
fails_with 1 "gtu bringup refuses a function that a driver owns" "the driver 'other' owns 0001:c1:1f.7" bring
holds "the function is not unbound" test ! -s sys/bus/pci/drivers/other/unbind
touch sys/bus/pci/drivers/other/bind
exits 4 "gtu bringup --unbind tests a function that a driver owns" bring --unbind
holds "gtu bringup unbinds the function" grep -qx "0001:c1:1f.7" sys/bus/pci/drivers/other/unbind
holds "gtu bringup gives the function back" grep -qx "0001:c1:1f.7" sys/bus/pci/drivers/other/bind
rm "$boards/0001:c1:1f.7/driver"
touch "$boards/0001:c1:1f.7/remove" sys/bus/pci/rescan
exits 4 "gtu bringup --rescan tests a function again" bring --device 0001:c1:1f.7 --rescan
holds "gtu bringup removes the function" grep -qx 1 "$boards/0001:c1:1f.7/remove"
holds "gtu bringup scans the bus" grep -qx 1 sys/bus/pci/rescan
board 0000:00:05.0 0x1234 0x4754 0x120000
fails_with 2 "gtu bringup asks which of two GTUs is meant" "there are 2 GTUs \(0000:00:05.0 0001:c1:1f.7\)" bring
board 0000:00:07.0 0x10ee 0x9038 0x120000
exits 4 "gtu bringup --id tests the board with these ids" bring --id 10EE:9038
says "gtu bringup --id finds the board by its ids" "^ok +config +0000:00:07.0: vendor 10ee, device 9038, class 120000" "$out"
exits 4 "gtu bringup tests a board with other ids by its address" bring --device 00:07.0
says "gtu bringup warns of other ids" "^warn +config +0000:00:07.0: vendor 10ee, device 9038, not 1234:4754 " "$out"
fails_with 1 "gtu bringup --id fails where no board has these ids" "no function 10ee:9039 on the PCI bus" bring --id 10ee:9039
fails_with 2 "gtu bringup reports an address without a function" "there is no PCI function 0000:00:06.0" bring --device 00:06.0
mkdir empty
rm "$boards/0000:00:05.0/resource0"
fails_with 1 "gtu bringup reports a BAR that cannot be mapped" "cannot map BAR 0 of 0000:00:05.0: No such file" bring --device 00:05.0
fails_with 1 "gtu bringup fails without a PCI bus" "finds no PCI bus: No such file" with_sys empty gtu bringup
always
for id in 10ee 10ee:9038:1 10ee:zz :9038 1:2,3:4; do
	fails_with 2 "gtu bringup refuses the id $id" "is not VENDOR:DEVICE in hexadecimal" gtu bringup --id "$id"
done
fails_with 2 "gtu bringup refuses --id for the model" "for a function on the PCI bus" gtu bringup --device model --id 10ee:9038
fails_with 2 "gtu bringup refuses a GPU" "cuda:0" gtu bringup --device cuda:0
fails_with 2 "gtu bringup refuses one file for both reports" "same" gtu bringup --device model --json same --html same
fails_with 1 "gtu bringup refuses a report that cannot be written" "/nonexistent/page" gtu bringup --device model --html /nonexistent/page
empty "gtu bringup refuses it before any step" "$out"
# over vfio-user without a virtual machine: gtu serve runs in another process
server=
serve() {
	rm -f s
	gtu --quiet serve --socket s "$@" >served 2>&1 &
	server=$!
	wait_until $server test -S s
}
end_server() {
	[ -z "$server" ] || { kill "$server"; wait "$server"; } 2>/dev/null
	server=
}
at_exit end_server
serve
check "gtu bringup passes a sound function behind a socket" gtu bringup --device socket:s --json socket.json
end_server
json "gtu bringup runs every step over the socket" socket.json \
	'd["failed"] == 0 and {f["state"] for f in d["findings"]} == {"ok"}' \
	'set(d["seconds"]) == set("config identity registers mailbox aperture doorbells flr dma irqs units lockstep".split())' \
	'd["lockstep"]["agreed"] == 20000'
# a user's machine reaches the server of the same user
given "only root can be another user" test "$(id -u)" = 0
needs setpriv
mkdir theirs
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if [ "$(id -u)" = 0 ]; then
	chmod 711 . && cp "$bin/gtu" theirs && chown 65534 theirs
	"${nobody[@]}" theirs/gtu --quiet serve --socket theirs/s >served 2>&1 &
	server=$!
	wait_until $server test -S theirs/s
fi
check "gtu serve serves the user who started it" "${nobody[@]}" theirs/gtu bringup --device socket:theirs/s --only identity
end_server
empty "gtu serve refuses no connection of the user who started it" served
always
for bug in w1c dma-32 msix-mask data; do
	serve --bug $bug
	exits 4 "gtu bringup fails a function behind a socket with the bug $bug" gtu bringup --device socket:s
	end_server
	says "gtu bringup names the bug $bug behind a socket" "this bug explains the findings: $bug$" "$out"
done
serve queues=1,aperture_bytes=0 absent_units=iru absent_operations=scu-access unknown_unit=1
check "gtu bringup passes a board that gtu serve serves" gtu bringup --device socket:s
end_server
empty "gtu bringup accesses nothing that the served board lacks" served
says "gtu serve serves the board that was described" "units 0x3d, 256 contexts, 1 queues" "$out"
says "gtu bringup reports the operation that the served board lacks" "scu-access .0x12. is not in this build" "$out"
fails_with 2 "gtu serve refuses an unknown parameter" 'no parameter "queue"' gtu serve --socket s queue=1
fails_with 2 "gtu serve refuses an argument without a value" '"queues" is not a parameter' gtu serve --socket s queues
fails_with 2 "gtu serve refuses a value that no board has" "queues is 999" gtu serve --socket s queues=999
fails_with 2 "gtu serve refuses to map an aperture that is absent" "needs an aperture" gtu serve --socket s --map-aperture aperture_bytes=0
serve --fault all-ones=700
exits 4 "gtu bringup fails a function that is removed" gtu bringup --device socket:s --force
end_server
says "gtu bringup reports the removal once" "^1 failed$" "$out"
says "gtu bringup reports the removed function" "MAGIC reads 0xffffffff, no longer 0x31555447: the function was lost" "$out"
says "gtu bringup skips lockstep on a removed function" "^skip +lockstep +the function is lost" "$out"
serve --fault stuck-reset
exits 4 "gtu bringup fails a function that does not complete its reset" gtu bringup --device socket:s --force
end_server
says "gtu bringup reports the stuck reset once" "^1 failed$" "$out"
serve --fault die-at=3000
exits 4 "gtu bringup fails a function whose server dies" gtu bringup --device socket:s
end_server
says "gtu bringup reports the lost function of a dead server" "the function was lost" "$out"
fails_with 1 "gtu bringup refuses a socket without a server" "no server listens on none" gtu bringup --device socket:none

# a board that is not the model: no units, one queue
needs python3
tiny() { # SCRIPT
	python3 "$1" serve --socket "$work/tiny" >served 2>&1 &
	server=$!
	# it listens: 00010000 is __SO_ACCEPTCON
	wait_until $server grep -q " 00010000 .* $work/tiny$" /proc/net/unix
}
sed 's/^DOORBELLS, APERTURE, LATENCY = 0x10000, 0x1000,/DOORBELLS, APERTURE, LATENCY = 0x10000, 0,/' "$root/tests/tiny/tiny.py" >bare.py
sed 's/0x10: 0,/0x10: 0x20,/; s/at < 0x6000/at < 0x7000/' "$root/tests/tiny/tiny.py" >stranger.py	# a unit on page 6
# its bus does not show the device how wide a read is
sed 's/if size in (4, 8) and at % size == 0:/if size < 4 and self.register(at \& ~3):\n            return self.register(at \& ~3)[0] >> 8 * (at \& 3) \& (1 << 8 * size) - 1\n        &/' \
	"$root/tests/tiny/tiny.py" >narrow.py
holds "narrow.py differs from tiny.py" test "$(diff "$root/tests/tiny/tiny.py" narrow.py | wc -l)" = 3
for board in "$root/tests/tiny/tiny.py" bare.py stranger.py narrow.py; do
	tiny "$board"
	check "gtu bringup passes the function of ${board##*/}" gtu bringup --device "socket:$work/tiny" --lockstep 300
	end_server
	cp "$out" "${board##*/}.txt"
done
says "gtu bringup skips only the units that tiny.py lacks" "^10 of 11 steps checked; skipped: units$" tiny.py.txt
holds "stranger.py has another unit" grep -q "units 0x20," stranger.py.txt
says "gtu bringup skips the aperture that bare.py lacks" "^9 of 11 steps checked; skipped: aperture, units$" bare.py.txt

# a function whose first job takes longer than the tool waits, as in a simulation
sed -e 's/^import .*/&, threading/' -e 's/^            self\.work()$/            self.slow()/' -e '/^    def doorbell/i\
    slept = False\
    def slow(self):\
        threading.Timer(0 if self.slept else 6, self.work).start()\
        self.slept = True\
' "$root/tests/tiny/tiny.py" >slow.py
tiny slow.py
exits 4 "gtu bringup gives up on a job that takes 6 s" gtu bringup --device "socket:$work/tiny" --only dma
says "gtu bringup reports the completion that did not arrive" "did not arrive in time" "$out"
end_server
tiny slow.py
check "gtu bringup --time-scale 4 waits for it" gtu bringup --device "socket:$work/tiny" --only dma --time-scale 4
end_server
always
fails_with 2 "gtu bringup refuses a time scale of 0" "time-scale" gtu bringup --time-scale 0

fails_with 2 "gtu serve refuses an unknown bug" "nonsense" gtu serve --socket s --bug nonsense
finish
