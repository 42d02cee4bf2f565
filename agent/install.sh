#!/bin/sh
# Downloads the Latchkey agent's package and runs its installer. Requires root and Linux on x64 or arm64.
#
#   LATCHKEY_AGENT_URL=https://downloads.example.com/latchkey-agent-linux-x64.tar.gz \
#   LATCHKEY_DOMAIN=db-1.example.com LATCHKEY_EMAIL=ops@example.com sh install.sh
#
# LATCHKEY_AGENT_URL              URL of the package (https); .manifest, .manifest.sig and .sha256 are appended for the files beside it
# LATCHKEY_AGENT_FILE             path of a local package, instead of a URL, with the same files beside it
# LATCHKEY_AGENT_SHA256           its SHA-256, instead of a signed manifest
# LATCHKEY_AGENT_SIGNER           the public key (ssh-ed25519 …) that verifies the manifest, instead of the one in this script
# LATCHKEY_AGENT_UNSIGNED         yes: accept a package without a signed manifest; a .sha256 file proves that it is complete
# LATCHKEY_AGENT_ALLOW_DOWNGRADE  yes: accept a package that is older than the installed agent
# An unpacked package needs only the last one. All other variables and arguments are passed to "latchkey-agent install".
set -eu

# The public key that signs manifests; npm run package:agent -- --sign KEY writes it into its copy of this script.
SIGNER=''

# What an installation records.
INSTALLED='/var/lib/latchkey-agent-install/installed.json'

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

# Creates the directory in which the package is copied, verified and run. Other accounts must not be able to rename it, or what is in
# it, between two of these steps.
create_folder() {
  folder=$(mktemp -d) || fail 'Could not create a temporary directory: free some space, or set TMPDIR to another directory.'
  trap 'rm -rf "$folder"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  folder=$(cd -P "$folder" && pwd -P)
  owner=$(stat -c %u "$folder")
  above=$folder
  while [ "$above" != / ]; do
    above=$(dirname "$above")
    case $(stat -c '%u %A' "$above") in
      "0 "?????-??-* | "$owner "?????-??-* | "0 "*[tT] | "$owner "*[tT]) ;;
      *) fail "Other accounts may change $above: set TMPDIR to a directory that only root can change. Nothing was installed." ;;
    esac
  done
}

download_package() {
  case $1 in
    https://*) ;;
    *) fail 'LATCHKEY_AGENT_URL must start with https://.' ;;
  esac
  needs_signature && require_signer
  print "Downloading $1"
  download "$1" "$folder/package" ||
    fail "Could not download the package from $1: check the URL (redirects require curl), the network and the free space in $folder."
  if needs_signature; then
    for suffix in .manifest .manifest.sig; do
      download "$1$suffix" "$folder/package$suffix" ||
        fail "Could not download the signature from $1$suffix: publish it, or accept the package unsigned with LATCHKEY_AGENT_UNSIGNED=yes. Nothing was installed."
    done
  elif [ -z "${LATCHKEY_AGENT_SHA256:-}" ]; then
    download "$1.sha256" "$folder/package.sha256" ||
      fail "Could not download the checksum from $1.sha256: publish it, or set LATCHKEY_AGENT_SHA256."
  fi
}

# Copies a local package and the files beside it: another account may be able to replace them, so nothing but the copies is read.
copy_package() {
  [ -f "$1" ] || fail "File not found: $1."
  needs_signature && require_signer
  for suffix in '' .manifest .manifest.sig .sha256; do
    [ -f "$1$suffix" ] || continue
    cp -- "$1$suffix" "$folder/package$suffix" ||
      fail "Could not copy $1$suffix: check the free space in $folder."
  done
  if needs_signature; then
    for suffix in .manifest .manifest.sig; do
      [ -f "$folder/package$suffix" ] ||
        fail "No signature: put $1$suffix beside the package, set LATCHKEY_AGENT_SHA256, or accept it unsigned with LATCHKEY_AGENT_UNSIGNED=yes. Nothing was installed."
    done
  fi
}

