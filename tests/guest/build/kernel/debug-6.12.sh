# SPDX-License-Identifier: MIT
#
# The debug kernel of 6.12, with KCOV and UBSAN (debug-6.12.config). For tests/guest/build/get-kernel.sh.
. "$here/build/kernel/debug.sh"
source=linux-source-6.12
suites="bookworm bookworm-updates bookworm-backports"
configs+=("$here/build/kernel/debug-6.12.config")
