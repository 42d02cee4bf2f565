-- How often the programs of a license counted a use, by the license interface of Gumroad; distributed by license_id.
create table license_uses (
  license_id  uuid     not null,
  uses        integer  not null,
  constraint license_uses_pkey primary key (license_id),
  constraint license_uses_check check (uses > 0)
);
