# SPDX-License-Identifier: MIT
# Reads the hardening of the build from its binaries.
. "${0%/*}/tap.bash"
needs readelf

at_least 2 "$(find "$bin/gtu" "$bin/libgtu.so.1" | wc -l)" "binaries"
for file in gtu libgtu.so.1 $([ ! -e "$bin/libgtu-mpi.so.1" ] || echo libgtu-mpi.so.1); do
	path=$bin/$file
	readelf -dW "$path" >dynamic
	readelf -lW "$path" >segments
	readelf -sW --dyn-syms "$path" >symbols
	says "$file binds all symbols at the start" "NOW" dynamic
	says "$file makes its relocations read-only" "GNU_RELRO" segments
	says "$file has no executable stack" "GNU_STACK .* RW " segments
	says "$file has stack protectors" "__stack_chk_fail" symbols
	says "$file uses checked functions of the C library" "__(f?printf|v?snprintf|memcpy|read)_chk" symbols
done
readelf -hW "$bin/gtu" >header
says "gtu is position-independent" "DYN" header
# the linker keeps the property only if the C library's start files have it, too
printf 'int f(void) { return 1; }' >f.c
if gcc -fcf-protection -c f.c 2>/dev/null && command -v ar >/dev/null && [ -f "$bin/libgtu.a" ]; then
	ar p "$bin/libgtu.a" graph.o >graph.o
	readelf -nW graph.o >notes
	says "the library's code has control-flow protection" "IBT, SHSTK" notes
else
	skip "the library's code has control-flow protection" "gcc has none for this processor" # not everywhere
fi
finish
