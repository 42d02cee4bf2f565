#!/bin/sh
# Brings the Latchkey agent's package and runs its installer: root, Linux on x64 or arm64.
#
#   LATCHKEY_AGENT_URL=https://downloads.example.com/latchkey-agent-linux-x64.tar.gz \
#   LATCHKEY_DOMAIN=db-1.example.com LATCHKEY_EMAIL=ops@example.com sh install.sh
#
# LATCHKEY_AGENT_URL       where the package lies (https), with its .sha256 and its .sig beside it
# LATCHKEY_AGENT_FILE      a package that is here already, instead
# LATCHKEY_AGENT_SHA256    its SHA-256; when left out, that of the .sha256 file counts, and a download must be signed
# LATCHKEY_AGENT_SIGNER    the public key (ssh-ed25519 …) that must have signed it, instead of the one in this script
# LATCHKEY_AGENT_UNSIGNED  yes: accept a download without a signature
# In an unpacked package, none of them is needed. All other variables and arguments are those of "latchkey-agent install".
set -eu

# The public key that signs packages; npm run package:agent -- --sign KEY writes it into its copy of this script.
SIGNER=''

say() {
  printf '%s\n' "$1" >&2
}

fail() {
  say "$1"
  exit 1
}

check_machine() {
  [ "$(uname -s)" = Linux ] || fail 'The agent runs on Linux only.'
  case $(uname -m) in
    x86_64 | amd64) arch=x64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) fail "There are packages for x64 and arm64 processors; this one is $(uname -m)." ;;
  esac
  [ "$(id -u)" = 0 ] || fail 'Only root can install: run this with sudo.'
}

download() {
  if command -v curl >/dev/null 2>&1; then
    curl --fail --silent --show-error --location --proto '=https' --proto-redir '=https' \
      --retry 2 --connect-timeout 20 --max-time 900 --output "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    # It would follow to an address without TLS.
    wget --quiet --max-redirect=0 --tries=3 --timeout=20 --output-document="$2" "$1"
  else
    fail 'Neither curl nor wget is here: install one, or bring the package yourself and name it in LATCHKEY_AGENT_FILE.'
  fi
}

bring_package() {
  case $1 in
    https://*) ;;
    *) fail 'LATCHKEY_AGENT_URL must begin with https://' ;;
  esac
  say "Downloading $1"
  download "$1" "$folder/package.tar.gz" ||
    fail "The package could not be downloaded from $1: check the address (wget takes no redirection, curl does), the network and the space in $folder."
  if [ -z "${LATCHKEY_AGENT_SHA256:-}" ]; then
    download "$1.sha256" "$folder/package.sha256" ||
      fail "Its checksum could not be downloaded from $1.sha256: put it there, or name it in LATCHKEY_AGENT_SHA256."
  fi
  bring_signature "$1"
}

# A checksum beside the package proves that it arrived whole; that it is the one of its makers, only a signature does, or a
# checksum that was brought another way.
bring_signature() {
  [ -z "${LATCHKEY_AGENT_SHA256:-}" ] || return 0
  [ "${LATCHKEY_AGENT_UNSIGNED:-}" != yes ] || return 0
  [ -n "${LATCHKEY_AGENT_SIGNER:-$SIGNER}" ] ||
    fail 'No key is known that packages are signed with: name it in LATCHKEY_AGENT_SIGNER, or the SHA-256 of the package in LATCHKEY_AGENT_SHA256, or accept it unsigned with LATCHKEY_AGENT_UNSIGNED=yes.'
  download "$1.sig" "$folder/package.tar.gz.sig" ||
    fail "Its signature could not be downloaded from $1.sig: put it there, or accept the package unsigned with LATCHKEY_AGENT_UNSIGNED=yes. Nothing was installed."
}

