# SPDX-License-Identifier: MIT
# gtu(4): a hand-written part in which the lines @PARAMETERS, @IOCTLS, @ERRORS and @SYSFS are
# replaced by text from the driver, include/uapi/gtu/gtu.h and Documentation/ABI/sysfs-class-gtu.
#
#   awk -v date=... -v part=FILE -f mdoc.awk -f device.awk driver/*.c include/uapi/gtu/gtu.h ABI/sysfs-class-gtu
function clean(s)
{
	gsub(/[%@]/, "", s)
	sub(/^[ \t]+/, "", s)
	return s
}

# ---- the driver: module parameters

/^module_param\(/ {
	split($0, w, /[(, )]+/)
	kind[w[2]] = w[3]
	mode[w[2]] = w[4]
	next
}

/^MODULE_PARM_DESC\(/ {
	section = "PARAMETERS"
	name = $0
	sub(/^[^(]*\(/, "", name)
	sub(/,.*/, "", name)
	text = $0
	sub(/^[^"]*"/, "", text)
	sub(/"\);$/, "", text)
	parameter[name] = text
	put_parameter(name)
	next
}

function put_parameter(name)
{
	out(".It Va " name " Pq Vt " kind[name])
	put_text(parameter[name] ".")
	put_text(mode[name] == "0644" ? "Root may change it at any time." : "It is read when the module is loaded.")
}

# ---- the interface: ioctls from kernel-doc, errors from its table

!magic && FILENAME ~ /uapi/ && /^ \* %E[A-Z0-9]+ +[^ ]/ {
	section = "ERRORS"
	end_error()
	error_name = substr($2, 2)
	error_text = $0
	sub(/^ \* %E[A-Z0-9]+ +/, "", error_text)
	in_error = 1
	next
}
in_error && /^ \*              [^ ]/ { error_text = error_text " " clean(substr($0, 3)); next }
in_error { section = "ERRORS"; end_error(); in_error = 0 }

function end_error()
{
	if (error_name == "")
		return
	out(".It Bq Er " error_name)
	put_text(clean(error_text) ".")
	error_name = ""
}

/^#define GTU_IOCTL_MAGIC/ { magic = 1; next }
/^#define GTU_IOCTL_[A-Z_]+[ \t]+_IO\(/ {
	number[$2] = $4
	sub(/\)$/, "", number[$2])
	next
}

/^\/\*\*$/ { in_doc = 1; doc = 0; next }
in_doc && /^ \* DOC:/ { in_doc = 0; next }
in_doc && /^ \* struct / {
	section = "IOCTLS"
	type = $3
	text = $0
	sub(/^ \* struct [a-z_]+ - /, "", text)
	rest = text
	names = ""
	while (match(rest, /GTU_IOCTL_[A-Z_]+/)) {
		one = substr(rest, RSTART, RLENGTH)
		names = names (names == "" ? "" : " , ") "Dv " one
		rest = substr(rest, RSTART + RLENGTH)
	}
	what = text
	if (!sub(/^.*GTU_IOCTL_[A-Z_]+\):? ?/, "", what) || what == "")
		what = names == "" ? text : "one struct for both"
	out(".It " (names == "" ? "Fn read" : names) " : Vt struct " type)
	put_text(what ".")
	out(".Bl -tag -width Ds -compact")
	members = 1
	next
}
in_doc && members && /^ \* @/ {
	end_member()
	member = $0
	sub(/^ \* @/, "", member)
	said = member
	sub(/:.*/, "", member)
	sub(/^[^:]*: */, "", said)
	next
}
in_doc && members && /^ \*   +[^ ]/ && member != "" { said = said " " clean(substr($0, 3)); next }
in_doc && /^ \*\/?$/ {
	if (members) {
		end_member()
		out(".El")
		members = 0
		paragraph = ""
	} else if (paragraph != "")
		end_paragraph()
	if (/\/$/) {
		end_paragraph()
		in_doc = 0
	}
	next
}
in_doc { paragraph = paragraph " " clean(substr($0, 3)); next }
/^ \*\/$/ { in_doc = 0 }

function end_member()
{
	if (member == "")
		return
	out(".It Va " member)
	put_text(clean(said))
	member = ""
}

function end_paragraph()
{
	if (paragraph == "")
		return
	out(".Pp")
	put_text(paragraph)
	paragraph = ""
}

# ---- sysfs

FILENAME ~ /sysfs/ && /^(What:)?[ \t]+\/sys\// {
	section = "SYSFS"
	path = $NF
	sub(/^\/sys\/class\/gtu\/gtuN\//, "", path)
	paths = $1 == "What:" ? path : paths " , Pa " path
	next
}
FILENAME ~ /sysfs/ && /^Description:/ { out(".It Pa " escaped(paths)); in_text = 1; text = ""; next }
FILENAME ~ /sysfs/ && in_text && /^$/ { put_text(text); in_text = 0; next }
FILENAME ~ /sysfs/ && in_text { text = text " " $0; next }

END {
	section = "SYSFS"
	if (in_text)
		put_text(text)
	put_header("gtu", 4, date)
	section = ""
	while ((getline line <part) > 0) {
		if (line !~ /^@[A-Z]+$/) {
			put_part(line)
			continue
		}
		if (body[substr(line, 2)] == "") {
			print "there is no text for " line >"/dev/stderr"
			exit 1
		}
		printf "%s", body[substr(line, 2)]
	}
}
