# SPDX-License-Identifier: MIT
# Tests gtu report and --plot: the drawings show the files' values, and are well-formed for any contents.
. "${0%/*}/tap.bash"

fake=$root/build/tests/fake/libcuda-cpu.so.1
cat >look.py <<'END'
"""look.py PAGE: the page is well-formed, loads nothing, runs nothing; its drawings are XML."""
import re, sys, xml.dom.minidom
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "img", "hr", "input"}

class Page(HTMLParser):
    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.wrong = [], set(), []
        self.page_ids = set(re.findall(r"\bid=[\"']([^\"']*)", page))
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        if tag in ("script", "iframe", "object", "embed", "link", "img", "base", "form", "foreignobject", "image", "use"):
            self.wrong.append("<%s>" % tag)
        for name, value in attributes:
            if name.startswith("on"):
                self.wrong.append("attribute " + name)
            if name in ("href", "src", "xlink:href", "srcset", "action") and not value.startswith("#"):
                self.wrong.append("%s=%s" % (name, value))
            if name == "href" and value[1:] not in self.page_ids:
                self.wrong.append("no place " + value)
            if name == "id":
                if value in self.ids:
                    self.wrong.append("id %s twice" % value)
                self.ids.add(value)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append("</%s> closes another" % tag)

def judge(name):
    """The errors of a page, as a list."""
    page = open(name, encoding="utf-8").read()
    p = Page(page)
    wrong = p.wrong
    if p.open:
        wrong.append("left open: %s" % p.open)
    for svg in re.findall(r"<svg.*?</svg>", page, re.S):
        try:
            xml.dom.minidom.parseString(svg.encode())
        except Exception as e:
            wrong.append("a drawing: %s" % e)
    text = page.replace("http://www.w3.org/2000/svg", "")
    if "://" in text or "@import" in text or re.search(r"url\((?!#)", text):
        wrong.append("an address")
    if re.search(r"\b(nan|inf)\b", "".join(re.findall(r"(?:\b[xywdr]|cx|cy|width|height|points)='([^']*)'", page))):
        wrong.append("a place that is no number")
    return wrong

if __name__ == "__main__":
    wrong = judge(sys.argv[1])
    for w in wrong[:10]:
        print(w, file=sys.stderr)
    sys.exit(bool(wrong))
END

check "gtu generate makes a graph" gtu generate kronecker --scale 9 --seed 1 k.gtu
for unit in none scu iru peg weaver; do
	verified "bfs by $unit writes JSON" gtu run bfs k.gtu --unit $unit --monitor --verify --json bfs-$unit.json
done
check "pr by the IRU writes JSON" gtu run pr k.gtu --unit iru --json pr.json
check "gtu stat writes JSON" gtu stat k.gtu --json stat.json
check "gtu bench units writes JSON" gtu bench units --only data --seconds 0.05 --max-set 1M --json units.json
check "gtu bench ioctl writes JSON" gtu bench ioctl --seconds 0.2 --pin 2M --json ioctl.json
check "gtu bench lab writes JSON" gtu bench lab --scale 8 --json benchlab.json
check "gtu lab run emogi writes JSON" gtu lab run emogi --figure 5 --scale 8 --json lab.json
mkdir -p counts/graphs
cat >steps.py <<'END'
import json, sys
for name in sys.argv[1:]:
    d = json.load(open(name))
    s = d["steps"]
    z = d["counters"].get("zcm", {})
    assert sum(x["iterations"] for x in s) == d["iterations"], name
    assert sum(x["edges"] for x in s) == d["edges_traversed"], name
    assert sum(x["jobs"] for x in s) == d["jobs"] and sum(x["job_cycles"] for x in s) == d["job_cycles"], name
    assert 0 < sum(x["seconds"] for x in s) <= d["seconds"]["total"] * 1.0001, name
    if "bytes_read" in s[0]:
        assert sum(x["bytes_read"] for x in s) == z["host_read_bytes"] > 0, name
        assert sum(x["bytes_written"] for x in s) == z["host_write_bytes"], name
    if d["algorithm"] == "bfs":
        assert s[0]["frontier"] == s[0]["iterations"] and sum(x["frontier"] for x in s) == d["result"]["reached"], name
