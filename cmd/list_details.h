/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What list -v shows below an event: its fields, parameters or constants. As text, lines that begin
 * with LIST_INDENT; as JSON, members of the event's object. An event without them has none.
 */
#ifndef PB_CMD_LIST_DETAILS_H
#define PB_CMD_LIST_DETAILS_H

#include "lib/attach/usdt.h"
#include "lib/base/error.h"
#include "lib/base/json_writer.h"
#include "lib/base/strbuf.h"
#include "probe/point/point.h"
#include "work/builtin.h"

#define LIST_INDENT "       "

/* What is read once for all events. */
struct list_details;
struct error *list_details_new(struct probe_finder *finder, const char *exec, const struct log *log,
			       struct list_details **out);
void list_details_free(struct list_details *details);
DEFINE_FREEP(struct list_details, list_details_free)

/* To out where json is NULL, else to json. */
struct error *list_tracepoint(struct list_details *details, const char *name, struct strbuf *out,
			      struct json_writer *json);
struct error *list_function(struct list_details *details, const char *name, struct strbuf *out,
			    struct json_writer *json);
struct error *list_builtin(struct list_details *details, const struct builtin *builtin,
			   struct strbuf *out, struct json_writer *json);
struct error *list_usdt(const struct elf_file *file, const struct usdt_note *note,
			struct strbuf *out, struct json_writer *json);

#endif
