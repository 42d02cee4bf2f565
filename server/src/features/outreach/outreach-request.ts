import type { OutreachRequest } from '@latchkey/contract';
import type { Pool } from 'pg';
import type { Logger } from 'pino';

import type { Clock } from '#server/clock.ts';
import type { Catalog } from '#server/config/catalog.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';
import type { Vault } from '#server/lib/vault.ts';
import type { MailTransport, SendResult } from '#server/mail/mail-transport.ts';

import type { OutreachLimiter, RequestEnd } from './outreach-limiter.ts';
import type { StoredMessage } from './queries/messages.ts';

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

/** A request as it arrived. */
export interface OutreachOrder {
  /** Null: the key in the settings. */
  readonly apiKeyId: string | null;
  /** Null: a repeated request is sent again. */
  readonly idempotencyKey: string | null;
  readonly request: OutreachRequest;
}

export interface OutreachRecipient {
  readonly email: string;
  readonly name: string | null;
}

/** A request that is being sent. */
export interface OutreachWork extends OutreachOrder {
  readonly recipients: readonly OutreachRecipient[];
  readonly transport: MailTransport;
  readonly end: RequestEnd;
}

/** A stored request with its messages, one per recipient in the same order. */
export interface StoredRequest {
  readonly requestId: string;
  readonly messages: readonly StoredMessage[];
}
