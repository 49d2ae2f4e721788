# SPDX-License-Identifier: MIT
# Tests gtu top on simulated file systems: growing counters, and missing files.
. "${0%/*}/tap.bash"

export GTU_TOP_ROOT=$work/tree
d=tree/sys/class/gtu/gtu0
put() { echo "$2" >"$d/$1"; }
# counters FACTOR: sets all counters of a device to FACTOR times their initial values; the names are those in the documents
names() {
	grep -o "What:.*/gtuN/$1_counters/[a-z0-9_]*$" "$root/Documentation/ABI/sysfs-class-gtu" | sed 's|.*/||'
}
counters() {
	local unit name
	for unit in scu iru peg wvr; do
		for name in $(names $unit); do put "${unit}_counters/$name" 0; done
		put ${unit}_counters/jobs $((100 * $1))
		put ${unit}_counters/cycles $((1000000 * $1))
	done
	for name in 0 1 2 3 4 5 6 7 8; do put wvr_counters/state_$name $name; done
	put scu_counters/in $((6000 * $1))
	put scu_counters/out $((4000 * $1))
	put peg_counters/edges $((9000 * $1))
	for name in {host,aperture}_{read,write}_{32,64,96,128,bytes} in_flight_sum monitored_cycles; do put zcm_counters/$name 0; done
	put zcm_counters/host_read_32 $((3000 * $1))
	put zcm_counters/host_read_128 $((1000 * $1))
	put zcm_counters/host_read_bytes $((224000 * $1))
	put zcm_counters/in_flight 5
	put zcm_counters/in_flight_max 9
	put zcm_counters/in_flight_sum $((800 * $1))
	put zcm_counters/monitored_cycles $((100 * $1))
}
device() {
	d=tree/sys/class/gtu/$1
	mkdir -p $d/{scu,iru,peg,wvr,zcm}_counters $d/zcm
	put state up
	put epoch 3
	put hw_version 1.2
	put units 0x1f
	put clock_hz 100000000
	put max_queues 256
	put max_contexts 64
	put zcm/enable 1
	counters 1
}

