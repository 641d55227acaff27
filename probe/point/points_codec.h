/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probe points as bytes: from the process that reads binaries and their debug information to the
 * one that attaches probes. Both are the same program, so numbers have the byte order of the host,
 * and there is no version. But the reader may have been taken over by what it reads: decoding
 * checks all that the types do not allow. The order of all members is that of the structs; a
 * number has 8 bytes, a text its length and 1, and its bytes; 0 is NULL.
 */
#ifndef PB_PROBE_POINT_POINTS_CODEC_H
#define PB_PROBE_POINT_POINTS_CODEC_H

#include "lib/base/cursor.h"
#include "lib/base/strbuf.h"
#include "probe/point/point.h"

void encode_number(struct strbuf *out, uint64_t number);
void encode_text(struct strbuf *out, const char *text);
/* At most max, or false. */
bool decode_number(struct cursor *c, uint64_t max, uint64_t *number);
/* The caller's; false: it does not end within the bounds, has a 0, or there is no memory. */
bool decode_text(struct cursor *c, char **text);

void encode_points(struct strbuf *out, const struct probe_points *points);
/* EBADMSG: they are not points, or bytes follow them; points is unchanged. */
struct error *decode_points(struct cursor *c, struct probe_points *points);

#endif