END
python "the steps of a run add up to its sums" steps.py bfs-{none,scu,iru,peg,weaver}.json pr.json
holds "the steps of a monitored run have its bytes" grep -q bytes_read bfs-scu.json
{ echo '%%MatrixMarket matrix coordinate pattern symmetric'; echo '5001 5001 5000'; seq 5000 | awk '{ print $1 + 1, $1 }'; } >long.mtx
check "bfs over 5001 levels writes JSON" gtu run bfs long.mtx --source 1 --unit none --json long.json
python "the steps of 5001 levels add up to their sums" steps.py long.json
json "5001 levels are merged into 1024 to 2048 steps" long.json '1024 <= len(d["steps"]) <= 2048 and d["steps"][0]["iterations"] == 4'

check "gtu lab run iru writes JSON" gtu lab run iru --scale 8 --json iru.json
check "gtu report makes a page of two papers" gtu report lab.json iru.json -o papers.html
python "the page of two papers is well-formed, loads nothing and runs nothing" look.py papers.html
cat >scores.py <<'END'
"""The page counts the rows met of each paper and of all."""
import json, re
page = open("papers.html", encoding="utf-8").read()
table = page[page.index('<h2 id="scores">'):]
table = table[:table.index("</table>")]
rows = [[re.sub("<[^>]*>", "", c) for c in re.findall(r"<td.*?</td>", r)] for r in re.findall(r"<tr>(.*?)</tr>", table, re.S)]
scores = [json.load(open(f))["score"] for f in ("lab.json", "iru.json")]
scores.append({k: scores[0][k] + scores[1][k] for k in scores[0]})
assert [r[0] for r in rows if r] == ["emogi", "iru", "all"], rows
for row, score in zip([r for r in rows if r], scores):
    assert [int(row[k]) for k in (1, 2, 4)] == [score[k] for k in ("judged", "met", "null_met")], (row, score)
END
python "the page of two papers counts the rows that are met" scores.py

# ---- the page ----
check "gtu report makes a page of 12 files" gtu report bfs-{none,scu,iru,peg,weaver}.json pr.json stat.json units.json ioctl.json benchlab.json lab.json \
	long.json -o page.html
says "gtu report prints the page and the number of files" "^page.html: 12 files$" "$out"
python "the page of 12 files is well-formed, loads nothing and runs nothing" look.py page.html
for text in "Frontier over levels" "Bandwidth over levels" "Requests by size" "Round trips by length" "Runs beside each other" \
	"Degrees of kronecker" "Bytes read and written per second" "Time of each path to the device" "Jobs per second" \
	"Simulation speed on one core" "Figure 5: share of 32-byte requests" "url\(#p0\)" "means of neighbouring levels" \
	"prefers-color-scheme:dark"; do
	says "the page of 12 files has '$text'" "$text" page.html
done
cat >order.py <<'END'
"""A run begins with its figures; charts come before tables; runs are compared by what does not depend on the computer."""
import json, re
page = open("page.html", encoding="utf-8").read()
runs = page[page.index('<h2 id="runs">'):page.index('<h2 id="f1">')]
assert re.findall(r"aria-label='([^']*)'", runs) == ["Logical cycles", "Requests", "Bytes", "Edges per host second"], runs[:200]
chart = runs[runs.index("Logical cycles</text>"):]
assert len(re.findall(r"height='13.0'", chart[:chart.index("</svg>")])) == 5		# scu, iru, peg, weaver, pr by the IRU
section = page[page.index('<h2 id="f2">'):page.index('<h2 id="f3">')]
figures = dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", section))
run = json.load(open("bfs-scu.json"))
zcm = run["counters"]["zcm"]
want = {"logical cycles": run["job_cycles"], "edges traversed": run["edges_traversed"],
        "requests": sum(zcm["host_%s_%u" % (d, s)] for d in ("read", "write") for s in (32, 64, 96, 128)),
        "bytes of host memory": zcm["host_read_bytes"] + zcm["host_write_bytes"]}
