# SPDX-License-Identifier: MIT
# Converts the table of make-completion to a completion for zsh.
$1 == "word" { words[$2] = $3 }
$1 == "value" { values[$2 $3] = $4 }
$1 == "option" {
	if (!($2 in count))
		verb[++verbs] = $2
	n = ++count[$2]
	option[$2, n] = $3
	arg[$2, n] = $4
	text[$2, n] = $5
}

function plain(s)
{
	gsub(/['\[\]:\\`$]/, "", s)
	return s
}

END {
	print "#compdef gtu"
	print "# SPDX-License-Identifier: MIT"
	print "# Made from what gtu says of itself."
	print "_gtu() {\n\tif (( CURRENT == 2 )); then"
	printf "\t\tcompadd --"
	for (i = 1; i <= verbs; i++)
		printf " %s", verb[i]
	print " --help --version\n\t\treturn\n\tfi"
	print "\tshift words\n\t(( CURRENT-- ))\n\tcase $words[1] in"
	for (i = 1; i <= verbs; i++) {
		print "\t" verb[i] ")\n\t\t_arguments \\"
		for (j = 1; j <= count[verb[i]]; j++) {
			name = option[verb[i], j]
			value = arg[verb[i], j]
			action = ""
			if (value != "") {
				action = ":" plain(value) ":"
				if (verb[i] name in values) {
					gsub(/:/, "\\:", values[verb[i] name])
					action = action "(" values[verb[i] name] ")"
				} else if (name == "--graph" || value ~ /FILE|PATH|DIR/)
					action = action "_files"
				else
					action = action " "
			}
			print "\t\t\t'*" name "[" plain(text[verb[i], j]) "]" action "' \\"
		}
		if (verb[i] in words)
			print "\t\t\t'1:" verb[i] ":(" words[verb[i]] ")' \\"
		print "\t\t\t'*:file:_files' ;;"
	}
	print "\tesac\n}\n_gtu \"$@\""
}
