import type { OutreachRequest } from '@latchkey/contract';
import type { Context } from '#server/context.ts';
import type { MailTransport } from '#server/mail/mail-transport.ts';

import type { RequestEnd } from './outreach-limiter.ts';
import type { MessageState } from './queries/messages.ts';

/** What sending needs of the context. */
export type OutreachContext = Pick<
  Context,
  | 'catalog'
  | 'clock'
  | 'config'
  | 'databaseLimiter'
  | 'log'
  | 'metrics'
  | 'outreach'
  | 'outreachMail'
  | 'pool'
  | 'vault'
>;

/** What is to be sent, and who asks for it. */
export interface OutreachOrder {
  /** Null: the key of the settings. */
  readonly apiKeyId: string | null;
  /** Null: the request is sent each time that it comes. */
  readonly idempotencyKey: string | null;
  readonly request: OutreachRequest;
}

/** One recipient of a request, as it is sent to. */
export interface OutreachRecipient {
  readonly email: string;
  readonly name: string | null;
}

/** A request with what it takes to send it. */
export interface OutreachWork extends OutreachOrder {
  readonly recipients: readonly OutreachRecipient[];
  readonly transport: MailTransport;
  readonly end: RequestEnd;
}

/** A message as it is stored; those of a request are as many as its recipients, and in their order. */
export interface OutreachMessage {
  readonly messageId: string;
  readonly state: MessageState;
  readonly error: string | null;
}
