# SPDX-License-Identifier: MIT
# gtu bench ioctl in process: what there is of it, what is said of the rest, and what is refused. A bench is not timed.
. "${0%/*}/tap.bash"

check "in process" gtu bench ioctl --seconds 0.5 --json b.json
says "jobs through the library" "^trip_library +[0-9]+ ns" "$out"
says "what needs a driver says so" "^submit_ioctl +unsupported: model has no driver" "$out"
says "nothing to pin" "^ +hugetlb +unsupported: model reaches all memory" "$out"
if command -v python3 >/dev/null; then
	cat >look.py <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
s = {x["name"]: x for x in d["series"]}
assert len(s) == 13, len(s)
t = s["trip_library"]
assert t["samples"] >= 20 and t["p50_ns"] <= t["p90_ns"] <= t["p99_ns"] <= t["p99_9_ns"] <= t["max_ns"]
assert sum(h["count"] for h in t["histogram"]) == t["samples"]
assert t["histogram"][0]["from_ns"] <= t["p50_ns"] and t["histogram"][-1]["from_ns"] <= t["max_ns"] < 2 * t["histogram"][-1]["from_ns"]
assert s["syscall"]["system_calls"] == 1 and t["system_calls"] == 0
assert "lacking" in s["trip_wait"] and "samples" not in s["trip_wait"]
assert d["doorbell_32_share_of_ioctl"] is None
r = d["rates"]
assert [x["batch"] for x in r[:9]] == [1 << i for i in range(9)] and [x["depth"] for x in r[9:]] == [1 << i for i in range(9)]
assert all(x["jobs_per_second"] > 0 for x in r)
assert [p["pages"] for p in d["pins"]] == ["4 KiB", "transparent huge", "hugetlb"]
END
	check "its JSON" python3 look.py b.json
fi
check "to standard output" gtu bench ioctl --seconds 0.2 --json -
says "is JSON alone" "^\{$" "$out"
exits 1 "no such device" gtu bench ioctl --device /dev/gtu77
says "says why" "^gtu: there is no /dev/gtu77"
exits 2 "an option of units" gtu bench ioctl --only scu
exits 2 "its own option, for units" gtu bench units --pin 4M
exits 2 "too little to pin" gtu bench ioctl --pin 1
exits 2 "no subject" gtu bench
says "names them" "gtu bench ioctl"
finish
