-- When an activation last said whether usage is shared, for the newest word of an install counts. In no index, so
-- that a validation stays a heap-only update; null for what was said before: at the last validation then.
alter table activations add column usage_sharing_told_at timestamptz;