# A checksum from the same server proves only that the download is complete. A signature, or a checksum from another source,
# proves who built the package.
needs_signature() {
  [ -z "${LATCHKEY_AGENT_SHA256:-}" ] && [ "${LATCHKEY_AGENT_UNSIGNED:-}" != yes ]
}

require_signer() {
  [ -n "${LATCHKEY_AGENT_SIGNER:-$SIGNER}" ] ||
    fail 'No public key to verify the package: set LATCHKEY_AGENT_SIGNER or LATCHKEY_AGENT_SHA256, or accept it unsigned with LATCHKEY_AGENT_UNSIGNED=yes. Nothing was installed.'
  command -v ssh-keygen >/dev/null 2>&1 ||
    fail 'ssh-keygen is required to verify the signature: install openssh-client, or set LATCHKEY_AGENT_SHA256. Nothing was installed.'
}

# Verifies the signature of the manifest, and reads what it states of the package: a line with product, version, platform and SHA-256.
# Requires ssh-keygen of OpenSSH 8.1 or newer.
read_manifest() {
  printf 'latchkey namespaces="latchkey-agent-package" %s\n' "${LATCHKEY_AGENT_SIGNER:-$SIGNER}" >"$folder/signers"
  ssh-keygen -Y verify -f "$folder/signers" -I latchkey -n latchkey-agent-package \
    -s "$folder/package.manifest.sig" <"$folder/package.manifest" >&2 ||
    fail 'Invalid signature: the package is not signed with the expected key. Nothing was installed.'
  read -r product version platform expected rest <"$folder/package.manifest" || :
  [ "$product" = latchkey-agent ] && [ -z "$rest" ] && [ "$(wc -l <"$folder/package.manifest")" -eq 1 ] ||
    fail 'The signature is of another product, and not of the agent. Nothing was installed.'
  [ "$platform" = "linux-$arch" ] ||
    fail "The package is for another processor ($platform): use latchkey-agent-linux-$arch.tar.gz. Nothing was installed."
}

# Finds the SHA-256 that the package must have: of the manifest, of the administrator, or of the file beside it.
read_expected_sum() {
  where=$source.manifest
  if needs_signature; then
    read_manifest
  elif [ -n "${LATCHKEY_AGENT_SHA256:-}" ]; then
    where=LATCHKEY_AGENT_SHA256
    expected=$(printf '%s' "$LATCHKEY_AGENT_SHA256" | tr 'A-F' 'a-f')
  elif [ -f "$folder/package.sha256" ]; then
    where=$source.sha256
    expected=$(head -n 1 "$folder/package.sha256" | cut -d ' ' -f 1)
  else
    print "The checksum of the package is not verified, because $source.sha256 does not exist."
    return 0
  fi
  [ "${#expected}" -eq 64 ] ||
    fail "$where contains no SHA-256, which has 64 digits: correct it. Nothing was installed."
}

check_package() {
  read_expected_sum
  actual=$(sha256sum "$folder/package" | cut -d ' ' -f 1)
  [ "${expected:-$actual}" = "$actual" ] ||
    fail "Wrong checksum: SHA-256 is $actual, expected $expected. Nothing was installed."
}

unpack() {
  mkdir "$folder/unpacked"
  tar -xzf "$folder/package" -C "$folder/unpacked" --no-same-owner ||
    fail "Could not unpack the package: it is damaged, or $folder has less than 200 MB free (set TMPDIR to another directory)."
  content=$(ls -A "$folder/unpacked")
  case $content in
    latchkey-agent-*-linux-"$arch") ;;
    latchkey-agent-*-linux-*) fail "The package is for another processor: use latchkey-agent-linux-$arch.tar.gz." ;;
    *) fail "$source is not a package of the agent." ;;
  esac
  packed=${content#latchkey-agent-}
  packed=${packed%-linux-"$arch"}
  case $packed in
    *[!0-9A-Za-z.+-]*) fail "$source is not a package of the agent." ;;
  esac
  [ "${version:-$packed}" = "$packed" ] ||
    fail "The package contains version $packed, and its signature is of $version. Nothing was installed."
  installer=$folder/unpacked/$content/bin/latchkey-agent
  [ -f "$installer" ] || fail "$source is not a package of the agent."
  [ -x "$installer" ] || fail "Programs in $folder cannot be executed: set TMPDIR to another directory."
}

