/** Feature: issue, activate, validate, deactivate and change licenses, and decide when two machines are one. */
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import type { Catalog } from '#server/config/catalog.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';
import type { Vault } from '#server/lib/vault.ts';

import type { EntitlementDependencies } from '../entitlements/issue-entitlement.ts';
import type { EventSubscriptions } from '../outgoing-webhooks/event-subscriptions.ts';
import type { LicenseActivity } from './activity.ts';
import type { LicenseBatches } from './batches.ts';
import type { CheckLimiter } from './check-limiter.ts';
import type { GuessLimiter } from './guess-limiter.ts';

/** For reading license keys. */
export interface LicenseKeyDependencies {
  readonly catalog: () => Catalog;
  readonly vault: Vault;
}

/** For showing and changing licenses, by operators and billing. */
export interface LicenseChangeDependencies extends LicenseKeyDependencies {
  readonly clock: Clock;
  readonly pool: Pool;
  readonly eventSubscriptions: EventSubscriptions;
}

/** For the operations of clients. */
export interface LicenseDependencies extends LicenseChangeDependencies, EntitlementDependencies {
  readonly metrics: { countRefusal(operation: string, reason: string): void };
  readonly batches: LicenseBatches;
  readonly licenseActivity: LicenseActivity;
  /** Limits calls that need a connection and do not go through a batch. */
  readonly databaseLimiter: ConcurrencyLimiter;
  /** Limits changes of licenses, by the id of the license. */
  readonly licenseLimiter: ConcurrencyLimiter;
  /** Limits look-ups of guessable keys that are new to a client's network, by network. */
  readonly lookUpLimiter: ConcurrencyLimiter;
  readonly guesses: GuessLimiter;
  readonly checkLimiter: CheckLimiter;
}
