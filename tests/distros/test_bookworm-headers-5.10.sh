#!/usr/bin/env bash
. "$(dirname "$0")/steps.sh"
steps bookworm-headers-5.10
