/**
 * A stranger with little bandwidth cannot keep the service busy: 51 compressed bodies of two kilobytes, of 2 MiB of brackets each,
 * once delayed all others by 15 seconds.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { anyAddress } from '../http-client.ts';
import { startServiceThread } from '../service-thread.ts';
import { TEST_START } from '../test-clock.ts';

const MAX_BYTES = 2 * 1024 * 1024;

const service = await startServiceThread();
after(() => service[Symbol.asyncDispose]());

const HEAD = `{"install_id":"${randomUUID()}","session_id":"${randomUUID()}","app_version":"1","events":`;

/** Texts with many values: the inside is repeated until the text is as long as allowed. */
const SHAPES = {
  'nested arrays': repeat(HEAD, '[', MAX_BYTES / 2, ']'),
  'nested objects': repeat(HEAD, '{"a":', MAX_BYTES / 2, '}'),
  'many numbers': `${repeat(`${HEAD}[`, '0,', MAX_BYTES)}0]}`,
  'many objects': `${repeat(`${HEAD}[`, '{},', MAX_BYTES)}{}]}`,
  'one long text': `${repeat(`${HEAD}"`, 'a', MAX_BYTES)}"}`,
} as const;

function repeat(head: string, unit: string, bytes: number, end = ''): string {
  const times = Math.floor((bytes - head.length - 100) / unit.length);
  return `${head}${unit.repeat(times)}${end.repeat(times)}`;
}

async function post(body: string | Buffer): Promise<{ status: number; text: string }> {
  const response = await fetch(`${service.url}/api/v1/events`, {
    method: 'POST',
    body: Buffer.from(body),
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': anyAddress(),
      ...(typeof body === 'string' ? {} : { 'content-encoding': 'gzip' }),
    },
  });
  return { status: response.status, text: await response.text() };
}

const REQUESTS = 20;

/** In processor time of the service's thread, which does not depend on other programs: 2 to 6 ms each, and before 30 to 130 ms. */
const MAX_TOTAL_MS = 400;

describe('a small compressed body takes no more time than other requests', () => {
  for (const [name, text] of Object.entries(SHAPES)) {
    test(name, async () => {
      const body = gzipSync(text);
      assert.ok(body.length < 8_000, `${body.length} bytes`);
      const before = await service.readProcessorMs();
      for (let count = 0; count < REQUESTS; count++) {
        assert.ok([413, 422].includes((await post(body)).status));
      }
      const total = (await service.readProcessorMs()) - before;
      assert.ok(total < MAX_TOTAL_MS, `${REQUESTS} requests took ${Math.round(total)} ms`);
    });
  }
});

test('rejects bodies with too many values, compressed or not', async () => {
  const small = repeat(HEAD, '[', 100_000, ']');
  for (const body of [SHAPES['many objects'], SHAPES['nested arrays'], small, gzipSync(small)]) {
    const { status, text } = await post(body);
    assert.equal(status, 422);
    assert.match(text, /"JSON decode error: it (?:is nested deeper|has more) than/u);
  }
});

test('accepts a compressed batch of 500 events with one long text', async () => {
  const props = { report: 'at main.c:12 in run() '.repeat(40), trace: 'x'.repeat(1_000) };
  const events = Array.from({ length: 500 }, () => ({
    event_id: randomUUID(),
    name: 'crashed',
    occurred_at: TEST_START.toISOString(),
    props,
  }));
  const text = `${HEAD}${JSON.stringify(events)}}`;
  assert.ok(text.length > 1_000_000);
  const answer = await post(gzipSync(text));
  assert.deepEqual(answer, { status: 200, text: '{"accepted":500,"dropped":0}' });
});
