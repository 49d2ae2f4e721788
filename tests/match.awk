# SPDX-License-Identifier: MIT
#
# awk -f tests/match.awk WANT GOT: compares what a document prints with what a command printed, line by line. A line "..."
# matches any lines, and "..." within a line matches any text. Exit status 1 and the first difference.
{ sub(/ +$/, "") }		# editors remove trailing blanks
function pattern(s, n, part, i, out) {
	n = split(s, part, /\.\.\./)
	for (i = 1; i <= n; i++) {
		gsub(/[][\\.*+?(){}|^$]/, "\\\\&", part[i])
		out = out (i > 1 ? ".*" : "") part[i]
	}
	return "^" out "$"
}
FILENAME == ARGV[1] { want[++wants] = $0; next }
{ got[++gots] = $0 }
END {
	for (w = g = 1; w <= wants; w++) {
		if (want[w] == "...") {
			for (w++; g <= gots && !(w <= wants && got[g] ~ pattern(want[w])); g++)
				;
			if (w > wants)
				exit 0
		}
		if (g > gots || got[g] !~ pattern(want[w])) {
			print "document: " want[w]
			print "command:  " (g > gots ? "(no further line)" : got[g])
			exit 1
		}
		g++
	}
	if (g <= gots) {
		print "the document lacks: " got[g]
		exit 1
	}
}
