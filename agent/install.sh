#!/bin/sh
# Downloads the Latchkey agent's package and runs its installer. Requires root and Linux on x64 or arm64.
#
#   LATCHKEY_AGENT_URL=https://downloads.example.com/latchkey-agent-linux-x64.tar.gz \
#   LATCHKEY_DOMAIN=db-1.example.com LATCHKEY_EMAIL=ops@example.com sh install.sh
#
# LATCHKEY_AGENT_URL       URL of the package (https); .sha256 and .sig are appended for its checksum and signature
# LATCHKEY_AGENT_FILE      path of a local package, instead of a URL; its signature is the file with .sig beside it
# LATCHKEY_AGENT_SHA256    its SHA-256; without it, the .sha256 file is used, and the package must be signed
# LATCHKEY_AGENT_SIGNER    the public key (ssh-ed25519 …) that verifies the signature, instead of the one in this script
# LATCHKEY_AGENT_UNSIGNED  yes: accept a package without a signature
# An unpacked package needs none of them. All other variables and arguments are passed to "latchkey-agent install".
set -eu

# The public key that signs packages; npm run package:agent -- --sign KEY writes it into its copy of this script.
SIGNER=''

print() {
  printf '%s\n' "$1" >&2
}

fail() {
  print "$1"
  exit 1
}

check_machine() {
  [ "$(uname -s)" = Linux ] || fail 'The agent runs on Linux only.'
  case $(uname -m) in
    x86_64 | amd64) arch=x64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) fail "Unsupported processor: $(uname -m). Packages exist for x64 and arm64." ;;
  esac
  [ "$(id -u)" = 0 ] || fail 'Root is required: run this with sudo.'
}

download() {
  if command -v curl >/dev/null 2>&1; then
    curl --fail --silent --show-error --location --proto '=https' --proto-redir '=https' \
      --retry 2 --connect-timeout 20 --max-time 900 --output "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    # wget would follow a redirect to http.
    wget --quiet --max-redirect=0 --tries=3 --timeout=20 --output-document="$2" "$1"
  else
    fail 'curl or wget is required: install one, or set LATCHKEY_AGENT_FILE.'
  fi
}

download_package() {
  case $1 in
    https://*) ;;
    *) fail 'LATCHKEY_AGENT_URL must start with https://.' ;;
  esac
  print "Downloading $1"
  download "$1" "$folder/package.tar.gz" ||
    fail "Could not download the package from $1: check the URL (redirects require curl), the network and the free space in $folder."
  if [ -z "${LATCHKEY_AGENT_SHA256:-}" ]; then
    download "$1.sha256" "$folder/package.sha256" ||
      fail "Could not download the checksum from $1.sha256: publish it, or set LATCHKEY_AGENT_SHA256."
  fi
  download_signature "$1"
}

# A checksum from the same server proves only that the download is complete. A signature, or a checksum from another source,
# proves who built the package.
needs_signature() {
  [ -z "${LATCHKEY_AGENT_SHA256:-}" ] && [ "${LATCHKEY_AGENT_UNSIGNED:-}" != yes ]
}

require_signer() {
  [ -n "${LATCHKEY_AGENT_SIGNER:-$SIGNER}" ] ||
    fail 'No public key to verify the package: set LATCHKEY_AGENT_SIGNER or LATCHKEY_AGENT_SHA256, or accept it unsigned with LATCHKEY_AGENT_UNSIGNED=yes. Nothing was installed.'
}

download_signature() {
  needs_signature || return 0
  require_signer
  download "$1.sig" "$folder/package.tar.gz.sig" ||
    fail "Could not download the signature from $1.sig: publish it, or accept the package unsigned with LATCHKEY_AGENT_UNSIGNED=yes. Nothing was installed."
}

# Verifies the signature, which only a package with a given checksum may lack. Requires ssh-keygen of OpenSSH 8.1 or newer.
check_signature() {
  needs_signature || return 0
  require_signer
  [ -f "$1.sig" ] ||
    fail "No signature: put $1.sig beside the package, set LATCHKEY_AGENT_SHA256, or accept it unsigned with LATCHKEY_AGENT_UNSIGNED=yes. Nothing was installed."
  command -v ssh-keygen >/dev/null 2>&1 ||
    fail 'ssh-keygen is required to verify the signature: install openssh-client, or set LATCHKEY_AGENT_SHA256. Nothing was installed.'
  printf 'latchkey namespaces="latchkey-agent-package" %s\n' "${LATCHKEY_AGENT_SIGNER:-$SIGNER}" >"$folder/signers"
  ssh-keygen -Y verify -f "$folder/signers" -I latchkey -n latchkey-agent-package -s "$1.sig" <"$1" >&2 ||
    fail 'Invalid signature: the package is not signed with the expected key. Nothing was installed.'
}

# Prints LATCHKEY_AGENT_SHA256, or else the checksum in a file of sha256sum; nothing without either.
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
      fail "$LATCHKEY_AGENT_URL.sha256 contains no checksum: correct it, or set LATCHKEY_AGENT_SHA256. Nothing was installed."
    print "The checksum of the package is not verified, because $2 does not exist."
    return 0
  fi
  actual=$(sha256sum "$1" | cut -d ' ' -f 1)
  [ "$actual" = "$expected" ] ||
    fail "Wrong checksum: SHA-256 is $actual, expected $expected. Nothing was installed."
}

unpack() {
  mkdir "$folder/unpacked"
  tar -xzf "$1" -C "$folder/unpacked" --no-same-owner ||
    fail "Could not unpack the package: it is damaged, or $folder has less than 200 MB free (set TMPDIR to another directory)."
  for installer in "$folder"/unpacked/*/bin/latchkey-agent; do
    [ -f "$installer" ] || fail "$1 is not a package of the agent."
    [ -x "$installer" ] || fail "Programs in $folder cannot be executed: set TMPDIR to another directory."
    case $installer in
      */latchkey-agent-*-linux-"$arch"/bin/latchkey-agent) ;;
      *) fail "The package is for another processor: use latchkey-agent-linux-$arch.tar.gz." ;;
    esac
  done
}

main() {
  check_machine
  here=$(dirname "$0")
  if [ -z "${LATCHKEY_AGENT_URL:-}${LATCHKEY_AGENT_FILE:-}" ]; then
    [ -x "$here/bin/latchkey-agent" ] ||
      fail 'Set LATCHKEY_AGENT_URL (https) or LATCHKEY_AGENT_FILE to the package.'
    exec "$here/bin/latchkey-agent" install "$@"
  fi
  folder=$(mktemp -d) || fail 'Could not create a temporary directory: free some space, or set TMPDIR to another directory.'
  trap 'rm -rf "$folder"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  if [ -n "${LATCHKEY_AGENT_FILE:-}" ]; then
    [ -f "$LATCHKEY_AGENT_FILE" ] || fail "File not found: $LATCHKEY_AGENT_FILE."
    check_sum "$LATCHKEY_AGENT_FILE" "$LATCHKEY_AGENT_FILE.sha256"
    check_signature "$LATCHKEY_AGENT_FILE"
    unpack "$LATCHKEY_AGENT_FILE"
  else
    download_package "$LATCHKEY_AGENT_URL"
    check_sum "$folder/package.tar.gz" "$folder/package.sha256"
    check_signature "$folder/package.tar.gz"
    unpack "$folder/package.tar.gz"
  fi
  "$installer" install "$@"
}

main "$@"
