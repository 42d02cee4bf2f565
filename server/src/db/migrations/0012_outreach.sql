-- What was asked to be sent to many, and what became of each message. No address and no name is kept.

-- Spread by request_id: one row for each recipient of a request, written before anything is sent.
create table outreach_messages (
  request_id    uuid         not null,
  -- From 0, in the order of the request.
  position      integer      not null,
  template      text         not null,
  language      text         not null,
  -- HMAC of the address.
  address_hash  bytea        not null,
  message_id    text         not null,
  -- waiting: nothing has been sent; sending: begun, and perhaps sent, if whoever began it was killed; unknown: the relay
  -- had all of it and nobody knows whether it took it.
  state         text         not null check (state in ('waiting', 'sending', 'sent', 'failed', 'unknown')),
  error         text,
  created_at    timestamptz  not null,
  ended_at      timestamptz,
  primary key (request_id, position),
  check ((state in ('waiting', 'sending')) = (ended_at is null))
);
create index outreach_messages_created on outreach_messages (created_at);

-- Spread by api_key_id: the requests that may be repeated without being sent twice.
create table outreach_idempotency_keys (
  -- An API key's id, or `configured` for the one of the settings.
  api_key_id    text         not null,
  -- HMAC of the Idempotency-Key.
  key_hash      bytea        not null,
  -- HMAC of what was asked for.
  body_hash     bytea        not null,
  request_id    uuid         not null,
  created_at    timestamptz  not null,
  -- By the process that is sending.
  claimed_at    timestamptz  not null,
  answered_at   timestamptz,
  primary key (api_key_id, key_hash)
);
create index outreach_idempotency_keys_created on outreach_idempotency_keys (created_at);
