#!/bin/sh
# Runs latchkey with the settings of the service, under its account.
set -eu

account=latchkey
if [ "$(id -un)" = root ]; then
  exec runuser -u "$account" -- "$0" "$@"
fi
if [ "$(id -un)" != "$account" ]; then
  case ${1:-} in
    '' | -h | --help | -V | --version) ;;
    *)
      echo 'latchkey: root is required, to use the account and the settings of the service: run this with sudo.' >&2
      exit 77
      ;;
  esac
fi
# The account may not enter the directory of the caller. In /, which it cannot write to, a relative path fails.
[ -x . ] || cd /
exec /usr/lib/latchkey/bin/latchkey "$@"
