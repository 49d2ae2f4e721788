# SPDX-License-Identifier: MIT
# Writes a page of section 1 from the output of `gtu VERB --help` and the page's hand-written part.
#
#   awk -v page=gtu-run -v date='November 22, 2026' -v desc='...' -v part=FILE -f mdoc.awk -f help.awk HELP...
#
# --help consists of the usage, a blank line, paragraphs, and lists. A list item has a label, two or
# more blanks, and a description. A line "  gtu ..." is an example. Other indented lines are
# literal.
BEGIN {
	section = "DESCRIPTION"
	exit_text[0] = "done"
	exit_text[1] = "failed at run time"
	exit_text[2] = "usage: the command line is invalid"
	exit_text[3] = "an input file is wrong; the file, the line or byte, and the reason are on standard error"
	exit_text[4] = "a result differs from the reference"
	exit_text[130] = "interrupted"
	mode = ""
	column = 0
}

function end_block()
{
	if (mode == "text")
		put_text(text)
	else if (mode == "item")
		end_item()
	else if (mode == "literal")
		out(".Ed")
	if (mode == "item")
		in_list = 1
	mode = text = ""
}

function end_list()
{
	end_block()
	if (in_list)
		out(".El")
	in_list = 0
}

# Text that is indented more than the item's own is literal.
function end_item(    n, line, i, nested)
{
	n = split(text, line, "\n")
	text = ""
	for (i = 1; i <= n; i++) {
		if (line[i] ~ /^  /) {
			if (!nested) {
				put_text(text)
				text = ""
				out(".Bd -literal")
			}
			nested = 1
			out(escaped(line[i]))
			continue
		}
		if (nested)
			out(".Ed")
		nested = 0
		text = text " " line[i]
	}
	if (nested)
		out(".Ed")
	put_text(text)
}

function put_label(label,    n, word, i, all, comma)
{
	n = split(label, word, " ")
	all = ".It"
	for (i = 1; i <= n; i++) {
		comma = sub(/,$/, "", word[i]) ? " ," : ""
		if (word[i] ~ /^--/)
			all = all " Fl \\-" escaped(substr(word[i], 3)) comma
		else if (label ~ /^--/)
			all = all " Ar \\&" escaped(word[i]) comma
		else
			all = all " " (i == 1 ? "Cm " : "") "\\&" escaped(word[i]) comma
	}
	out(all)
}

function indent_of(line)
{
	match(line, /^ */)
	return RLENGTH
}

FNR == 1 {
	end_list()
	usage = ""
}

/^usage: / || usage == "on" {
	if ($0 == "") {
		usage = "off"
		# further files are the --help of parts of the verb
		if (name_of_usage && FNR != NR)
			out(".Ss " plain_words(name_of_usage))
		next
	}
	if (usage == "") {
		name_of_usage = ""
		usage = "on"
		split($0, w, " ")
		name_of_usage = w[2] " " w[3] " " w[4]
	}
	synopsis = synopsis escaped(substr($0, 8)) "\n"
	next
}

# an example
/^  gtu [a-z]/ {
	end_list()
	example = substr($0, 3)
	said = ""
	if (match(example, /   +/)) {
		said = substr(example, RSTART + RLENGTH)
		example = substr(example, 1, RSTART - 1)
	}
	examples = examples escaped(example) (said == "" ? "" : "\t# " escaped(said)) "\n"
	next
}

/^$/ {
	if (mode == "item" || mode == "")
		blank = 1
	else
		end_block()
	next
}

# an item: a label, two blanks, a description
/^(  )?[^ ]+( [^ ]+)*   *[^ ]/ {
	match($0, /^(  )?[^ ]+( [^ ]+)*  +/)
	at = RLENGTH
	label = substr($0, 1, at)
	rest = substr($0, at + 1)
	sub(/^ */, "", label)
	sub(/ *$/, "", label)
	# without indentation, a label of several words is a sentence with two blanks
	if (indent_of($0) || label !~ / /) {
		end_block()
		if (!in_list)
			out(".Bl -tag -width Ds")
		in_list = 1
		put_label(label)
		mode = "item"
		text = rest
		column = at
		blank = 0
		next
	}
}

# continuation of an item
mode == "item" && !blank && indent_of($0) > 2 {
	text = text "\n" (indent_of($0) > column ? substr($0, column - 1) : substr($0, indent_of($0) + 1))
	next
}

/^ / {
	if (mode != "literal") {
		end_list()
		out(".Bd -literal -offset indent")
		mode = "literal"
	}
	out(escaped(substr($0, 3)))
	next
}

{
	if (mode == "literal" || mode == "item" || in_list)
		end_list()
	if (mode == "") {
		if (body[section] != "" && body[section] !~ /(\.Pp|\.Ss [^\n]*|\.El)\n$/)
			out(".Pp")
		else if (body[section] ~ /\.El\n$/)
			out(".Pp")
		mode = "text"
		text = ""
	}
	text = text " " $0
	blank = 0
}

function put_exits(list,    n, code, i)
{
	n = split(list, code, " ")
	print ".Sh EXIT STATUS\n.Bl -tag -width Ds"
	for (i = 1; i <= n; i++) {
		print ".It " code[i]
		put_text(exit_text[code[i]] ".")
	}
	print ".El"
}

END {
	end_list()
	put_header(page, 1, date)
	printf ".Sh NAME\n.Nm %s\n.Nd %s\n", page, desc
	printf ".Sh SYNOPSIS\n.Bd -literal\n%s.Ed\n", synopsis
	printf ".Sh DESCRIPTION\n%s", body[section]
	section = ""
	print ".Pp\nWith any verb,\n.Fl \\-quiet\nshows no progress bar and no output that was not requested, and\n" \
		".Fl \\-help\nprints the text above."
	while ((getline line <part) > 0) {
		seen_part = 1
		if (line ~ /^@EXIT /)
			put_exits(substr(line, 7))
		else
			put_part(line)
		if (line == ".Sh EXAMPLES" && examples != "") {
			printf ".Bd -literal -offset indent\n%s.Ed\n", examples
			examples = ""
		}
	}
	# a verb without a hand-written part; tests/cli/man.sh reports it
	if (!seen_part)
		put_exits("0 1 2")
	if (examples != "")
		printf ".Sh EXAMPLES\n.Bd -literal -offset indent\n%s.Ed\n", examples
	if (!seen_part)
		print ".Sh SEE ALSO\n.Xr gtu 1"
}
