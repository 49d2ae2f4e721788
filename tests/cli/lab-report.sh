# SPDX-License-Identifier: MIT
# Tests gtu lab report in its short form: it continues where it was interrupted, its page has the structure of
# Documentation/fidelity.md, and an independent judge agrees with every verdict.
. "${0%/*}/tap.bash"

papers="emogi iru scu graphpeg sparseweaver"
files() { (cd r && ls) | grep -vxE '[a-z]+(\.[a-z0-9-]+)?\.json|fidelity\.md'; }

gtu lab report r --short --commit one >/dev/null 2>&1 &
pid=$!
for ((i = 0; i < 600; i++)); do [ ! -e r/iru.json ] || break; sleep 0.1; done
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
check "gtu report draws the papers" gtu report $(for p in $papers; do echo r/$p.json; done) -o r.html
says "gtu report counts the rows met by paper" "Rows of the papers" r.html
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
        return ours >= 1.01 * null if r["direction"] == "more" else ours <= null / 1.01
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
sed 's/| null model | rule | verdict |/| rule | verdict |/' "$root/Documentation/fidelity.md" >other.md
exits 1 "a page with other columns is found" python3 page.py other.md
finish
