# SPDX-License-Identifier: MIT
# gtu(7), a hand-written page.
BEGIN { put_header("gtu", 7, date) }
{ put_part($0) }
