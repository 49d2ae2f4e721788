# SPDX-License-Identifier: MIT
# Functions that the generators of man pages share: text in mdoc(7) form. Used with -f before
# another program.

# Escapes a line of text or code, so that it contains no macros or escapes.
function escaped(s)
{
	gsub(/\\/, "\\e", s)
	gsub(/-/, "\\-", s)
	return s ~ /^[.']/ ? "\\&" s : s
}

# Writes running text: lines below 80 bytes, with a line break after each sentence.
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
		# mandoc takes "name()" for a reference: separate the brackets
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

# Escapes words after a macro, so that they are not taken for macros.
function plain_words(s,    n, word, i, all)
{
	n = split(s, word, " ")
	for (i = 1; i <= n; i++)
		all = all (i > 1 ? " " : "") "\\&" escaped(word[i])
	return all
}

# Appends a line to the current section, or prints it if there is none.
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

# Writes a line of a hand-written part: literal text unchanged, running text wrapped.
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
