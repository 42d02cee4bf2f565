-- The body of a payment event holds personal data, and is removed after some time or when its buyer is erased. What it
-- said stays in the ledgers; without it, the event cannot be replayed.
alter table billing_events alter column raw drop not null;
alter table billing_events add column raw_removed_at timestamptz;
alter table billing_events add constraint billing_events_raw check ((raw is null) = (raw_removed_at is not null));

-- The bodies that age removes: an event that was not applied still needs its own.
create index billing_events_removable on billing_events (received_at)
  where raw is not null and status in ('processed', 'ignored');
