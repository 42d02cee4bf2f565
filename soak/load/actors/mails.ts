import { OutreachResult } from '@latchkey/contract';
import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { RECIPIENTS_OF_A_REQUEST } from '../../ledger/ledger.ts';
import { MESSAGE_NOT_SENT, MESSAGE_UNKNOWN } from '../operations.ts';
import { OTHER_CLIENTS, type LoadContext } from './actor.ts';

/** Addresses by their number. */
export const addressOfBuyer = (purchase: number): string => `buyer-${purchase}@soak.example`;
export const addressOfReader = (recipient: number): string => `reader-${recipient}@soak.example`;
export const addressOfSubscriber = (number: number): string => `subscriber-${number}@soak.example`;

const Results = Type.Object({ results: Type.Array(OutreachResult) });

/** Subscribes an address until that is acknowledged: by the vendor's own server, since repetitions of a browser are limited. */
export async function subscribe(
  { apiKey, client, ledger }: LoadContext,
  number: number,
  dueAt: number,
): Promise<void> {
  const body = { email: addressOfSubscriber(number) };
  const headers = { 'x-api-key': apiKey };
  const request = { path: '/api/v1/subscribers', body, headers, client: OTHER_CLIENTS - 4 };
  await client.sendUntilAnswered(
    'subscribe',
    () => ({ ...request, dueAt }),
    ({ acknowledgement }) => ledger.subscriptions.record(number, acknowledgement),
  );
}

/** Sends an outreach request until it is answered, each time with the same idempotency key. */
export async function sendOutreach(
  context: LoadContext,
  number: number,
  dueAt: number,
): Promise<void> {
  const first = number * RECIPIENTS_OF_A_REQUEST;
  const recipients = Array.from({ length: RECIPIENTS_OF_A_REQUEST }, (_, index) => ({
    email: addressOfReader(first + index),
  }));
  const request = {
    path: '/api/v1/outreach/send',
    body: { template: 'personal', recipients },
    headers: { 'x-api-key': context.apiKey, 'idempotency-key': `soak-${number}` },
    client: OTHER_CLIENTS - 2,
  };
  const sentAt = performance.now();
  await context.client.sendUntilAnswered(
    'outreach',
    () => ({ ...request, dueAt }),
    ({ acknowledgement, text }) => {
      context.ledger.outreachRequests.record(number, acknowledgement);
      if (acknowledgement === 'acknowledged') recordResults(context, { first, sentAt, text });
    },
  );
}

interface OutreachAnswer {
  /** The number of the first recipient. */
  readonly first: number;
  /** When the first attempt was sent. */
  readonly sentAt: number;
  readonly text: string;
}

function recordResults(
  { expectations, ledger }: LoadContext,
  { first, sentAt, text }: OutreachAnswer,
): void {
  const { results } = Parse(Results, JSON.parse(text));
  if (results.length !== RECIPIENTS_OF_A_REQUEST) throw new Error('it lacks results');
  const endedAt = performance.now();
  results.forEach(({ error, success }, index) => {
    if (success) return ledger.outreach.record(first + index, 'acknowledged');
    const isUnknown = error === 'unknown';
    if (isUnknown) ledger.outreach.record(first + index, 'unanswered');
    else ledger.outreachNotSent.record(first + index, 'acknowledged');
    const outcome = isUnknown ? MESSAGE_UNKNOWN : MESSAGE_NOT_SENT;
    expectations.judgeMessage({ outcome, sentAt, endedAt });
  });
}

/** The number in an address of a buyer or reader; of another address, NaN. */
export function readMailNumber(address: string): {
  readonly kind: string;
  readonly number: number;
} {
  const [, kind = '', digits = ''] = /^(buyer|reader)-(\d+)@soak\.example$/u.exec(address) ?? [];
  return { kind, number: digits === '' ? Number.NaN : Number(digits) };
}
