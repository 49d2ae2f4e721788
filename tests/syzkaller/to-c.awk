# SPDX-License-Identifier: MIT
#
# Converts the descriptions to a C program that compiles only if the headers agree: the size of every struct, and the
# offset and size of each field. The program prints the constants of the descriptions, as syz-extract does.
#   awk -f to-c.awk dev_gtu.txt

function die(text) { print "#error \"" text "\""; exit }

# size of a type in bytes; 0 if unknown
function bytes(type,    inner, n) {
	sub(/[ \t]*\((in|out|inout)\).*$/, "", type)
	if (type ~ /^int(8|16|32|64)(\[|$)/) { sub(/^int/, "", type); return (type + 0) / 8 }
	if (type ~ /^(const|flags|len|bytesize)\[/) {
		n = split(substr(type, 1, length(type) - 1), part, /, */)
		return n > 1 ? bytes(part[n]) : 0
	}
	if (type ~ /^(ptr64\[|vma64)/) return 8
	if (type ~ /^array\[.*, [0-9]+\]$/) {
		inner = substr(type, 7, length(type) - 7)
		n = inner
		sub(/.*, /, "", n)
		sub(/, [0-9]+$/, "", inner)
		return n * bytes(inner)
	}
	if (type in resource) return bytes(resource[type])
	if (type ~ /^fd_/) return 4
	return type in size ? size[type] : 0
}

function constant(name) { if (name ~ /^(GTU|O)_[A-Z0-9_]+$/ && !(name in known)) { known[name] = 1; list[++constants] = name } }

{ line = $0; sub(/#.*/, line ~ /^#/ ? "" : "&", line) }
line ~ /^#/ || line == "" { next }
{ words = line; gsub(/\$[A-Z_]+/, "", words); n = split(words, word, /[^A-Za-z0-9_]+/); for (i = 1; i <= n; i++) constant(word[i]) }
line ~ /^resource / {
	split(line, r, /[ \[\]]/)
	resource[r[2]] = r[3] == "fd" ? "int32" : r[3]
	next
}
line ~ /^[a-z_0-9]+ \{$/ { name = $1; at = 0; next }
line ~ /^\}/ { out = out sprintf("_Static_assert(sizeof(struct %s) == %d, \"%s has %d bytes\");\n", name, at, name, at); size[name] = at; name = ""; next }
name != "" {
	field = $1
	type = line
	sub(/^[ \t]*[^ \t]+[ \t]+/, "", type)
	b = bytes(type)
	if (!b) die("no size of " name "." field ": " type)
	out = out sprintf("_Static_assert(offsetof(struct %s, %s) == %d, \"%s.%s is at %d\");\n", name, field, at, name, field, at)
	out = out sprintf("_Static_assert(sizeof(((struct %s *)0)->%s) == %d, \"%s.%s has %d bytes\");\n", name, field, b, name, field, b)
	at += b
}
END {
	print "#include <fcntl.h>\n#include <stddef.h>\n#include <stdio.h>\n#include \"uapi/gtu/gtu.h\"\n#include \"uapi/gtu/hw.h\"\n" out
	print "int main(void)\n{\n\tputs(\"# SPDX-License-Identifier: MIT\\n# Printed by the program that to-c.awk makes of the descriptions.\\narches = amd64\");"
	for (i = 1; i <= constants; i++)
		for (j = i + 1; j <= constants; j++)
			if (list[j] < list[i]) { t = list[i]; list[i] = list[j]; list[j] = t }
	for (i = 1; i <= constants; i++)
		printf "\tprintf(\"%s = %%llu\\n\", (unsigned long long)%s);\n", list[i], list[i]
	print "\treturn 0;\n}"
}
