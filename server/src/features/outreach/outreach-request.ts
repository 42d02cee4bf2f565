import type { OutreachRequest } from '@latchkey/contract';

import type { MailTransport } from '#server/mail/mail-transport.ts';

import type { RequestEnd } from './outreach-limiter.ts';
import type { StoredMessage } from './queries/messages.ts';

/** A request as it arrived. */
export interface OutreachCall {
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
export interface OutreachWork extends OutreachCall {
  readonly recipients: readonly OutreachRecipient[];
  readonly transport: MailTransport;
  readonly end: RequestEnd;
}

/** A stored request with its messages, one per recipient in the same order. */
export interface StoredRequest {
  readonly requestId: string;
  readonly messages: readonly StoredMessage[];
}
