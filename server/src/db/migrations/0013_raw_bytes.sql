-- What was signed is bytes: a text refuses U+0000 and whatever is no UTF-8.
alter table billing_events alter column raw type bytea using convert_to(raw, 'UTF8');
