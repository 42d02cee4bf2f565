-- Licences, their keys, machines and trials.
--
-- Written so that it distributes: every primary key contains the column that a large table is spread by,
-- identifiers are UUIDv7 made by the service (no sequences), and no foreign key crosses two of those columns.

-- Spread by id. Facts only: the status of a license is derived from them at read time.
create table licenses (
  id                    uuid        not null primary key,
  product_id            text        not null,
  -- What was sold, as the catalogue said then; used once the product has left the catalogue.
  tier                  text        not null,
  features              text[]      not null,
  max_activations       integer     not null check (max_activations > 0),
  trial                 boolean     not null default false,
  -- A subscription has days of grace after expires_at; a fixed term has none.
  subscription          boolean     not null default false,
  -- The end of the fixed term, or of what was paid. Null is perpetual.
  expires_at            timestamptz,
  cancel_scheduled_for  timestamptz,
  canceled_at           timestamptz,
  paused_at             timestamptz,
  suspended_at          timestamptz,
  refunded_at           timestamptz,
  revoked_at            timestamptz,
  -- The key, sealed under the master secret, to be shown again; and its last symbols, for people.
  key_sealed            bytea       not null,
  key_hint              text        not null,
  customer_email        text,
  customer_name         text,
  note                  text,
  created_at            timestamptz not null
);

-- Spread by key_hash: from a key (its HMAC) to its license.
create table license_keys (
  key_hash    bytea not null primary key,
  license_id  uuid  not null
);

-- Spread by transaction_id: from a checkout to the licenses that it made, in the order of its line items.
create table license_transactions (
  transaction_id  text    not null,
  license_id      uuid    not null,
  position        integer not null default 0,
  primary key (transaction_id, license_id)
);

-- Spread by license_id. The fillfactor leaves room on each page, so that a validation, which changes no indexed column,
-- stays a heap-only update.
create table activations (
  license_id         uuid        not null,
  id                 uuid        not null,
  -- Null until the first validate binds it, when the fingerprint named none.
  machine_id         text,
  -- HMACs of the fingerprint's components; never the values.
  components         jsonb       not null,
  machine_digest     text        not null,
  install_id         uuid,
  usage_sharing      boolean,
  os_version         text,
  app_version        text,
  activated_at       timestamptz not null,
  deactivated_at     timestamptz,
  last_validated_at  timestamptz not null,
  validation_count   bigint      not null default 0,
  -- The last entitlement's time of issue, digest and signature, so that an unchanged one is not signed again.
  entitlement_proof  text,
  primary key (license_id, id)
) with (fillfactor = 80);

-- Spread by claim_hash. Two fingerprints share a trial when they share a claim, so one unique key is the whole rule.
create table trial_claims (
  claim_hash  bytea       not null primary key,
  license_id  uuid        not null,
  claimed_at  timestamptz not null
);

-- A handful of rows. A key is published from created_at, signs from active_from until the next one's active_from, and
-- stays published after that until the last token it signed is over.
create table signing_keys (
  kid                 text        not null primary key,
  public_key          bytea       not null,
  private_key_sealed  bytea       not null,
  created_at          timestamptz not null,
  active_from         timestamptz not null
);

-- Every change made by hand, and why.
create table audit_log (
  id           uuid        not null primary key,
  occurred_at  timestamptz not null,
  actor        text        not null,
  action       text        not null,
  subject_id   text        not null,
  reason       text,
  details      jsonb       not null default '{}'
);
create index audit_log_subject on audit_log (subject_id, occurred_at);
