#!/bin/sh
# Compiles the client with its tests into a folder, and runs them there: sh test/run.sh FOLDER
set -eu
cd "$(dirname "$0")/.."
javac -Xlint:all -Werror --release 17 --source-path src/main/java:test -d "$1" test/dev/latchkey/Tests.java example/Example.java
exec java -Djava.io.tmpdir="$1" -cp "$1" dev.latchkey.Tests
