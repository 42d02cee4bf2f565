-- How long purchases wait to be counted into revenue. The marks of a purchase are taken together, so that it is counted once.
alter table billing_revenue_due add column marked_at timestamptz not null default now();
-- billing_revenue_due_take, billing_revenue_due_summarize
create index billing_revenue_due_oldest on billing_revenue_due (marked_at);
-- billing_revenue_due_take
create index billing_revenue_due_purchase on billing_revenue_due (provider, kind, id);
