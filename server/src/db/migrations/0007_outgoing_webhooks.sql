-- What other programs are told: where to, what, and how far each telling has come.

-- A handful of rows.
create table webhook_endpoints (
  id                      uuid        not null primary key,
  url                     text        not null,
  description             text,
  -- Empty: all of them.
  event_types             text[]      not null default '{}',
  -- Sealed under the master secret. The previous one signs too until its end, so that a receiver has time to change.
  secret_sealed           bytea       not null,
  previous_secret_sealed  bytea,
  previous_secret_until   timestamptz,
  created_at              timestamptz not null,
  -- The first failure since the last success.
  failing_since           timestamptz,
  disabled_at             timestamptz,
  disabled_reason         text check (disabled_reason in ('operator', 'gone', 'failing')),
  check ((disabled_at is null) = (disabled_reason is null))
);

-- Spread by id. The log: what happened, as the bytes that are sent.
create table webhook_messages (
  id          text        not null primary key,
  type        text        not null,
  license_id  uuid        not null,
  payload     text        not null,
  created_at  timestamptz not null
);
create index webhook_messages_created on webhook_messages (created_at);
create index webhook_messages_license on webhook_messages (license_id, created_at);

-- Spread by message_id: one row for each endpoint that is told of a message.
create table webhook_deliveries (
  message_id        text        not null,
  endpoint_id       uuid        not null,
  state             text        not null check (state in ('pending', 'delivered', 'failed')),
  attempts          integer     not null default 0,
  -- Of one that is under way: when it is taken for lost.
  next_attempt_at   timestamptz,
  last_attempt_at   timestamptz,
  -- Of HTTP; null when there was no answer.
  last_status       integer,
  last_duration_ms  integer,
  last_error        text,
  primary key (message_id, endpoint_id),
  check ((state = 'pending') = (next_attempt_at is not null))
);
create index webhook_deliveries_due on webhook_deliveries (endpoint_id, next_attempt_at) where state = 'pending';
create index webhook_deliveries_failed on webhook_deliveries (endpoint_id, message_id) where state = 'failed';

-- One row: up to which moment, and which license of it, the statuses that come by time have been told.
create table webhook_expiry_cursor (
  id           boolean     not null primary key default true check (id),
  told_until   timestamptz not null,
  license_id   uuid        not null
);

-- The moments at which a status changes by itself. No validation writes any of these columns.
create index licenses_expires on licenses (expires_at, id) where expires_at is not null;
create index licenses_subscription_expires on licenses (expires_at, id) where expires_at is not null and subscription;
create index licenses_cancel_scheduled on licenses (cancel_scheduled_for, id) where cancel_scheduled_for is not null;
create index licenses_canceled on licenses (canceled_at, id) where canceled_at is not null;
create index licenses_paused on licenses (paused_at, id) where paused_at is not null;
