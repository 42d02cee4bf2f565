-- When an activation began to say what it says of sharing usage, for the newest word of an install counts. In no index, so
-- that a validation stays a heap-only update; null for what was said before: at the last validation then.
alter table activations add column usage_sharing_told_at timestamptz;
