import type { Pool } from 'pg';
import type { Logger } from 'pino';

import type { Clock } from '#server/clock.ts';
import type { Catalog } from '#server/config/catalog.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';
import type { Vault } from '#server/lib/vault.ts';
import type { MailTransport, SendResult } from '#server/mail/mail-transport.ts';

import type { OutreachLimiter } from './outreach-limiter.ts';

/** The dependencies of requests and campaigns. */
export interface OutreachDependencies {
  readonly catalog: () => Catalog;
  readonly clock: Clock;
  readonly config: {
    readonly http: { readonly publicUrl: string };
    readonly mail: { readonly from: string | null };
  };
  readonly databaseLimiter: ConcurrencyLimiter;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly metrics: { countMail(mail: string, outcome: SendResult['outcome']): void };
  readonly outreach: OutreachLimiter;
  readonly outreachMail: MailTransport | null;
  readonly pool: Pool;
  readonly vault: Pick<Vault, 'hashText' | 'previous' | 'seal'>;
}
