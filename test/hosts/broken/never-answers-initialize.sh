#!/bin/sh
echo "still thinking" >&2
while read -r line; do :; done
