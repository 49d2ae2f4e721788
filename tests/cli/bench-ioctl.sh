# SPDX-License-Identifier: MIT
# Tests gtu bench ioctl in this process: supported and unsupported cases, and invalid options. No time is checked.
. "${0%/*}/tap.bash"

prints "gtu bench ioctl runs on the model" "^trip_library +[0-9]+ ns" gtu bench ioctl --seconds 0.5 --json b.json
table=$work/table
cp "$out" "$table"
says "the table says that the model has no driver to submit to" "^submit_ioctl +unsupported: model has no driver" "$out"
# every ioctl of the interface is measured: by its own row, or by one that calls it
python "every ioctl of the interface is called" "$root/include/uapi/gtu/gtu.h" "$root"/tools/bench/bench_ioctl*.c "$root/tools/bench/bench_raw.c" <<'END'
import re, sys
uapi, *sources = (open(f).read() for f in sys.argv[1:])
names = re.findall(r"#define (GTU_IOCTL_\w+)\s+_IO\(", uapi)
called = "\n".join(sources)
assert len(names) >= 17, names
missing = [n for n in names if not re.search(rf"\b{n}\b", called)]
assert not missing, missing
END
says "the table says that the model pins no memory" "^ +hugetlb +unsupported: model reaches all memory" "$table"
python "the JSON has every series with ordered percentiles, every rate and every kind of page" b.json <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
s = {x["name"]: x for x in d["series"]}
assert len(s) == 30, len(s)
t = s["trip_library"]
assert t["samples"] >= 20 and t["p50_ns"] <= t["p90_ns"] <= t["p99_ns"] <= t["p99_9_ns"] <= t["max_ns"]
assert sum(h["count"] for h in t["histogram"]) == t["samples"]
assert t["histogram"][0]["from_ns"] <= t["p50_ns"] and t["histogram"][-1]["from_ns"] <= t["max_ns"] < 2 * t["histogram"][-1]["from_ns"]
assert s["syscall"]["system_calls"] == 1 and t["system_calls"] == 0
assert "unsupported" in s["trip_wait"] and "samples" not in s["trip_wait"]
assert d["doorbell_32_share_of_ioctl"] is None
assert d["iommu"] == "off"
# without a driver there is no null ioctl to compare with
assert t["null_ioctls"] is None and t["null_jobs"] is None
assert d["threads"] == [] and d["regions"] == [] and "no driver" in d["wakeups"]["unsupported"]
r = d["rates"]
assert [x["batch"] for x in r[:9]] == [1 << i for i in range(9)] and [x["depth"] for x in r[9:]] == [1 << i for i in range(9)]
assert all(x["jobs_per_second"] > 0 for x in r)
assert [p["pages"] for p in d["pins"]] == ["4 KiB", "transparent huge", "hugetlb"]
END
check "gtu bench ioctl --json - runs" gtu bench ioctl --seconds 0.2 --json -
cp "$out" only.json
python "gtu bench ioctl --json - prints JSON and nothing else" only.json <<'END'
import json, sys
assert json.load(open(sys.argv[1]))["series"]
END
fails_with 1 "gtu bench ioctl refuses a device that is missing" "^gtu: there is no /dev/gtu77" gtu bench ioctl --device /dev/gtu77
fails_with 2 "gtu bench ioctl refuses --only, which is for units" "--only" gtu bench ioctl --only scu
fails_with 2 "gtu bench units refuses --pin, which is for ioctl" "--pin" gtu bench units --pin 4M
fails_with 2 "gtu bench ioctl refuses to pin one byte" "--pin 1" gtu bench ioctl --pin 1
fails_with 2 "gtu bench refuses to run without a subject" "gtu bench ioctl" gtu bench
finish
