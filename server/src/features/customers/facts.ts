import type { CustomerKey, TransactionKey } from '../billing/queries/purchases.ts';

export type { CustomerKey, TransactionKey };

/** An e-mail address in all forms in which it may be stored. */
export interface Address {
  /** The id in audit rows of the address; derived from its HMAC. */
  readonly id: string;
  /** The same under every configured master secret, the current one first. */
  readonly ids: readonly string[];
  /** Under the current master secret. */
  readonly hash: string;
  /** Under every configured master secret, the current one first. */
  readonly hashes: readonly string[];
  /** In lower case; an international domain in both of its forms. */
  readonly spellings: readonly string[];
}

/** The key of a payment event. */
export interface EventKey {
  readonly provider: string;
  readonly eventId: string;
}

/** The key of a ledger row; `id` is that of the transaction or the subscription. */
export interface LedgerKey extends EventKey {
  readonly kind: 'payment' | 'subscription';
  readonly id: string;
}

/** The keys of all rows about one person. */
export interface Person {
  readonly address: Address;
  /** Licenses with the address. */
  readonly licenseIds: readonly string[];
  /** Customers with the address. */
  readonly customers: readonly CustomerKey[];
  readonly ledger: readonly LedgerKey[];
  /** Events of the ledger rows. */
  readonly events: readonly EventKey[];
  readonly keyEmails: readonly TransactionKey[];
  /** Messages of outgoing webhooks. */
  readonly messageIds: readonly string[];
  /** From the activations of the licenses; without shared ones, unless the operator includes them. */
  readonly installIds: readonly string[];
  readonly machineIds: readonly string[];
  readonly sharedInstalls: readonly SharedDevice[];
  readonly sharedMachines: readonly SharedDevice[];
}

/** An install or a machine on which licenses of others were activated, too: its data may be about another person. */
export interface SharedDevice {
  readonly id: string;
  readonly otherLicenses: number;
}

/**
 * The shared installs and machines that the operator decided to treat as the person's own. Ids that are not shared by the
 * person are ignored.
 */
export interface SharedDeviceChoice {
  readonly installs: readonly string[] | 'all';
  readonly machines: readonly string[] | 'all';
}
