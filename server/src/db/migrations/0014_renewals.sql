-- Whether the line of a purchase renews or upgrades a license that existed, instead of creating one.
alter table billing_licenses add column renews boolean not null default false;
-- billing_renewal_list_licenses
create index billing_licenses_renewals on billing_licenses (license_id) where renews;
