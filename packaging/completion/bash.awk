# SPDX-License-Identifier: MIT
# Converts the table of make-completion to a completion for bash.
$1 == "word" { words[$2] = $3 }
$1 == "value" { valued[$2 ":" $3] = 1; cases = cases "\t" $2 ":" $3 ") echo " quote($4) " ;;\n" }
$1 == "option" {
	key = $2 ":" $3
	if (!($2 in options))
		verb[++verbs] = $2
	options[$2] = options[$2] " " $3
	# other values than files have no completion
	if ($4 != "" && !(key in valued))
		takes = takes "\t" $2 ":" $3 ") echo " ($3 == "--graph" || $4 ~ /FILE|PATH|DIR/ ? "@files" : "@none") " ;;\n"
}

function quote(s)
{
	return "'" s "'"
}

END {
	print "# SPDX-License-Identifier: MIT"
	print "# Completion of gtu for bash; made from what gtu says of itself."
	print "_gtu_options()\n{\n\tcase $1 in"
	for (i = 1; i <= verbs; i++)
		print "\t" verb[i] ") echo " quote(substr(options[verb[i]], 2)) " ;;"
	print "\tesac\n}\n"
	print "# the values of an option, @files, @none, or nothing where it takes none"
	print "_gtu_values()\n{\n\tcase $1:$2 in"
	printf "%s%s", cases, takes
	print "\tesac\n}\n"
	print "_gtu_words()\n{\n\tcase $1 in"
	for (i = 1; i <= verbs; i++)
		if (verb[i] in words)
			print "\t" verb[i] ") echo " quote(words[verb[i]]) " ;;"
	print "\tesac\n}\n"
	print "_gtu()\n{"
	print "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} values i first=1"
	print "\n\tCOMPREPLY=()"
	print "\tif [ \"$COMP_CWORD\" -eq 1 ]; then"
	printf "\t\tmapfile -t COMPREPLY < <(compgen -W '"
	for (i = 1; i <= verbs; i++)
		printf "%s ", verb[i]
	print "--help --version' -- \"$cur\")\n\t\treturn\n\tfi"
	print "\tvalues=$(_gtu_values \"$verb\" \"$prev\")"
	print "\tcase $values in"
	print "\t@files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); return ;;"
	print "\t@none) return ;;"
	print "\t?*) mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$cur\"); return ;;"
	print "\tesac"
	print "\tif [[ $cur == -* ]]; then"
	print "\t\tmapfile -t COMPREPLY < <(compgen -W \"$(_gtu_options \"$verb\")\" -- \"$cur\")\n\t\treturn\n\tfi"
	print "\tfor ((i = 2; i < COMP_CWORD; i++)); do"
	print "\t\t[[ ${COMP_WORDS[i]} == -* ]] || [ -n \"$(_gtu_values \"$verb\" \"${COMP_WORDS[i-1]}\")\" ] || first="
	print "\tdone"
	print "\tvalues=$(_gtu_words \"$verb\")"
	print "\tif [ -n \"$first\" ] && [ -n \"$values\" ]; then"
	print "\t\tmapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$cur\")\n\t\treturn\n\tfi"
	print "\tcompopt -o filenames\n\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n}"
	print "complete -F _gtu gtu"
}
