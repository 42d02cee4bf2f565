import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { MailMessage, SendResult } from '#server/mail/mail-transport.ts';

import { deliverMessages } from './deliver-messages.ts';

const MESSAGE: MailMessage = {
  to: { address: 'ada@example.org', name: null },
  subject: 'News',
  text: 'New.',
  html: '<p>New.</p>',
  messageToken: 'news',
};
const ENDED: SendResult = { outcome: 'temporary', reason: 'deadline', reply: null };
const UNCONFIRMED: SendResult = { ...ENDED, outcome: 'unknown' };

/** Sends one message whose sending ends while the transport works, and returns its outcome. */
async function endWhileSending(reason: 'deadline' | 'interrupted', result: SendResult) {
  const ending = new AbortController();
  const stored: (string | null)[] = [];
  const { outcomes } = await deliverMessages([0], {
    transport: {
      send: async () => {
        ending.abort();
        return result;
      },
    },
    journal: {
      begin: async (positions) => new Set(positions),
      end: async (ends) => void stored.push(...ends.map(({ error }) => error)),
    },
    findSuppressed: async () => new Set(),
    createMessage: () => MESSAGE,
    end: { signal: ending.signal, reason: () => reason },
    retryPauseMs: 0,
    observe: () => {},
  });
  assert.deepEqual(stored, [outcomes.get(0)?.error]);
  return outcomes.get(0);
}

test('a message that ends with the service is interrupted, and one that ends with its request is late', async () => {
  for (const reason of ['interrupted', 'deadline'] as const) {
    assert.deepEqual(await endWhileSending(reason, ENDED), { state: 'failed', error: reason });
  }
});

test('a message that the relay may have accepted is unknown when the service stops', async () => {
  const unknown = { state: 'unknown', error: 'unknown' };
  assert.deepEqual(await endWhileSending('interrupted', UNCONFIRMED), unknown);
});