assert figures == {k: "{:,}".format(v) for k, v in want.items()}, figures
assert section.index("<dt>") < section.index("<svg") and section.rindex("<svg") < section.index("<table"), "tables before charts"
assert "host seconds in phase expand" in section
END
python "the page has figures first, then charts, then tables" order.py
cat >same.py <<'END'
"""The drawings show the values in the files."""
import json, re
page = open("page.html", encoding="utf-8").read()
flat = re.sub(r"<[^>]*>", " ", page)
def has(text):
    assert text in flat, text
run = json.load(open("bfs-scu.json"))
has("{:,}".format(run["edges_traversed"]))
has("{:,}".format(run["counters"]["zcm"]["host_read_32"]))
# one point per level, with its frontier
section = page[page.index('<h2 id="f2">'):page.index('<h2 id="f3">')]
chart = section[section.index("Frontier over levels</text>"):]
points = re.findall(r"<title>(\S+), (\S+)</title>", chart[:chart.index("</svg>")])
n = len(run["steps"])
assert len(points) == 2 * n, (len(points), n)
assert [float(x) for x, _ in points[:n]] == [s["first"] for s in run["steps"]]
def read(t):
    return float(t[:-1]) * 1000 ** (" kMG".index(t[-1])) if t[-1] in "kMG" else float(t)
for (_, y), s in zip(points, run["steps"]):
    assert abs(read(y) - s["frontier"]) <= 0.005 * s["frontier"], (y, s)
# every row of the laboratory has both numbers
lab = json.load(open("lab.json"))
section = page[page.index('<h2 id="f11">'):page.index('<h2 id="f12">')]
rows = re.findall(r"<tr>(.*?)</tr>", section[section.index("All rows"):], re.S)
rows = [[re.sub("<[^>]*>", "", c) for c in re.findall(r"<td.*?</td>", r)] for r in rows]
rows = [r for r in rows if r]
assert len(rows) == len(lab["rows"])
judged = 0
for got, want in zip(rows, lab["rows"]):
    assert got[0] == str(want["figure"]) and got[2] == want["graph"], got
    assert got[8] == (want["verdict"] or "") and got[7] == want["rule"], (got, want)
    judged += bool(want["verdict"])
    for text, value in ((got[3], want["paper"]), (got[4], want["ours"]), (got[5], want["null"])):
        assert (value is None) == (text == ""), got
        assert value is None or abs(float(text.replace(",", "")) - value) <= 1e-3 * abs(value), (got, want)
assert judged, "nothing was judged"
# the longest bar of the requests is the largest count
section = page[page.index('<h2 id="f2">'):page.index('<h2 id="f3">')]
chart = section[section.index("Requests by size</text>"):]
bars = re.findall(r"<rect x='\S+' y='\S+' width='([0-9.]+)' height='13.0' fill='(#\w+)'/><text[^>]*>([^<]*)<", chart[:chart.index("</svg>")])
z = run["counters"]["zcm"]
want = [z["host_%s_%u" % (d, s)] for s in (32, 64, 96, 128) for d in ("read", "write")]
assert len(bars) == 8
for (width, _, text), value in zip(bars, want):
    assert abs(read(text) - value) <= 0.006 * value, (text, value)
    assert abs(float(width) / max(float(b[0]) for b in bars) - value / max(want)) < 0.01, (width, value)
END
python "the drawings of the page have the numbers of the files" same.py
check "gtu report reads standard input and writes standard output" bash -c 'gtu report - -o - <pr.json >one.html'
python "the page on standard output is well-formed" look.py one.html
holds "the page on standard output is of its run" grep -q "<title>pr by iru over k.gtu</title>" one.html
check "gtu report --quiet runs" gtu report pr.json --quiet
empty "gtu report --quiet prints nothing" "$out"
holds "gtu report writes report.html without -o" test -s report.html