# Verifies a signature that is there; ssh-keygen of OpenSSH 8.1 or newer does it.
check_signature() {
  [ -f "$1.sig" ] || return 0
  [ "${LATCHKEY_AGENT_UNSIGNED:-}" != yes ] || return 0
  [ -n "${LATCHKEY_AGENT_SIGNER:-$SIGNER}" ] || return 0
  command -v ssh-keygen >/dev/null 2>&1 ||
    fail 'ssh-keygen is missing, which verifies the signature of the package: install openssh-client, or name the SHA-256 of the package in LATCHKEY_AGENT_SHA256. Nothing was installed.'
  printf 'latchkey namespaces="latchkey-agent-package" %s\n' "${LATCHKEY_AGENT_SIGNER:-$SIGNER}" >"$folder/signers"
  ssh-keygen -Y verify -f "$folder/signers" -I latchkey -n latchkey-agent-package -s "$1.sig" <"$1" >&2 ||
    fail 'The package is not signed with the key that was expected. Nothing was installed.'
}

# The first word of a file as sha256sum writes it, or what LATCHKEY_AGENT_SHA256 says; nothing when neither is there.
read_expected_sum() {
  if [ -n "${LATCHKEY_AGENT_SHA256:-}" ]; then
    printf '%s' "$LATCHKEY_AGENT_SHA256" | tr 'A-F' 'a-f'
  elif [ -f "$1" ]; then
    cut -d ' ' -f 1 "$1" | head -n 1
  fi
}

check_sum() {
  expected=$(read_expected_sum "$2")
  if [ -z "$expected" ]; then
    [ -n "${LATCHKEY_AGENT_FILE:-}" ] ||
      fail "$LATCHKEY_AGENT_URL.sha256 holds no checksum: correct it, or name the package's in LATCHKEY_AGENT_SHA256. Nothing was installed."
    say "There is no $2, so the package is taken unchecked."
    return 0
  fi
  actual=$(sha256sum "$1" | cut -d ' ' -f 1)
  [ "$actual" = "$expected" ] ||
    fail "The package is not the one that was meant: its SHA-256 is $actual instead of $expected. Nothing was installed."
}

unpack() {
  mkdir "$folder/unpacked"
  tar -xzf "$1" -C "$folder/unpacked" --no-same-owner ||
    fail "The package could not be unpacked: it is damaged, or the disk of $folder is full (200 MB are needed; TMPDIR names another place)."
  for installer in "$folder"/unpacked/*/bin/latchkey-agent; do
    [ -f "$installer" ] || fail "$1 is no package of the agent."
    [ -x "$installer" ] || fail "No program can be run from $folder: name another place in TMPDIR."
    case $installer in
      */latchkey-agent-*-linux-"$arch"/bin/latchkey-agent) ;;
      *) fail "The package is for another processor than this one: bring latchkey-agent-linux-$arch.tar.gz." ;;
    esac
  done
}

main() {
  check_machine
  here=$(dirname "$0")
  if [ -z "${LATCHKEY_AGENT_URL:-}${LATCHKEY_AGENT_FILE:-}" ]; then
    [ -x "$here/bin/latchkey-agent" ] ||
      fail 'Say where the package is: LATCHKEY_AGENT_URL (https) or LATCHKEY_AGENT_FILE.'
    exec "$here/bin/latchkey-agent" install "$@"
  fi
  folder=$(mktemp -d) || fail 'There is no room for temporary files: free some, or name another place in TMPDIR.'
  trap 'rm -rf "$folder"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  if [ -n "${LATCHKEY_AGENT_FILE:-}" ]; then
    [ -f "$LATCHKEY_AGENT_FILE" ] || fail "There is no file $LATCHKEY_AGENT_FILE."
    check_sum "$LATCHKEY_AGENT_FILE" "$LATCHKEY_AGENT_FILE.sha256"
    check_signature "$LATCHKEY_AGENT_FILE"
    unpack "$LATCHKEY_AGENT_FILE"
  else
    bring_package "$LATCHKEY_AGENT_URL"
    check_sum "$folder/package.tar.gz" "$folder/package.sha256"
    check_signature "$folder/package.tar.gz"
    unpack "$folder/package.tar.gz"
  fi
  "$installer" install "$@"
}

main "$@"
