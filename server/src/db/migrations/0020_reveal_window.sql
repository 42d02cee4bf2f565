-- The end of the time in which `check` shows the key of a license to whoever knows its checkout. Null, for every license
-- that no payment created: never.
alter table licenses add column reveal_until timestamptz;
update licenses set reveal_until = created_at + interval '24 hours'
where created_at > now() - interval '24 hours'
  and id in (select license_id from billing_licenses);

-- A hint shows at most a quarter of a key. A sealed key is 29 bytes longer than the key.
update licenses set key_hint = right(key_hint, greatest(0, octet_length(key_sealed) - 29) / 4)
where octet_length(key_sealed) < 29 + 16;
