-- Which keys lead to a license, when all of them are to end.
create index license_keys_license on license_keys (license_id);
