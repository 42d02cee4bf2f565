-- An export and an operator ask which checkout made a license.
create index license_transactions_license on license_transactions (license_id);
