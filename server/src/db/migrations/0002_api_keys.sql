-- Keys for programs that call the service: a spreadsheet that sends outreach, a scraper that reads the metrics.

-- A handful of rows.
create table api_keys (
  id            uuid        not null primary key,
  -- For people. One key at a time goes by a name: a key that was rolled leaves its name to the one that replaced it.
  name          text        not null,
  -- SHA-256. A key has 178 random bits, so there is nothing to be guessed that a slow hash would protect.
  key_hash      bytea       not null unique,
  -- The key's last symbols, for people.
  key_hint      text        not null,
  scopes        text[]      not null check (cardinality(scopes) > 0),
  created_at    timestamptz not null,
  -- Null is for good. A key that was rolled has the end of its overlap here.
  expires_at    timestamptz,
  -- To the minute: it is not written more often.
  last_used_at  timestamptz,
  revoked_at    timestamptz,
  replaced_by   uuid
);
create unique index api_keys_current_name on api_keys (name) where revoked_at is null and replaced_by is null;