# Whether the first version is older than the second, by the rules of semver.org: 1.0.0-rc.2 < 1.0.0-rc.10 < 1.0.0 < 1.0.1.
is_older() {
  LC_ALL=C awk -v one="$1" -v other="$2" '
    function compare(a, b) {
      if (a ~ /^[0-9]+$/ && b ~ /^[0-9]+$/) return a + 0 < b + 0 ? -1 : a + 0 > b + 0
      if (a ~ /^[0-9]+$/ || b ~ /^[0-9]+$/) return a ~ /^[0-9]+$/ ? -1 : 1
      return a "" < b "" ? -1 : a "" > b ""
    }
    function compare_lists(a, b,   m, n, i, c, as, bs) {
      m = split(a, as, "."); n = split(b, bs, ".")
      for (i = 1; i <= m && i <= n; i++) if ((c = compare(as[i], bs[i])) != 0) return c
      return m < n ? -1 : m > n
    }
    function core(text) { sub(/[-+].*/, "", text); return text }
    function early(text) { sub(/[+].*/, "", text); return index(text, "-") ? substr(text, index(text, "-") + 1) : "" }
    BEGIN {
      c = compare_lists(core(one), core(other)); a = early(one); b = early(other)
      if (c == 0 && a != b) c = a == "" ? 1 : b == "" ? -1 : compare_lists(a, b)
      exit c < 0 ? 0 : 1
    }'
}

# A package is signed for ever, so an attacker on the server could offer one whose faults are known.
check_version() {
  [ -f "$INSTALLED" ] && [ "${LATCHKEY_AGENT_ALLOW_DOWNGRADE:-}" != yes ] || return 0
  installed=$(sed -n 's/^ *"version": "\([0-9A-Za-z.+-]*\)",*$/\1/p' "$INSTALLED")
  [ -n "$installed" ] ||
    fail "$INSTALLED does not name the installed version: set LATCHKEY_AGENT_ALLOW_DOWNGRADE=yes. Nothing was installed."
  result=0
  is_older "$packed" "$installed" || result=$?
  case $result in
    0) fail "The package has version $packed, and the newer $installed is installed: to install it nevertheless, set LATCHKEY_AGENT_ALLOW_DOWNGRADE=yes. Nothing was installed." ;;
    1) ;;
    *) fail 'awk is required to compare the versions: install it, or set LATCHKEY_AGENT_ALLOW_DOWNGRADE=yes. Nothing was installed.' ;;
  esac
}

main() {
  check_machine
  # Variables of the environment must not have these names.
  expected='' version=''
  source=${LATCHKEY_AGENT_FILE:-${LATCHKEY_AGENT_URL:-}}
  if [ -z "$source" ]; then
    # Without a file of this name, the script was read from a pipe, and $0 says nothing about where a package is.
    here=$(dirname "$0")
    [ "$(basename "$0")" = install.sh ] && [ -f "$0" ] && [ -x "$here/bin/latchkey-agent" ] ||
      fail 'Set LATCHKEY_AGENT_URL (https) or LATCHKEY_AGENT_FILE to the package.'
    exec "$here/bin/latchkey-agent" install "$@"
  fi
  create_folder
  if [ -n "${LATCHKEY_AGENT_FILE:-}" ]; then
    copy_package "$source"
  else
    download_package "$source"
  fi
  check_package
  unpack
  check_version
  "$installer" install "$@"
}

main "$@"
