/**
 * The content of a column of text, JSON or bytes:
 * - `person`: a name, an address or free text about a customer; shown, exported and erased;
 * - `address`: the keyed hash of an address, or data found by one; erased, except in `suppressions`;
 * - `linked`: connected to a customer by a license or a customer id; shown and exported, and not erased where a license
 *   needs it;
 * - `free`: text of operators or clients, which is not searched (documented on the page on personal data);
 * - `none`: no personal data.
 */
export type ColumnContent = 'person' | 'address' | 'linked' | 'free' | 'none';

type Columns = Partial<Readonly<Record<ColumnContent, string>>>;

/** The columns of every table by their content. */
export const INVENTORY: Readonly<Record<string, Columns>> = {
  activations: {
    linked: 'machine_id app_version os_version components machine_digest entitlement_proof',
  },
  api_keys: { free: 'name', none: 'key_hash key_hint scopes' },
  audit_head: { none: 'hash' },
  audit_log: { linked: 'subject_id', free: 'actor reason details', none: 'action hash' },
  // Two keyed hashes of one address or machine; used to find rows of audit_log.
  audit_renamed_subjects: { none: 'current_id previous_id' },
  billing_adjustments: {
    linked: 'fact',
    none: 'adjustment_id event_id provider transaction_id',
  },
  billing_aliases: { none: 'alias provider transaction_id' },
  billing_customers: { person: 'email name', linked: 'customer_id locale', none: 'provider' },
  billing_events: { person: 'raw message', none: 'event_id headers provider status type' },
  billing_licenses: { none: 'line_key provider transaction_id' },
  billing_payments: {
    person: 'fact',
    linked: 'customer_id subscription_id transaction_id',
    none: 'event_id provider',
  },
  billing_reconciliations: { none: 'event_id failure provider' },
  billing_repairs: { person: 'fact', linked: 'transaction_id', none: 'provider' },
  billing_revenue: { none: 'entries provider transaction_id' },
  billing_revenue_backfill: { none: 'provider transaction_id' },
  billing_revenue_days: { none: 'country currency product_id provider' },
  billing_revenue_due: { none: 'id kind provider' },
  billing_revenue_summaries: { none: 'country currency divided_by product_id provider' },
  billing_revenue_months: { none: 'country currency product_id provider' },
  billing_sales: { none: 'price_id product_id currency quantity_as' },
  billing_subscriptions: {
    person: 'fact',
    linked: 'customer_id subscription_id transaction_id',
    none: 'event_id provider',
  },
  buyer_codes: { address: 'address_hash', none: 'token_hash email_sealed language' },
  ended_buyer_sessions: {},
  event_archives: { none: 'checksum location' },
  event_days: { free: 'name app_version' },
  event_drops: { none: 'reason' },
  event_name_days: { free: 'name' },
  event_prop_days: { free: 'key name value' },
  events: { linked: 'app_version name os_version props' },
  fleet_servers: { free: 'name labels', none: 'address' },
  import_extensions: {},
  imported_licenses: { linked: 'details source_id', none: 'digest source' },
  imported_seats: { linked: 'instance_id label' },
  imports: { free: 'actor origin reason', none: 'report source' },
  jobs: { address: 'payload', linked: 'key', none: 'last_error name' },
  key_emails: {
    address: 'address_hash',
    linked: 'transaction_id',
    none: 'message_id provider reason state',
  },
  license_added_keys: { none: 'key_hint key_sealed' },
  license_keys: { none: 'key_hash' },
  license_names: { linked: 'name', none: 'kind provider' },
  license_refusals: { none: 'reason' },
  license_transactions: { linked: 'transaction_id' },
  license_uses: {},
  license_pool_keys: { none: 'product_id key_hash key_sealed key_hint' },
  license_updates: { linked: 'transaction_id', none: 'kind line_key provider' },
  licenses: {
    person: 'customer_email customer_name note',
    none: 'features key_hint key_sealed product_id tier',
  },
  // Operators are no customers: their addresses and networks belong to the vendor's own records.
  operator_networks: { free: 'network' },
  operator_passkeys: { free: 'name', none: 'credential_id public_key' },
  operator_recovery_codes: { none: 'code_hash' },
  operator_sessions: { free: 'network user_agent', none: 'token_hash' },
  operator_sign_in_links: { none: 'token_hash' },
  operator_used_challenges: { none: 'challenge_hash' },
  operators: { free: 'email name provider_subject', none: 'password_hash role totp_sealed' },
  outreach_campaigns: {
    free: 'audience name started_by texts updated_by',
    none: 'default_language problem state',
  },
  outreach_idempotency_keys: { none: 'api_key_id body_hash key_hash' },
  outreach_messages: { address: 'address_hash', none: 'error language message_id state template' },
  outreach_recipients: { person: 'email name', address: 'address_hash' },
  owner_emails: { person: 'email', none: 'error id language message_id state template' },
  rollup_marks: { none: 'source' },
  schema_migrations: { none: 'checksum name' },
  signing_keys: { none: 'kid private_key_sealed' },
  subscriber_confirmations: { address: 'address_hash mailbox_hash', none: 'token_hash' },
  subscribers: {
    person: 'email',
    address: 'address_hash',
    linked: 'language opt_in confirmation_problem',
  },
  suppressions: { address: 'address_hash', none: 'reason' },
  trial_claims: { none: 'claim_hash' },
  trial_conversions: { none: 'product_id' },
  trial_days: { none: 'bought_product_id product_id' },
  usage_days: { linked: 'app_version os_version' },
  usage_system_days: { free: 'os_version' },
  usage_totals: { none: 'period' },
  usage_version_days: { free: 'app_version' },
  webhook_attempts: { person: 'answer', none: 'error message_id' },
  webhook_deliveries: { none: 'last_error message_id state type' },
  webhook_endpoints: {
    free: 'description url',
    none: 'disabled_reason event_types previous_secret_sealed secret_sealed',
  },
  webhook_messages: { person: 'payload', none: 'id type' },
};

/** Lists the columns with some contents, as `table.column`. */
export function listColumns(...contents: readonly ColumnContent[]): string[] {
  return Object.entries(INVENTORY).flatMap(([table, columns]) =>
    contents.flatMap((content) =>
      (columns[content]?.split(' ') ?? []).map((column) => `${table}.${column}`),
    ),
  );
}
