import type { PaymentProvider } from '@latchkey/contract';

import type { CustomerDetails, SubscriptionFact } from '../../billing/facts.ts';

/** What an account at a payment provider has: a running subscription, a license key, or both. */
export interface ProviderRecord {
  readonly provider: PaymentProvider;
  /** The provider's id of the key, or else of the subscription; the same at each reading. */
  readonly id: string;
  readonly customer: CustomerDetails;
  readonly subscription: RunningSubscription | null;
  readonly key: ProviderKey | null;
  /** Whether it was bought in the provider's test mode. */
  readonly isTest: boolean;
}

/** A subscription that has not ended. */
export interface RunningSubscription {
  /** The snapshot, as a webhook of the provider would report it now. */
  readonly snapshot: SubscriptionFact;
  /**
   * When the last paid period ended, if the subscription is not active. Null if it is, because its period is paid then, or if
   * nothing was ever paid.
   */
  readonly paidUntil: Date | null;
}

/** A license key of the provider. */
export interface ProviderKey {
  readonly licenseKey: string;
  /** The price or product that it was bought with, as in the catalogue; null if the provider does not report it. */
  readonly priceId: string | null;
  /** The payment that it was bought with, as webhooks name it; null if unknown. */
  readonly transactionId: string | null;
  /** Ids that a mapping of products may name, most specific first. */
  readonly productIds: readonly string[];
  readonly state: 'valid' | 'suspended' | 'revoked' | 'refunded';
  /** Null: unlimited. */
  readonly maxActivations: number | null;
  /** When it ends or ended. Null: perpetual, or as long as its subscription. */
  readonly expiresAt: Date | null;
  readonly machines: readonly ProviderMachine[];
  /** Further ids that the license interface of the provider returns. */
  readonly details: Readonly<Record<string, string>>;
}

/** A machine on which a key is active. */
export interface ProviderMachine {
  /** The provider's id of the activation, which the software stored. */
  readonly instanceId: string;
  readonly name: string | null;
  readonly activatedAt: Date | null;
}

/** An object that cannot be read, and why: a sentence for people. */
export interface UnreadableRecord {
  readonly id: string;
  readonly problem: string;
}

/** The records of an account, in the provider's order. */
export type ProviderRecords = AsyncGenerator<ProviderRecord | UnreadableRecord>;
