# SPDX-License-Identifier: MIT
# Compares the fuzzer's descriptions of the driver (tests/syzkaller) with the headers: every addition to the interface, and
# every change of a number, an offset or a size, must be made there too.
# Needs no build.
. "${0%/*}/tap.bash"

text=$root/tests/syzkaller/dev_gtu.txt
header=$root/include/uapi/gtu/gtu.h

# agrees FOLDER: compares the descriptions with the headers in FOLDER
agrees() {
	awk -f "$root/tests/syzkaller/to-c.awk" "$text" >described.c &&
		gcc -std=gnu11 -Wall -Werror -I"$1" -o described described.c
}
needs gcc
check "the descriptions have the headers' structs, fields, sizes and constants" agrees "$root/include"
./described >constants
same "dev_gtu.txt.const has the headers' values" "$text.const" constants

sed -n 's/^#define \(GTU_IOCTL_[A-Z_]*\)[\t ]*_IO(.*/\1/p' "$header" | sort >calls
sed -n 's/^ioctl\$\([A-Z_]*\)(fd fd_gtu, cmd const\[\([A-Z_]*\)\].*/\1 \2/p' "$text" | awk '$1 == $2 { print $1 }' | sort >described-calls
same "every ioctl is described" calls described-calls
sed -n 's/^struct \(gtu_[a-z_]*\) {/\1/p' "$header" | sort >structs
sed -n 's/^\(gtu_[a-z_]*\) {$/\1/p' "$text" | grep -v '^gtu_hw_' | sort >described-structs
same "every struct is described" structs described-structs
# flags and other constants that are neither calls nor limits
sed -n 's/^#define \(GTU_[A-Z_]*\)\t.*(.*/\1/p' "$header" | grep -v 'GTU_IOCTL_\|GTU_SUBMIT_MAX' | sort >flags
sed -n 's/^\([A-Z_]*\) = .*/\1/p' "$text.const" | sort >described-flags
comm -23 flags described-flags >missing
at_least 7 "$(wc -l <flags)" "flags in the header"
empty "every flag is described" missing
sed -n 's/^#define \(GTU_OP_[A-Z_]*\)\t.*/\1/p' "$root/include/uapi/gtu/hw.h" | sort >opcodes
comm -23 opcodes described-flags >missing
at_least 10 "$(wc -l <opcodes)" "opcodes in the header"
empty "every opcode is described" missing

# the offset of each kind of mapping is the driver's
number() { awk -v name="$1" '$1 == "#define" && $2 == name { print $3 + 0 }' "$root/driver/gtu_drv.h"; }
shift_by=$(number GTU_MAP_KIND_SHIFT)
for kind in SQ CQ DOORBELL BUFFER APERTURE; do
	offset=$(printf '0x%x' $(($(number GTU_MAP_$kind) << shift_by)))
	holds "mappings of GTU_MAP_$kind begin at $offset" grep -q "^resource gtu_map_offset.*[ ,]$offset\\>" "$text"
done

# changes of a header are found: a moved field, an added field, a call with another number
mkdir -p changed && cp -r "$root/include/." changed/
altered() { # altered NAME SED-EXPRESSION
	cp "$root/include/uapi/gtu/gtu.h" changed/uapi/gtu/gtu.h
	sed -i "$2" changed/uapi/gtu/gtu.h
	holds "a header is changed: $1" test "$(cmp -s "$header" changed/uapi/gtu/gtu.h; echo $?)" = 1
	skipped "the check of the descriptions fails: $1" && return
	if agrees "$PWD/changed" 2>said && ./described >constants && cmp -s "$text.const" constants; then
		report "not ok" "the check of the descriptions fails: $1"
	else
		report ok "the check of the descriptions fails: $1"
	fi
}
altered "a field is added" '/^struct gtu_ioctl_queue_eventfd {/,/^}/s/__s32 fd;/__s32 fd;\n__u32 more;/'
altered "a field grows" '/^struct gtu_ioctl_submit {/,/^}/s/__u32 done;/__aligned_u64 done;/'
altered "a call has another number" '/GTU_IOCTL_SUBMIT/s/0x0C/0x1C/'
altered "a flag has another bit" '/define GTU_CANCEL_ALL/s/<< 0/<< 3/'
always
finish