# ---- names with markup characters ----
hostile='<img src=x onerror=alert(1)>&"'\''`.gtu'
cp k.gtu "$hostile"
check "gtu run writes JSON of a graph whose name is markup" gtu run bfs "$hostile" --unit scu --json "$hostile.json"
sed 's|"kernel": "[^"]*"|"kernel": "</svg><script>alert(2)</script>"|' benchlab.json >evil1.json
sed 's|"what": "[^:"]*:|"what": "</text><script>alert(3)</script>\\u0000\\ud800 \\u00e9:|; s|"graph": "mean"|"graph": "<b onclick=x>\\uffff"|' lab.json >evil2.json
sed 's|"graph": "[^"]*"|"graph": "]]></title></svg><script>alert(4)//"|' stat.json >evil3.json
sed "s|\"device\": \"model\"|\"device\": \"x' onload='alert(5)\"|" ioctl.json >evil4.json
sed "s|\"name\": \"syscall\"|\"name\": \"\\\\u2028<script>'\"|" ioctl.json >evil5.json
for name in 1:'<script>alert\(2\)' 2:'<script>alert\(3\)' 2:'<b onclick=x>' 3:'<script>alert\(4\)' 4:'alert\(5\)' 5:'u2028<script>'; do
	says "evil${name%%:*}.json has '${name#*:}'" "${name#*:}" "evil${name%%:*}.json"
done
check "gtu report makes a page of names that are markup" gtu report "$hostile.json" evil[1-5].json -o evil.html
python "the page of names that are markup is well-formed and runs nothing" look.py evil.html
says "the page shows the name that is markup as text" "&lt;img src=x onerror=alert\(1\)&gt;&amp;&quot;&#39;\`.gtu" evil.html
lacks "the page of names that are markup has no script" "<[sS][cC][rR][iI][pP][tT]" evil.html

# ---- invalid files ----
fails_with 3 "gtu report refuses a missing file" "nowhere.json: No such file" gtu report nowhere.json
exits 3 "gtu report refuses a folder" gtu report .
fails_with 3 "gtu report refuses an empty file" "/dev/null:1:1: it ends where a value should be" gtu report /dev/null -o x.html
holds "gtu report leaves no page of an empty file" test ! -e x.html
gtu doctor --device model --json doctor.json >/dev/null
fails_with 3 "gtu report refuses the JSON of gtu doctor" "doctor.json is JSON, but not of gtu run, .*: it is an object with '" gtu report doctor.json -o x.html
echo '[1, 2]' >array.json
fails_with 3 "gtu report refuses an array" "it is an array of 2$" gtu report pr.json array.json -o x.html
echo '{}' >none.json
exits 3 "gtu report refuses an empty object" gtu report none.json -o x.html
echo '{"experiment": "iru", "machine": "gtx980", "rows": []}' >norows.json
fails_with 3 "gtu report refuses an experiment without a row" "norows.json of gtu lab run has no rows" gtu report norows.json -o x.html
printf '{"\033[31m\\u001b": 1}' >control.json
exits 3 "gtu report refuses a key with control characters" gtu report control.json -o x.html
lacks "gtu report prints no control character of a key" $'\033'
damage() {
	printf '%b' "$2" >damaged.json
	fails_with 3 "gtu report refuses JSON with $1" "damaged.json:$3" gtu report damaged.json -o x.html
}
damage "two documents" '{}\n {}' "2:2: '\{' where the end should be"
damage "a comma too many" '{"a": [1, 2,]}' "1:13: '\]' where a value should be"
damage "a missing comma" '{"a": 1\n"b": 2}' "2:1: '\"' where ',' or '}' should be"
damage "a number with a leading zero" '{"a": 01}' "1:8: '1' where ',' or '}' should be"
damage "a number that exceeds a double" '{"a": 1e999}' "1:12: 1e999 is more than a double holds"
damage "an unknown word" '{"a": nul}' "1:7: 'n' where a value should be"
damage "an unknown escape" '{"a": "\\x"}' "1:9: 'x' where one of"
damage "an unfinished string" '{"a": "bc' "1:10: a string without end"
damage "a byte that is no UTF-8" '{"a": "\xff"}' "1:8: the byte 0xff, which is no UTF-8"
damage "a newline in a string" '{"a": "\n"}' "1:8: the byte 0x0a where a character"
printf '[%.0s' {1..100} >deep.json
fails_with 3 "gtu report refuses 100 levels of arrays" "deep.json:1:65: more than 64 levels" gtu report deep.json
cat >hurt.py <<'END'
"""Files cut short and with bytes changed: a page or a sentence, never a fall; what is a page is well-formed."""
import os, random, re, subprocess, sys
sys.path.insert(0, os.getcwd())
import look
random.seed(7)
files = [open(n, "rb").read() for n in ("bfs-scu.json", "lab.json", "units.json", "ioctl.json", "stat.json", "benchlab.json")]
tokens = [b"null", b"-1", b"1e308", b"[]", b"{}", b'"x"', b"true", b"0", b"1e-320", b'"\\u0000"']
pages = 0
for turn in range(int(sys.argv[1])):
    d = bytearray(random.choice(files))
    how = turn % 3
    if how == 0:
        d = d[:random.randrange(len(d))]
    elif how == 1:
        for _ in range(random.randrange(1, 4)):
            d[random.randrange(len(d))] = random.randrange(256)
    else:	# still JSON: a value becomes another
        spots = [m for m in re.finditer(rb': ("[^"\n]*"|[-0-9.e+]+|true|false|null)', bytes(d))]
        for m in sorted(random.sample(spots, min(5, len(spots))), key=lambda m: -m.start()):
            d[m.start() + 2:m.end()] = random.choice(tokens)
    open("hurt.json", "wb").write(d)
    r = subprocess.run(["gtu", "report", "hurt.json", "-o", "hurt.html"], capture_output=True)
    if r.returncode not in (0, 3) or (r.returncode and r.stderr.count(b"\n") != 1):
        print(turn, how, r.returncode, r.stderr[:2000])
        sys.exit(1)
    if not r.returncode:
        pages += 1
        wrong = look.judge("hurt.html")
        assert not wrong, (turn, how, wrong[:10])
assert pages > int(sys.argv[1]) // 10, pages
END
python "gtu report makes a sound page or prints one sentence for 60 damaged files" hurt.py 60
exits 2 "gtu report refuses to run without a file" gtu report
exits 2 "gtu report refuses a page over its own input" gtu report pr.json -o ./pr.json
python "the input of the refused page is unchanged" steps.py pr.json
exits 2 "gtu report refuses standard input twice" gtu report - -
exits 1 "gtu report fails where the page cannot be written" gtu report pr.json -o /nonexistent/page.html
given "there is no /dev/full" test -c /dev/full
exits 1 "gtu report fails on a full disk" bash -c 'gtu report pr.json -o - >/dev/full'
always

# ---- drawings ----
check "gtu stat --plot runs" gtu stat k.gtu --plot degrees.svg
drawings "gtu stat --plot draws XML" degrees.svg
cat >degrees.py <<'END'
import re, json
svg = open("degrees.svg").read()
points = re.findall(r"<title>(\S+), (\S+)</title>", svg)
d = json.load(open("stat.json"))
h = d["degree_histogram"]
def read(t):
    return float(t[:-1]) * 1000 ** (" kMG".index(t[-1])) if t[-1] in "kMG" else float(t)
of = {read(x): read(y) for x, y in points}
# each degree up to 31 has a point
assert of[1.0] == h[1], (of, h)
for k in range(2, 6):
    got = sum(of.get(float(x), 0) for x in range(2 ** (k - 1), 2 ** k))
    assert abs(got - h[k]) <= 0.01 * h[k], (k, got, h[k])
END
python "gtu stat --plot draws the degrees of the graph" degrees.py
exits 2 "gtu stat refuses --plot over the graph" gtu stat k.gtu --plot k.gtu
exits 2 "gtu stat refuses one file for --json and --plot" gtu stat k.gtu --json x --plot ./x
printf '%%%%MatrixMarket matrix coordinate pattern general\n3 3 0\n' >empty.mtx
check "gtu stat --plot - runs on a graph without edges" bash -c 'gtu stat empty.mtx --plot - >empty.svg'
drawings "gtu stat --plot draws an empty drawing for a graph without edges" empty.svg
check "gtu bench units --plot runs" gtu bench units --only data --seconds 0.05 --max-set 1M --plot units.svg
check "gtu bench ioctl --plot - runs" bash -c 'gtu bench ioctl --seconds 0.2 --pin 2M --plot - >ioctl.svg'
drawings "the drawings of gtu bench are XML" units.svg ioctl.svg
says "the drawing of gtu bench units has the bars of the unit" "memcpy of the same size" units.svg
exits 2 "gtu bench lab refuses --plot" gtu bench lab --plot x.svg
exits 2 "gtu bench units refuses --json and --plot on standard output" gtu bench units --plot - --json -
given "there is no $fake: make unit-tests builds it" test -e "$fake"
needs_kernels
export GTU_CUDA_LIBRARY=$fake ASAN_OPTIONS=detect_leaks=0
check "gtu bench gpu --plot runs" gtu bench gpu --graph kronecker:8 --link 2M --sources 1 --sssp-sources 1 --iterations 2 --json gpu.json --plot gpu.svg
json "the benchmark has a cold time that contains the preparation" gpu.json \
	'len(d["results"]) >= 6' 'all(r["seconds_cold"] >= sum(r["preparation"].values()) > 0 for r in d["results"])'
json "the benchmark has Graph500's edges per second, half of the stored ones" gpu.json \
	'sum("teps" in r for r in d["results"]) >= 2' 'all(("teps" in r) == (r["algorithm"] in ("bfs", "sssp")) for r in d["results"])' \
	'all(abs(2 * r["teps"] * r["seconds"] / r["edges"] - 1) < 1e-6 for r in d["results"] if "teps" in r)'
json "the time of components contains their sampling" gpu.json \
	'any(r["algorithm"] == "cc" for r in d["results"])' 'all(r["seconds"] >= r["preparation"]["cache"] for r in d["results"] if r["algorithm"] == "cc")'
verified "bfs on the GPU reads its list in a board's aperture" \
	gtu run bfs k.gtu --device cuda:0 --edges aperture --board model --kernel aligned --verify --json aperture.json
json "the JSON says that the list is in the aperture" aperture.json 'd["placement"]["edges"] == "aperture"'
fails_with 2 "gtu run refuses --board for edges that are not in an aperture" "--board is for --edges aperture" \
	gtu run bfs k.gtu --device cuda:0 --edges pinned --board model
fails_with 1 "gtu run reports an aperture that is too small" "no contiguous range of" \
	gtu run bfs k.gtu --device cuda:0 --edges aperture --board model:aperture_bytes=4096
check "bfs on the GPU writes JSON" gtu run bfs k.gtu --device cuda:0 --edges pinned --json run-gpu.json
json "the steps of the GPU's run have the bytes of the list" run-gpu.json \
	'sum(s["list_bytes_read"] for s in d["steps"]) == d["list_bytes_read"] > 0' \
	'sum(s["frontier"] for s in d["steps"]) == d["result"]["reached"]'
check "gtu report makes a page of the benchmark and the run" gtu report gpu.json run-gpu.json -o gpu.html
python "the page of the benchmark and the run is well-formed" look.py gpu.html
says "the page has the roofline" "Roofline against the link" gpu.html
says "the roofline has the measured link" "the link at [0-9.]+ GB/s" gpu.html
says "the roofline has the run" "<title>bfs by gpu, kernel auto over k.gtu</title>" gpu.html
check "gtu report makes a page of the run alone" gtu report run-gpu.json -o alone.html
says "the page of the run alone has the run" "<title>bfs by gpu, kernel auto over k.gtu</title>|bfs by gpu" alone.html
lacks "the page of the run alone has no roofline" "Roofline against" alone.html
exits 4 "gtu bench gpu notices two ranks that a GPU has exchanged" env FAKE_CUDA_SWAP=2048 gtu bench gpu --graph kronecker:8 --only pr,auto,aligned --iterations 2
says "gtu bench gpu names the algorithm whose result differs" "pr on kronecker:8: the result of kernel [a-z]+ differs from"
unset GTU_CUDA_LIBRARY ASAN_OPTIONS
always

# ---- rendering in a browser ----
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
needs python3
given "chromium is missing (apt-get install chromium)" test -n "$browser"
# shot PAGE PNG [dark]: takes a screenshot, and writes the network requests to PNG.net
shot() {
	local scheme=1
	[ "${3-}" = dark ] && scheme=0
	timeout 120 "$browser" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --disable-background-networking \
		--disable-component-update --disable-sync --no-first-run --disable-extensions --user-data-dir="$work/profile" \
		--blink-settings=preferredColorScheme=$scheme --host-resolver-rules='MAP * ~NOTFOUND' --log-net-log="$work/$2.net" \
		--window-size=1100,4000 --screenshot="$work/$2" "file://$work/$1" >shot.out 2>&1
	[ -s "$2" ]
}
cat >png.py <<'END'
"""png.py FILE: how many colours there are, the first pixel's lightness, the share of pixels that are not as that one."""
import itertools, struct, sys, zlib
d = open(sys.argv[1], "rb").read()
at, data = 8, b""
while at < len(d):
    n, = struct.unpack(">I", d[at:at + 4])
    kind, body = d[at + 4:at + 8], d[at + 8:at + 8 + n]
    at += 12 + n
    if kind == b"IHDR":
        wide, high, depth, colour = struct.unpack(">IIBB", body[:10])
    if kind == b"IDAT":
        data += body
raw, per = zlib.decompress(data), {2: 3, 6: 4}[colour]
line = wide * per
def unfiltered(f, row, before):
    """The bytes of a line, from those of the line before; a picture has 13 million."""
    if f in (2, 4) and not any(row):
        return before
    if f == 2:
        return bytes((x + b) & 255 for x, b in zip(row, before))
    if f == 1:
        for k in range(per):
            row[k::per] = bytes(x & 255 for x in itertools.accumulate(row[k::per]))
    if f == 3:
        for i in range(line):
            row[i] = (row[i] + ((row[i - per] if i >= per else 0) + before[i] >> 1)) & 255
    if f == 4:
        for i in range(line):
            a, b, c = row[i - per] if i >= per else 0, before[i], before[i - per] if i >= per else 0
            q = a + b - c
            row[i] = (row[i] + min((abs(q - a), 0, a), (abs(q - b), 1, b), (abs(q - c), 2, c))[2]) & 255
    return bytes(row)
before, rows = bytes(line), []
for y in range(high):
    at = y * (line + 1)
    before = unfiltered(raw[at], bytearray(raw[at + 1:at + line + 1]), before)
    if y % 4 == 0:
        rows.append(before)
pixels = [r[i:i + 3] for r in rows for i in range(0, line, 4 * per)]
first = pixels[0]
print(len(set(pixels)), sum(first) // 3, round(sum(p != first for p in pixels) / len(pixels), 4))
END
given "$browser does not run here" shot page.html light.png
check "the picture of the page is a PNG" python3 png.py light.png
cp "$out" light.txt
holds "the browser's picture has colours and a light background" awk '{ exit !($1 > 30 && $2 > 240 && $3 > 0.02) }' light.txt
holds "the browser draws the page in its dark colours" shot page.html dark.png dark
check "the dark picture of the page is a PNG" python3 png.py dark.png
cp "$out" dark.txt
holds "the browser's dark picture has colours and a dark background" awk '{ exit !($1 > 30 && $2 < 40 && $3 > 0.02) }' dark.txt
# ignore the browser's own requests for updates and the time
addresses() {
	grep -oE '"url":"(https?|ftp|wss?)://[^"]*"' "$1" | grep -vE '://[a-z0-9.]*\.(google|googleapis|gvt1|gstatic)\.com/' | sort -u
}
echo '<!DOCTYPE html><title>x</title><img src="http://elsewhere.invalid/x.png">' >loads.html
holds "the browser draws a page that loads a picture" shot loads.html loads.png
[ -n "$missing" ] || addresses loads.png.net >some.list
says "the log of the network has the address of the picture" "elsewhere" some.list
[ -n "$missing" ] || addresses light.png.net >more.list
empty "the browser asks the network for nothing that the page has" more.list
always
finish
