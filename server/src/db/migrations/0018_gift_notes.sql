-- When the payer of a gift was notified that the keys were sent; null: not, or it is no gift.
alter table key_emails add column gift_noted_at timestamptz;
alter table owner_emails drop constraint owner_emails_template_check;
alter table owner_emails add constraint owner_emails_template_check
  check (template in ('buyer_code', 'machine_freed', 'replaced_key', 'key', 'gift_sent'));
