// SPDX-License-Identifier: BSD-2-Clause
#include "lib/base/digits.h"

const uint64_t digits_powers[20] = {
	0,
	10ull,
	100ull,
	1000ull,
	10000ull,
	100000ull,
	1000000ull,
	10000000ull,
	100000000ull,
	1000000000ull,
	10000000000ull,
	100000000000ull,
	1000000000000ull,
	10000000000000ull,
	100000000000000ull,
	1000000000000000ull,
	10000000000000000ull,
	100000000000000000ull,
	1000000000000000000ull,
	10000000000000000000ull,
};

#define HEX_16(h)                                                                                  \
	h "0" h "1" h "2" h "3" h "4" h "5" h "6" h "7" h "8" h "9" h "a" h "b" h "c" h "d" h      \
	  "e" h "f"

const char digits_hex[513] = HEX_16("0") HEX_16("1") HEX_16("2") HEX_16("3") HEX_16("4") HEX_16("5")
	HEX_16("6") HEX_16("7") HEX_16("8") HEX_16("9") HEX_16("a") HEX_16("b") HEX_16("c")
		HEX_16("d") HEX_16("e") HEX_16("f");
