-- Whether the line of a purchase renews or upgrades a license that existed, instead of creating one.
alter table billing_licenses add column renews boolean not null default false;
-- billing_license_list_shared
create index billing_licenses_renewals on billing_licenses (license_id) where renews;