# ---- missing files ----
fails_with 1 "gtu top fails where the module is not loaded" "there is no .*/sys/class/gtu: the module gtu is not loaded \('modprobe gtu' as root" gtu top
mkdir -p tree/sys/class/gtu
fails_with 1 "gtu top fails where the module has no device" "the module gtu is loaded and has no device; 'gtu doctor' finds the cause" gtu top --once
device gtu0
fails_with 1 "gtu top fails for a device that is missing" "there is no .*/gtu7: this computer has 1 other device$" gtu top --device gtu7
exits 2 "gtu top refuses a device without a driver" gtu top --device model
exits 2 "gtu top refuses a word that is no option" gtu top gtu0
exits 2 "gtu top refuses an interval of 0" gtu top --interval 0
exits 1 "gtu top fails where the JSON cannot be written" gtu top --json /nonexistent/x
place=$(mktemp -d /tmp/gtu-top-XXXXXX) || exit 1
at_exit rm -rf "$place"
chmod 755 "$place"
cp "$bin/gtu" "$place/gtu"
needs_root
given "root cannot become another user that runs a program in /tmp" nobody "$place/gtu" version
if [ -z "$missing" ]; then
	chmod 755 . && chmod 400 $d/*_counters/*
fi
exits 1 "gtu top fails where only root reads the counters" nobody "$place/gtu" top --once
says "gtu top says that only root reads the counters" "the counters below .*/gtu0 are for root alone \(they tell what others do\), and you are not root: sudo gtu top"
chmod 600 $d/*_counters/*
always

# ---- existing files ----
prints "gtu top --once prints one picture" "^gtu0  up, epoch 3, model 1.2, 100 MHz$" gtu top --once --interval 0.05
says "gtu top says that debugfs is missing" "queues +at most 256, of 64 contexts; the users are in debugfs" "$out"
for unit in scu iru peg wvr; do says "gtu top prints no job and the total of unit $unit" "^  $unit +0.0%  \[\.{20}\] +0 +100 " "$out"; done
says "gtu top prints host reads" "^  host reads +0 +0 +0.0%" "$out"
lacks "gtu top --once prints no control character" $'\033|\001' "$out"
mkdir -p tree/sys/kernel/debug/gtu/gtu0
printf 'context 1: pid 42 (a(b)\033[2J) epoch 3, 2 queues, 1 region slots taken of 8, 0 chunks, table at 0x1\ncontext 2: busy, not shown\ncontext 3: pid 7 (x) epoch 3 (dead), 1 queues, 0 region slots taken of 8, 0 chunks, table at 0x1\n' >tree/sys/kernel/debug/gtu/gtu0/contexts
check "gtu top --once runs with debugfs" gtu top --once --interval 0.05
says "gtu top prints the owners of the queues from debugfs" "^  queues +3 of 256, of 3 contexts \(64 at most\): 42 \(a\(b\)\?\[2J\): 2, 7 \(x\): 1, and 1 more$" "$out"

# programs with the device open: pid 42 twice by the same file, pid 7 by one of a device without counters
client() { # PID NAME FD CLIENT-ID CYCLES JOBS
	mkdir -p tree/proc/$1/{fd,fdinfo}
	echo "$2" >tree/proc/$1/comm
	ln -sfn /dev/gtu0 tree/proc/$1/fd/$3
	printf 'pos:\t0\ndrm-driver:\tgtu\ndrm-client-id:\t%s\n' $4 >tree/proc/$1/fdinfo/$3
	[ -z "${5:-}" ] || printf 'drm-cycles-gtu:\t%s\ngtu-jobs:\t%s\n' $5 $6 >>tree/proc/$1/fdinfo/$3
	printf 'drm-total-memory:\t%s KiB\ndrm-total-aperture:\t8 KiB\ngtu-device:\tgtu0\n' $((100 * $4)) >>tree/proc/$1/fdinfo/$3
}
client 42 bfs 3 1 5000 20
client 42 bfs 4 1 5000 20
client 7 old 5 2
check "gtu top --once runs with open files" gtu top --once --interval 0.05
says "gtu top prints a program's jobs and memory" "^  42 +bfs +0.0% +0 +20 +100 KiB +8 KiB$" "$out"
says "gtu top prints a program that is not counted" "^  7 +old +- +- +- +200 KiB +8 KiB$" "$out"
holds "gtu top prints an open file once" [ "$(grep -c ' bfs ' "$out")" -eq 1 ]
check "gtu top writes programs as JSON" gtu top --json clients.json --interval 0.05
json "the JSON has the programs" clients.json 'sorted((c["pid"], c["process"], c.get("jobs", 0), c.get("cycles", 0), c["memory_kib"], c["aperture_kib"]) for c in d["devices"][0]["clients"]) == [(7, "old", 0, 0, 200, 8), (42, "bfs", 20, 5000, 100, 8)]'

# rates are the differences between two samples, divided by the seconds in the JSON output
cat >rates.py <<'END'
import json, sys
d = json.load(open("top.json"))
s, g = d["seconds"], d["devices"][0]
def near(got, want):
    assert abs(got - want) <= 1e-6 * abs(want), (got, want)
u = g["units"]
assert g["name"] == "gtu0" and g["queues"] == 3 and g["contexts"] == 3 and not g["reset"]
grown = float(sys.argv[1])
assert 0.05 <= s < 60, s
for unit in ("scu", "iru", "peg", "wvr"):
    near(u[unit]["jobs_per_second"], 100 * grown / s)
    near(u[unit]["busy"], 1000000 * grown / s / 1e8)
near(u["scu"]["in_per_second"], 6000 * grown / s)
near(u["scu"]["out_per_second"], 4000 * grown / s)
near(u["peg"]["out_per_second"], 9000 * grown / s)
near(u["zcm"]["requests_per_second"]["host_read"]["32"], 3000 * grown / s)
near(u["zcm"]["requests_per_second"]["host_read"]["128"], 1000 * grown / s)
near(u["zcm"]["host_read_bytes_per_second"], 224000 * grown / s)
assert u["wvr"]["counters"]["s8"] == 8, u["wvr"]
END
# between COMMAND...: runs gtu top --json, and COMMAND between its two samples. A sample first reads the state, which is a
# pipe here: gtu top waits until the pipe is written and closed. Each sample has its own pipe.
between() {
	local pid code

	rm $d/state
	mkfifo $d/state
	exec 9<>$d/state
	gtu top --interval 0.05 --json top.json 9>&- &
	pid=$!
	wait_until $pid has_open $pid state
	mkfifo $d/next
	exec 8<>$d/next
	mv $d/next $d/state
	echo up >&9
	exec 9>&-
	wait_until $pid has_open $pid state
	"$@"
	echo up >&8
	exec 8>&-
	wait $pid
	code=$?
	rm $d/state
	put state up
	return $code
}
between counters 3
code=$?
holds "gtu top --json ends with 0" test $code -eq 0
python "gtu top computes rates from the difference of the counters" rates.py 2
json "gtu top reads every counter of the interface" top.json \
	'[len(d["devices"][0]["units"][n]["counters"]) for n in ("scu", "iru", "peg", "wvr")] == [9, 12, 17, 18]'
put units 0x1
put zcm/enable 0
prints "gtu top --once runs on a device with one unit" "^  scu " gtu top --once --interval 0.05
lacks "gtu top prints no unit that the device lacks" "^  (iru|peg|wvr|requests)" "$out"
put units 0x1f
prints "gtu top --once runs with the monitor off" "the monitor is off: 'gtu run --monitor'" gtu top --once --interval 0.05
put zcm/enable 1
rm $d/zcm_counters/host_read_32
put scu_counters/jobs nonsense
put peg_counters/jobs 99999999999999999999999
printf 'up\033]0;x\007' >$d/state
prints "gtu top --once runs over damaged files" "^gtu0  up\?\]0;x\?," gtu top --once --interval 0.05
put state up
counters 1
device gtu1
put state dead
device gtu10
d=tree/sys/class/gtu/gtu0
check "gtu top --once runs on three devices" gtu top --once --interval 0.05
same "gtu top prints devices in the order of their numbers" <(grep -o '^gtu[0-9]*' "$out") <(printf 'gtu0\ngtu1\ngtu10\n')
says "gtu top prints the device that is dead" "^gtu1  dead," "$out"
check "gtu top --device runs on one of three devices" gtu top --device /dev/gtu1 --once --interval 0.05
same "gtu top --device prints that device alone" <(grep -o '^gtu[0-9]*' "$out") <(echo gtu1)
rm -r tree/sys/class/gtu/gtu1{,0}

# a reset between two samples: counters restart at 0, and no rate is negative
anew() {
	counters 1
	put scu_counters/jobs 140	# more than before, all of it since the reset
	put epoch 4
}
between anew
code=$?
holds "gtu top --json ends with 0 after a reset" test $code -eq 0
python "gtu top counts from 0 after a reset" <<'END'
import json
d = json.load(open("top.json"))
g = d["devices"][0]
assert g["reset"] and g["epoch"] == 4
assert abs(g["units"]["scu"]["jobs_per_second"] * d["seconds"] - 140) < 1e-3, g
END
put epoch 3

# ---- a terminal ----
cat >terminal.py <<'END'
"""Runs gtu top on a pseudo-terminal and says how it left it: terminal.py KEY|SIGNAL|^Z."""
import os, pty, select, signal, subprocess, sys, termios, time
how = sys.argv[1]
master, slave = pty.openpty()
import fcntl, struct
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 12, 60, 0, 0))
before = termios.tcgetattr(slave)
p = subprocess.Popen(["gtu", "top", "--interval", "0.1"], stdin=slave, stdout=slave, stderr=subprocess.PIPE)
got = b""
def until(what, seconds=20):
    global got
    end = time.time() + seconds
    while not what() and time.time() < end and (p.poll() is None or select.select([master], [], [], 0)[0]):
        if select.select([master], [], [], 0.1)[0]:
            got += os.read(master, 65536)
    assert what(), got[-2000:]
until(lambda: got.count(b"gtu0  up") >= 3)
during = termios.tcgetattr(slave)
assert not during[3] & termios.ECHO and not during[3] & termios.ICANON
assert got.startswith(b"\033[?1049h\033[?25l"), got[:40]
if how == "^Z":
    p.send_signal(signal.SIGTSTP)
    until(lambda: os.waitid(os.P_PID, p.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None)
    until(lambda: got.endswith(b"\033[?25h\033[?1049l"))
    assert termios.tcgetattr(slave) == before
    p.send_signal(signal.SIGCONT)
    n = got.count(b"gtu0  up")
    until(lambda: got.count(b"gtu0  up") > n and got.count(b"\033[?1049h") == 2)
    how = "q"
if len(how) == 1:
    os.write(master, b"x" + how.encode())
else:
    p.send_signal(getattr(signal, how))
code = p.wait(timeout=20)
until(lambda: got.endswith(b"\033[?25h\033[?1049l"))
assert termios.tcgetattr(slave) == before, "gtu top did not restore the terminal"
frame = got.split(b"\033[H")[2].split(b"\033[J")[0]
lines = frame.replace(b"\033[K", b"").replace(b"\033[0m", b"").replace(b"\033[1m", b"").split(b"\r\r\n" if b"\r\r\n" in frame else b"\r\n")
assert len(lines) <= 12 and all(len(l.rstrip(b"\r")) <= 60 for l in lines), lines
want = 0 if len(how) == 1 else 130
assert code == want, (code, want, p.stderr.read())
END
python "gtu top ends on q and restores the terminal" terminal.py q
for signal in SIGINT SIGTERM SIGHUP SIGQUIT; do python "gtu top ends on $signal and restores the terminal" terminal.py $signal; done
python "gtu top stops on ^Z, continues and restores the terminal" terminal.py ^Z

# ---- no terminal ----
: >lines
gtu top --interval 0.05 >>lines 2>lines.err &
pid=$!
wait_until $pid eval '[ "$(grep -c ^gtu0 lines)" -ge 3 ]'
kill $pid 2>/dev/null
wait $pid
code=$?
holds "gtu top ends on SIGTERM with 130 without a terminal" test $code -eq 130
at_least 3 "$(grep -c '^gtu0' lines)" "pictures one after the other without a terminal"
lacks "gtu top prints no control character without a terminal" $'\033|\001' lines
mv tree/sys/class/gtu/gtu0 gone
mkdir tree/sys/class/gtu/gtu0
mv gone/* tree/sys/class/gtu/gtu0/
: >lines
gtu top --interval 0.05 >>lines 2>&1 &
pid=$!
wait_until $pid grep -q '^gtu0' lines
mv tree/sys/class/gtu/gtu0 gone/
wait_until $pid grep -q '^no device' lines
mv gone/gtu0 tree/sys/class/gtu/
n=$(grep -c '^gtu0' lines)
wait_until $pid eval '[ "$(grep -c ^gtu0 lines)" -gt "$n" ]'
{ kill $pid; wait $pid; } 2>/dev/null
holds "gtu top says that the removed device is missing" grep -q '^no device' lines
holds "gtu top prints the device again when it comes back" test "$(grep -c '^gtu0' lines)" -gt "$n"
finish
