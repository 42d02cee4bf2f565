# The value of a setting in /etc, as node --env-file reads it.
setting() {
  value=$(sed -n "s/^[[:space:]]*\(export[[:space:]][[:space:]]*\)\{0,1\}$1[[:space:]]*=[[:space:]]*//p" /etc/latchkey/latchkey.env 2>/dev/null | tail -n 1)
  case $value in
    \'*) value=${value#\'} && value=${value%%\'*} ;;
    \"*) value=${value#\"} && value=${value%%\"*} ;;
    *) value=$(printf '%s' "${value%%#*}" | sed 's/[[:space:]]*$//') ;;
  esac
  printf '%s' "$value"
}

# The data directory with the embedded PostgreSQL; none if the settings name another database.
data=
if [ -z "$(setting DATABASE_URL)$(setting DATABASE_URL_FILE)" ]; then
  data=$(setting LATCHKEY_DATA_DIR)
  data=${data:-/var/lib/latchkey}
fi

# The major version of its data, and that of this package.
found=
if [ -n "$data" ] && [ -r "$data/postgres/PG_VERSION" ]; then
  found=$(cat "$data/postgres/PG_VERSION")
fi
own=@MAJOR@
