/** Feature: the page for buyers: the licenses of a key or of an e-mail address, and machines without a connection. */
import type { Logger } from 'pino';

import type { Config } from '#server/config/config.ts';
import type { Counters } from '#server/lib/counters.ts';
import type { MailTransport, SendResult } from '#server/mail/mail-transport.ts';

import type { LicenseDependencies } from '../licenses/dependencies.ts';
import type { BuyerLimits } from './limits.ts';

/** For the use cases of the page. */
export interface BuyerDependencies extends LicenseDependencies {
  readonly config: Pick<Config, 'http' | 'mail'>;
  readonly counters: Counters;
  readonly buyerLimits: BuyerLimits;
  readonly log: Pick<Logger, 'warn'>;
  /** Null: no mail relay is configured, so that there is no door by e-mail. */
  readonly mail: MailTransport | null;
  readonly metrics: {
    countRefusal(operation: string, reason: string): void;
    countMail(mail: string, outcome: SendResult['outcome']): void;
  };
}
