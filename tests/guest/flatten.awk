# SPDX-License-Identifier: MIT
#
# What init in a guest prints -> one flat TAP stream. The lines of a test that prints (K)TAP of its own are
# renumbered under its name; one that does not is a single test. Exit status 1 when something failed.

function line(ok, text) {
	n++
	if (!ok)
		failed++
	print (ok ? "ok " : "not ok ") n " - " text
	fflush()
}

/^@up / { print "# kernel and init: " $2 " s"; fflush(); next }

/^@boot / {
	line($2 == 0, "boot" ($2 ? ": complaints in the kernel's log: " $2 : ""))
	next
}

/^@test / { name = $2; inner = bad = planned = 0; next }

/^@exit / {
	rc = $2; splats = $4
	if (rc == 124 || rc == 137 || rc == 143)
		line(0, name ": stopped after its time limit")
	else if (rc == 4 && !inner)
		line(1, name " # SKIP")
	else if (!inner)
		line(rc == 0, name (rc ? ": exit status " rc : ""))
	else if (rc && !bad && rc != 4)
		line(0, name ": exit status " rc)
	else if (planned && planned != inner)
		line(0, name ": planned " planned " tests, reported " inner)
	if (splats)
		line(0, name ": complaints in the kernel's log: " splats)
	print "# " name ": " $3 " s"
	fflush()
	name = ""
	next
}

/^@end/ { ended = 1; next }

# a test's own results; nested ones (indented, or behind "# ") are only shown
name != "" && /^(not )?ok / {
	inner++
	good = $1 == "ok"
	if (!good && !/# *(TODO|SKIP|XFAIL)/)
		bad++
	text = $0
	sub(/^(not )?ok *[0-9]* *(- )?/, "", text)
	line(good, name ": " text)
	next
}
name != "" && /^1\.\.[0-9]+/ {
	planned = substr($1, 4) + 0
	if (/# *SKIP/) {
		inner = planned = 1
		sub(/.*# *SKIP */, "")
		line(1, name " # SKIP " $0)
	}
	next
}
/^(TAP|KTAP) version/ { next }
{ print /^#/ ? $0 : "# " $0; fflush() }

END {
	if (!ended)
		line(0, "the guest ended" (name != "" ? " in " name : "") " before its tests did")
	print "1.." n
	exit failed != 0
}
