# SPDX-License-Identifier: MIT
# What the generators of man pages share: text as mdoc(7) wants it. Used with -f before another program.

# A line of text or code that no macro and no escape can come out of.
function escaped(s)
{
	gsub(/\\/, "\\e", s)
	gsub(/-/, "\\-", s)
	return s ~ /^[.']/ ? "\\&" s : s
}

# Running text: lines below 80 bytes, a sentence's end at a line's end.
function put_text(s,    n, word, i, line, at)
{
	n = split(s, word, /[ \t\n]+/)
	line = ""
	for (i = 1; i <= n; i++) {
		if (word[i] == "")
			continue
		gsub(/\\/, "\\e", word[i])
		if (word[i] ~ /^-/)
			gsub(/-/, "\\-", word[i])
		# "name()" is a reference to mandoc's eye, unless something stands between
		while (at = index(word[i], "()"))
			word[i] = substr(word[i], 1, at) "\\&" substr(word[i], at + 1)
		if (line != "" && length(line) + 1 + length(word[i]) > 76) {
			out(line)
			line = ""
		}
		line = line == "" ? (word[i] ~ /^[.']/ ? "\\&" : "") word[i] : line " " word[i]
		if (word[i] ~ /[.!?][)'"]*$/) {
			out(line)
			line = ""
		}
	}
	if (line != "")
		out(line)
}

# Words behind a macro that must not be taken for macros themselves.
function plain_words(s,    n, word, i, all)
{
	n = split(s, word, " ")
	for (i = 1; i <= n; i++)
		all = all (i > 1 ? " " : "") "\\&" escaped(word[i])
	return all
}

# Lines go to the section that is being written; in none they are printed.
function out(line)
{
	if (section == "")
		print line
	else
		body[section] = body[section] line "\n"
}

function put_header(page, number, date)
{
	printf ".\\\" Generated from the program, its headers and Documentation/man: change those.\n"
	printf ".Dd %s\n.Dt %s %s\n.Os\n", date, toupper(page), number
}

# A line of a part that is written by hand: literal text is as it is typed, long lines are broken.
function put_part(line)
{
	if (line ~ /^\.\\"/)
		return
	if (line ~ /^\.Bd -literal/)
		in_literal = 1
	else if (line == ".Ed")
		in_literal = 0
	else if (in_literal)
		line = escaped(line)
	else if (line !~ /^[.']/) {
		put_text(line)
		return
	}
	print line
}
