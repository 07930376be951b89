#!/usr/bin/env bash
# The reference server, driven by the Python SDK, with and without the recorder in between: what the
# client sees must be the same. Leaves a recording per mode in the folder.
#
#   run.sh MCPREEL FOLDER
#
# Installs both peers into a temporary folder.
set -euo pipefail
mcpreel=$1
folder=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work/python"
"$work/python/bin/pip" install --quiet --disable-pip-version-check mcp
npm install --silent --no-audit --no-fund --prefix "$work/node" @modelcontextprotocol/server-everything
server=$work/node/node_modules/.bin/mcp-server-everything

drive() { "$work/python/bin/python" "$here/drive.py" "$@" 2>>"$work/stderr" || { cat "$work/stderr" >&2; exit 1; }; }

for mode in auto legacy; do
    drive "$mode" "$server" >"$work/without.json"
    drive "$mode" "$mcpreel" run --dir "$folder" --name "$mode" -- "$server" >"$work/with.json"
    diff "$work/without.json" "$work/with.json"
    echo "$mode: $(wc -c <"$work/with.json") bytes of results, the same"
done
