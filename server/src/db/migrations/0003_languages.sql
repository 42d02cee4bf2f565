-- The service checks a language against its list: a new language is an entry there, without a migration.
alter table buyer_codes
  drop constraint buyer_codes_language_check,
  add constraint buyer_codes_language_check check (language ~ '^[a-z]{2}$');

alter table subscribers
  drop constraint subscribers_language_check,
  add constraint subscribers_language_check check (language ~ '^[a-z]{2}$');

alter table outreach_campaigns
  drop constraint outreach_campaigns_default_language_check,
  add constraint outreach_campaigns_default_language_check check (default_language ~ '^[a-z]{2}$');
