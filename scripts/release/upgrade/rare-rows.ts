/**
 * A row for each table that neither the demo nor a few requests fill, because its rows need a relay that fails, a passkey or
 * months.
 */
export const RARE_ROWS = `
insert into audit_renamed_subjects (previous_id, current_id) values ('before', 'after');
insert into billing_reconciliations (provider, event_id, reconciled_at)
  values ('paddle', 'evt_01k2m7lastcompared0000demo0', now());
insert into buyer_codes (token_hash, address_hash, email_sealed, language, requested_at, expires_at)
  values (sha256('token'), sha256('address'), 'sealed', 'de', now(), now() + interval '15 minutes');
insert into ended_buyer_sessions (id, expires_at) values (gen_random_uuid(), now() + interval '1 hour');
insert into event_archives (day, location, events, checksum, archived_at, dropped_at)
  values ('2025-01-01', '/var/archive', 12, '123456789012345678901', now(), now());
insert into operator_passkeys (id, operator_id, credential_id, public_key, sign_count, is_synced, name, created_at)
  select gen_random_uuid(), id, sha256(email::bytea), '\\x302a300506032b6570032100', 7, true, 'Telephone', now()
  from operators;
insert into operator_used_challenges (challenge_hash, expires_at)
  values (sha256('challenge'), now() + interval '5 minutes');
insert into outreach_idempotency_keys (api_key_id, key_hash, body_hash, request_id, created_at, claimed_at, answered_at)
  select id, sha256('key'), sha256('body'), gen_random_uuid(), now(), now(), now() from api_keys;
insert into owner_emails (id, template, language, email, state, message_id, created_at, sent_at)
  values ('rare', 'machine_freed', 'fr', 'owner@contour.example', 'sent', '<rare@contour.example>', now(), now());
insert into removal_clock (reached_at, moved_at) values (now(), now()) on conflict do nothing;
`;
