/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes protocol buffers. A message is a sequence of fields: a key (the field's number and a wire
 * type, as a varint) and a value, which is a varint (type 0), or bytes with their length before
 * them (type 2: strings, messages within messages, and lists of varints). A varint has seven bits
 * to the byte, the low ones first; all but the last byte have the top bit set.
 *
 * https://protobuf.dev/programming-guides/encoding/
 */
#ifndef PB_BASE_PROTOBUF_H
#define PB_BASE_PROTOBUF_H

#include "lib/base/strbuf.h"

void protobuf_add_varint(struct strbuf *out, uint64_t v);
/* A field; what is 0 is not written, which means the same. */
void protobuf_add_number(struct strbuf *out, unsigned field, uint64_t v);
void protobuf_add_bytes(struct strbuf *out, unsigned field, const void *data, size_t n);
void protobuf_add_text(struct strbuf *out, unsigned field, const char *text);
/* out fails if the message has failed. */
void protobuf_add_message(struct strbuf *out, unsigned field, const struct strbuf *message);

#endif
