# SPDX-License-Identifier: MIT
# Comments, documents and messages use the terms of the field: none of the phrases in prose.phrases occurs in the source.
# Needs no build.
. "${0%/*}/tap.bash"

phrases=$root/tests/cli/prose.phrases
given "there is no source here" test -d "$root/firmware-model"
(cd "$root" && find . \( -path ./build -o -path ./.git -o -path ./tests/fuzz/seeds -o -path ./tests/fuzz-ioctl/corpus \) -prune -o \
	-type f ! -name prose.phrases -print) | sort >files
at_least 500 "$(wc -l <files)" "source files to read"
grep -v '^#' "$phrases" >list
at_least 20 "$(wc -l <list)" "phrases to look for"
while IFS=$'\t' read -r phrase instead example; do
	echo "$example" >example
	holds "the expression for '$example' matches its example" grep -qE -- "$phrase" example
	(cd "$root" && xargs -d '\n' grep -InE -- "$phrase" <"$work/files") | cut -c1-160 >hits
	empty "no file has a phrase like '$example' (write: $instead)" hits
done <list
always
finish
