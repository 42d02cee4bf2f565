-- How the comparison with the provider's log went. reconciled_at is from now on when one last reached the log's end.
alter table billing_reconciliations alter column reconciled_at drop not null;
alter table billing_reconciliations add column failed_at timestamptz;
-- Why it failed then; for people, without keys and addresses.
alter table billing_reconciliations add column failure text;

-- What waits for somebody is counted all the time and is little; what was ignored may be most of a table.
drop index billing_events_unapplied;
create index billing_events_unapplied on billing_events (status, received_at) where status in ('deferred', 'failed');
