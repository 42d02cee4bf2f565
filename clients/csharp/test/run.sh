#!/bin/sh
# Compiles the client with its tests into a folder, and runs them there with Mono: sh test/run.sh FOLDER
set -eu
cd "$(dirname "$0")/.."
mcs -langversion:7 -warnaserror -r:System.Numerics -r:System.Net.Http -out:"$1/tests.exe" -recurse:'src/*.cs' test/*.cs
TMPDIR="$1" exec mono "$1/tests.exe"
