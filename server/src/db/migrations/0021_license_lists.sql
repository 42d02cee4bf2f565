-- Which keys lead to a license, when all of them are to end.
create index license_keys_license on license_keys (license_id);

-- Lists of licenses, newest first: of a customer, of a product, and in a status that few licenses have. No validation
-- writes any of these columns. The indexes hold up writes to a large table while they are built.
create index licenses_customer_email on licenses (lower(customer_email), id) where customer_email is not null;
create index licenses_product on licenses (product_id, id);
create index licenses_revoked on licenses (id) where revoked_at is not null;
create index licenses_refunded on licenses (id) where refunded_at is not null;
create index licenses_suspended on licenses (id) where suspended_at is not null or disputed_at is not null;
