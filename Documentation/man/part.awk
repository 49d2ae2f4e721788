# SPDX-License-Identifier: MIT
# gtu(7), which is written by hand.
BEGIN { put_header("gtu", 7, date) }
{ put_part($0) }
