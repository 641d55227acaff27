#!/usr/bin/env bash
. "$(dirname "$0")/steps.sh"
steps sid
