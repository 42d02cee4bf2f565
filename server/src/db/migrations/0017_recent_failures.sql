-- What failed lately is counted all the time.
create index webhook_deliveries_failed_at on webhook_deliveries (last_attempt_at) where state = 'failed';
