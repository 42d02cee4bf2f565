-- Daily use of machines, and analytics events.

-- Spread by machine_key, half of the keyed hash of the machine's id: half as large as the usual id, and nobody's name. The
-- fillfactor leaves room on each page, so that a heartbeat, which changes no indexed column, stays a heap-only update.
create table usage_days (
  machine_key  uuid        not null,
  -- In UTC, by the service's clock.
  day          date        not null,
  first_at     timestamptz not null,
  last_at      timestamptz not null,
  beats        integer     not null,
  app_version  text,
  os_version   text,
  primary key (machine_key, day)
) with (fillfactor = 70);
create index usage_days_day on usage_days (day);

-- When a machine last told its versions while activating, so that the newer of that and its heartbeats is shown.
alter table activations add column versions_told_at timestamptz;

-- Spread by event_id: which events are known, for a unique key over the events would have to contain their time. Kept for
-- as long as a client may send an event again.
create table event_ids (
  event_id     uuid        not null primary key,
  received_at  timestamptz not null
);
create index event_ids_received on event_ids using brin (received_at);

-- By the day of arrival, so that no client's clock can ask for a day that is not there, and a day that is too old is
-- dropped whole. The days are made by the service.
create table events (
  event_id     uuid        not null,
  received_at  timestamptz not null,
  install_id   uuid        not null,
  session_id   uuid        not null,
  name         text        not null,
  -- When it happened; what the client's clock said stands beside it when that was wrong.
  occurred_at  timestamptz not null,
  told_at      timestamptz,
  app_version  text        not null,
  os_version   text,
  props        jsonb
) partition by range (received_at);

-- How many events were not stored, and why.
create table event_drops (
  day     date   not null,
  reason  text   not null,
  events  bigint not null,
  primary key (day, reason)
);

-- Which installations share their usage: asked at each batch of events.
create index activations_sharing on activations (install_id) where usage_sharing is not null;
