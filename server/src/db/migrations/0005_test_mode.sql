-- Licenses that events of a provider's test mode created: reports and counts leave them out, and they can be deleted. The events,
-- payments and customers of test mode have a provider that ends in ':test'.
alter table licenses add column is_test boolean not null default false;
-- test_mode_list_licenses
create index licenses_test on licenses (id) where is_test;
