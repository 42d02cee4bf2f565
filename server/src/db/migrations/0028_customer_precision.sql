-- The digits of occurred_at beyond the millisecond, in nanoseconds: providers report several changes within one.
alter table billing_customers add column occurred_nanos integer not null default 0
  check (occurred_nanos between 0 and 999999);
