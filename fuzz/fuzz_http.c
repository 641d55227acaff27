// SPDX-License-Identifier: BSD-2-Clause
/* A request as a stranger sends it, whole and in pieces. */
#include <stdlib.h>

#include "serve/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_request request, again;
	bool named;
	enum http_state state = http_parse((const char *)data, size, &request);

	if (state == HTTP_DONE) {
		if (request.path < (const char *)data ||
		    request.path + request.path_len > (const char *)data + size ||
		    http_wants(&request, "text/plain", &named) > 1000 ||
		    http_wants(&request, "application/openmetrics-text", &named) > 1000)
			abort();
		http_host_is_local(&request, "host");
		request.host = "127.0.0.1:80";
		request.host_len = 12;
		if (!http_host_is_local(&request, NULL))
			abort();
	}
	/* a beginning of a request is none, or refused for the same reason */
	for (size_t n = 0; n < size && size < 256; n++) {
		enum http_state part = http_parse((const char *)data, n, &again);

		if (state == HTTP_MORE && part != HTTP_MORE)
			abort();
		if (part == HTTP_DONE && state != HTTP_DONE)
			abort();
	}
	return 0;
}
