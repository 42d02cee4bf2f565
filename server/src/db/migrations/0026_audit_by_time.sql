-- The audit log is listed newest first.
create index audit_log_by_time on audit_log (occurred_at, id);
