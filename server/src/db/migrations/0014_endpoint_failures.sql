-- Null of an endpoint that failed last before this column was there: its next failure begins a new time of failures.
alter table webhook_endpoints add column last_failed_at timestamptz;
