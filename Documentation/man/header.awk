# SPDX-License-Identifier: MIT
# Writes a page of section 3 from the comments and declarations of a public header, or of one of its
# sections.
#
#   awk -v page=gtu_scu -v date=... -v desc=... -v header=gtu/gtu.h -v only=SCU -f mdoc.awk -f header.awk FILE
#
# family: the names of the other pages, for the page of the whole library.
#
# A comment at the start of a line belongs to the declarations after it, up to the next comment. A
# comment before a blank line and the preprocessor belongs to the file, which is the section "".
# only=*: the whole header.
BEGIN {
	section = "DESCRIPTION"
	title = ""
}

function wanted()
{
	return only == "*" || (title == "" ? only == "" : index(title, only) == 1 && only != "")
}

function put_comment(s,    n, part, i)
{
	n = split(s, part, "\n\n")
	for (i = 1; i <= n; i++) {
		if (i > 1)
			out(".Pp")
		gsub(/@/, "", part[i])
		put_text(part[i])
	}
}

function put_code(s,    n, line, i)
{
	if (s == "")
		return
	out(".Bd -literal")
	n = split(s, line, "\n")
	for (i = 1; i < n; i++)
		out(escaped(line[i]))
	out(".Ed")
}

# Writes a comment and its declarations. Functions after a blank line are not part of the comment of
# a struct.
function flush_group()
{
	if (wanted() && (comment != "" || code != "" || functions != "")) {
		if (functions != "" && !apart)
			out(".Ss " functions)
		else if (comment != "" && body[section] != "" && body[section] !~ /\.Pp\n$/)
			out(".Pp")
		if (comment != "")
			put_comment(comment)
		put_code(code)
		if (functions != "" && apart) {
			out(".Ss " functions)
			put_code(prototypes)
		}
	}
	comment = code = functions = prototypes = ""
	blank = apart = 0
}

function take_function(prototype,    name, n, line, i)
{
	name = prototype
	sub(/\(.*/, "", name)
	sub(/.*[ *\n]/, "", name)
	if (functions == "")
		apart = blank && code != ""
	functions = functions (functions == "" ? "" : ", ") "\\&" name "()"
	if (!wanted())
		return
	names[++count] = name
	prototypes = prototypes prototype "\n"
	n = split(prototype, line, "\n")
	for (i = 1; i <= n; i++)
		synopsis = synopsis escaped(line[i]) "\n"
	if (prototype ~ /struct gtu_error \*err\)/)
		fails = 1
}

skip_body { if (/^}/) skip_body = 0; next }

in_comment {
	line = $0
	ended = sub(/ *\*\/.*/, "", line)
	sub(/^ \*[ \t]?/, "", line)
	if (!(ended && line == ""))
		comment = comment line "\n"
	in_comment = !ended
	next
}

in_struct {
	code = code $0 "\n"
	in_struct = $0 !~ /^}/
	next
}

in_define {
	code = code $0 "\n"
	in_define = /\\$/
	next
}

prototype != "" {
	prototype = prototype "\n" $0
	if (/[;{]$/)
		end_prototype()
	next
}

function end_prototype()
{
	skip_body = prototype ~ /\{$/
	sub(/[ \n]*[;{]$/, ";", prototype)
	if (sub(/^static inline /, "", prototype))
		gsub(/\n[ \t]+/, "\n        ", prototype)
	take_function(prototype)
	prototype = ""
}

/^\/\* SPDX/ { next }

/^\/\* ---- / {
	flush_group()
	title = $0
	sub(/^\/\* -+ /, "", title)
	sub(/ -+ \*\/$/, "", title)
	next
}

/^\/\*/ {
	flush_group()
	line = $0
	sub(/^\/\*+ ?/, "", line)
	if (sub(/ *\*\/$/, "", line))
		comment = line
	else {
		comment = line == "" ? "" : line "\n"
		in_comment = 1
	}
	next
}

/^#(ifndef|ifdef|endif|include|if)/ { flush_group(); next }
/^$/ { blank = 1; next }
/^extern "C"/ || /^}$/ { next }
/^#define [A-Z_]*_H$/ { next }
/^#define/ { code = code $0 "\n"; in_define = /\\$/; next }
/^(struct|enum) [a-z_0-9]+ \{$/ { code = code $0 "\n"; in_struct = 1; next }
/^(struct|enum) .*;$/ && !/\(/ { code = code $0 "\n"; next }
/^enum .*\};$/ { code = code $0 "\n"; next }
/^\{$/ { skip_body = 1; next }
/\(/ {
	prototype = $0
	if (/[;{]$/)
		end_prototype()
	next
}

END {
	flush_group()
	if (body[section] == "") {
		print "there is no text for the section '" only "' in " FILENAME >"/dev/stderr"
		exit 1
	}
	put_header(page, 3, date)
	print ".Sh NAME"
	if (!count)
		print ".Nm " page
	for (i = 1; i <= count; i++)
		print ".Nm " names[i] (i < count ? " ," : "")
	print ".Nd " desc
	print ".Sh LIBRARY\nlibgtu (\\-lgtu; pkg\\-config \\-\\-cflags \\-\\-libs gtu)"
	print ".Sh SYNOPSIS\n.In " header
	if (synopsis != "")
		printf ".Bd -literal\n%s.Ed\n", synopsis
	printf ".Sh DESCRIPTION\n%s", body[section]
	if (fails)
		print ".Sh RETURN VALUES\nFunctions that take a\n.Vt struct gtu_error *\nreturn a negative\n" \
			".Vt enum gtu_status\nwhere they fail, and put a sentence with the value and the limit into it;\nsee\n" \
			".Xr gtu_error 3 .\nUnless noted otherwise they return 0 on success."
	print ".Sh SEE ALSO"
	if (page == "libgtu")
		n = split(family, see, " ")
	else
		n = split("gtu_error libgtu", see, " ")
	for (i = 1; i <= n; i++)
		if (see[i] != page)
			print ".Xr " see[i] " 3 ,"
	print ".Xr gtu 7"
}
