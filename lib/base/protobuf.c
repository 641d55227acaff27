// SPDX-License-Identifier: BSD-2-Clause
#include "lib/base/protobuf.h"

#include <string.h>

void protobuf_add_varint(struct strbuf *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		strbuf_addch(out, (char)(v | 0x80));
	strbuf_addch(out, (char)v);
}

void protobuf_add_number(struct strbuf *out, unsigned field, uint64_t v)
{
	if (!v)
		return;
	protobuf_add_varint(out, field << 3);
	protobuf_add_varint(out, v);
}

void protobuf_add_bytes(struct strbuf *out, unsigned field, const void *data, size_t n)
{
	protobuf_add_varint(out, field << 3 | 2);
	protobuf_add_varint(out, n);
	strbuf_add(out, data, n);
}

void protobuf_add_text(struct strbuf *out, unsigned field, const char *text)
{
	protobuf_add_bytes(out, field, text, strlen(text));
}

void protobuf_add_message(struct strbuf *out, unsigned field, const struct strbuf *message)
{
	out->failed |= strbuf_failed(message);
	protobuf_add_bytes(out, field, strbuf_str(message), message->len);
}
