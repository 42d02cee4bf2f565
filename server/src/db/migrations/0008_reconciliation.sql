-- How far a provider's own log of events has been compared with the events that were kept. A row for each provider.
create table billing_reconciliations (
  provider       text        not null primary key,
  -- The last event of the provider's log that was compared.
  event_id       text        not null,
  reconciled_at  timestamptz not null
);
