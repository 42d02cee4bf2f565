import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { MAX_EVENTS, type EventIn } from '@latchkey/contract';

import { anyAddress, type Answer } from '../http-client.ts';
import { activate } from '../license-steps.ts';
import { DAY_MS, fromStart, HOUR_MS, TEST_START } from '../test-clock.ts';
import { inProcess, openAcceptanceService } from './acceptance-service.ts';
import { validationErrorsOf, problem } from './bodies.ts';

const PATH = '/api/v1/events';
const MAX_BODY_BYTES = 2 * 1024 * 1024;
const MINUTE_MS = 60_000;

const service = await openAcceptanceService();

function anyEvent(more: Partial<EventIn> = {}): EventIn {
  return { event_id: randomUUID(), name: 'app_started', occurred_at: fromStart(0), ...more };
}

function anyEvents(count: number): EventIn[] {
  return Array.from({ length: count }, () => anyEvent());
}

function batchOf(events: readonly unknown[], more: Readonly<Record<string, unknown>> = {}) {
  return {
    install_id: randomUUID(),
    session_id: randomUUID(),
    app_version: '2.4.0',
    os_version: '15.1',
    events,
    ...more,
  };
}

async function ingest(events: readonly unknown[], more: Readonly<Record<string, unknown>> = {}) {
  return service.post(PATH, batchOf(events, more));
}

function readResult(answer: Answer) {
  return [answer.status, answer.body, answer.headers.get('x-events-dropped')];
}

async function readStored(eventId: string): Promise<Record<string, unknown> | undefined> {
  const { rows } = await service.own.pool.query('select * from events where event_id = $1', [
    eventId,
  ]);
  return rows[0];
}

/** Returns the corrected time and the client's time of an event. */
async function readTimes({ event_id: eventId }: EventIn): Promise<unknown[]> {
  const stored = await readStored(eventId);
  return [stored?.['occurred_at'], stored?.['client_occurred_at']];
}

describe('200', () => {
  test('stores the fields of events unchanged', inProcess, async () => {
    const event = anyEvent({ props: { plan: 'pro', '': '' } });
    const batch = batchOf([event, anyEvent({ props: null }), anyEvent({ props: {} })]);
    const answer = await service.post(PATH, batch);
    assert.deepEqual(readResult(answer), [200, { accepted: 3, dropped: 0 }, null]);
    assert.deepEqual(await readStored(event.event_id), {
      event_id: event.event_id,
      received_at: TEST_START,
      install_id: batch.install_id,
      session_id: batch.session_id,
      name: 'app_started',
      occurred_at: TEST_START,
      client_occurred_at: null,
      app_version: '2.4.0',
      os_version: '15.1',
      props: { plan: 'pro', '': '' },
    });
  });

  test('reports all events of a repeated batch as dropped, and stores none', async () => {
    const batch = batchOf(anyEvents(3));
    await service.post(PATH, batch);
    const again = await service.post(PATH, batch);
    assert.deepEqual(readResult(again), [200, { accepted: 0, dropped: 3 }, 'duplicate=3']);
  });

  test('stores an event once that a batch contains twice, in any case of its id', async () => {
    const event = anyEvent();
    const shouted = { ...event, event_id: event.event_id.toUpperCase() };
    const answer = await ingest([event, shouted, anyEvent()]);
    assert.deepEqual(readResult(answer), [200, { accepted: 2, dropped: 1 }, 'duplicate=1']);
  });

  test('accepts 500 events, also when some of them are known', async () => {
    const known = anyEvents(120);
    await ingest(known);
    const answer = await ingest([...anyEvents(MAX_EVENTS - 120), ...known]);
    assert.deepEqual(readResult(answer), [200, { accepted: 380, dropped: 120 }, 'duplicate=120']);
  });

  test('drops invalid events with their reasons, and stores the others', async () => {
    const props = Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`k${index}`, 'v']));
    const good = anyEvent({ name: '🙂'.repeat(120) });
    const answer = await ingest([
      good,
      good,
      anyEvent({ name: '' }),
      anyEvent({ name: 'a\nb' }),
      anyEvent({ name: 'x'.repeat(121) }),
      anyEvent({ props }),
      anyEvent({ props: { ['k'.repeat(65)]: 'v' } }),
      anyEvent({ event_id: '00000000-0000-0000-0000-000000000000' }),
    ]);
    const reasons = 'event_id=1,name=3,props=2,duplicate=1';
    assert.deepEqual(readResult(answer), [200, { accepted: 1, dropped: 7 }, reasons]);
  });

  test('cuts long values and versions', inProcess, async () => {
    const emoji = `${'y'.repeat(1_023)}🙂`;
    const event = anyEvent({ props: { long: 'x'.repeat(1_025), emoji: `${emoji}🙂` } });
    await ingest([event], { app_version: 'v'.repeat(65), os_version: 'w'.repeat(129) });
    const stored = await readStored(event.event_id);
    assert.deepEqual(stored?.['props'], { long: 'x'.repeat(1_024), emoji });
    assert.deepEqual(
      [stored?.['app_version'], stored?.['os_version']],
      ['v'.repeat(64), 'w'.repeat(128)],
    );
  });

  test(
    'corrects the times of a client whose clock is ahead, and keeps the original times',
    inProcess,
    async () => {
      const newest = anyEvent({ occurred_at: fromStart(2 * HOUR_MS) });
      const older = anyEvent({ occurred_at: fromStart(HOUR_MS) });
      await ingest([older, newest]);
      assert.deepEqual(await readTimes(newest), [TEST_START, new Date(fromStart(2 * HOUR_MS))]);
      assert.deepEqual(await readTimes(older), [
        new Date(fromStart(-HOUR_MS)),
        new Date(fromStart(HOUR_MS)),
      ]);
    },
  );

  test(
    'replaces a time more than a day ahead by the present one, and keeps past times',
    inProcess,
    async () => {
      const far = anyEvent({ occurred_at: '9999-12-31T23:59:59Z' });
      const old = anyEvent({ occurred_at: '0001-01-01T00:00:00Z' });
      const near = anyEvent({ occurred_at: fromStart(5 * MINUTE_MS) });
      await ingest([far, old, near]);
      assert.deepEqual((await readStored(far.event_id))?.['occurred_at'], TEST_START);
      assert.deepEqual(
        (await readStored(near.event_id))?.['occurred_at'],
        new Date(fromStart(5 * MINUTE_MS)),
      );
      assert.deepEqual(
        (await readStored(old.event_id))?.['occurred_at'],
        new Date('0001-01-01T00:00:00.000Z'),
      );
    },
  );

  test('creates the missing partition of a day', inProcess, async () => {
    service.own.clock.advance(400 * DAY_MS);
    const [first, second] = await Promise.all([ingest([anyEvent()]), ingest(anyEvents(60))]);
    assert.deepEqual(
      [first.body, second.body],
      [
        { accepted: 1, dropped: 0 },
        { accepted: 60, dropped: 0 },
      ],
    );
  });

  test(
    'stores no events of an install that does not share usage data, until it shares again',
    inProcess,
    async () => {
      const { licenseKey } = await service.own.issue();
      const installId = randomUUID();
      const { activation_id } = await activate(service, licenseKey, { machine_id: 'm' });
      const share = (usage_sharing: boolean | null) =>
        service.post('/api/v1/licenses/validate', {
          license_key: licenseKey,
          activation_id,
          machine_id: 'm',
          install_id: installId,
          usage_sharing,
        });
      const send = async () => readResult(await ingest(anyEvents(2), { install_id: installId }));
      assert.deepEqual(await send(), [200, { accepted: 2, dropped: 0 }, null]);
      await share(false);
      assert.deepEqual(await send(), [200, { accepted: 0, dropped: 2 }, 'sharing_off=2']);
      await share(null);
      assert.deepEqual(await send(), [200, { accepted: 0, dropped: 2 }, 'sharing_off=2']);
      await share(true);
      assert.deepEqual(await send(), [200, { accepted: 2, dropped: 0 }, null]);
    },
  );

  test('applies the newest sharing report of an install, not that of its earlier trial', async () => {
    const installId = randomUUID();
    const machines = ['the trial', 'the license'];
    const activations = await Promise.all(
      machines.map(async (machine_id) => {
        const { licenseKey } = await service.own.issue();
        const { activation_id } = await activate(service, licenseKey, { machine_id });
        return { license_key: licenseKey, activation_id, machine_id, install_id: installId };
      }),
    );
    const share = async (index: number, usage_sharing?: boolean) => {
      const body = {
        ...activations[index],
        ...(usage_sharing === undefined ? {} : { usage_sharing }),
      };
      assert.equal((await service.post('/api/v1/licenses/validate', body)).status, 200);
      service.own.clock.advance(1);
    };
    const send = async () => readResult(await ingest(anyEvents(1), { install_id: installId }));
    await share(0, false);
    await share(1, true);
    assert.deepEqual(await send(), [200, { accepted: 1, dropped: 0 }, null]);
    await share(0);
    assert.deepEqual(await send(), [200, { accepted: 1, dropped: 0 }, null]);
    await share(0, false);
    assert.deepEqual(await send(), [200, { accepted: 0, dropped: 1 }, 'sharing_off=1']);
    await share(1, true);
    assert.deepEqual(await send(), [200, { accepted: 1, dropped: 0 }, null]);
    await share(1, false);
    assert.deepEqual(await send(), [200, { accepted: 0, dropped: 1 }, 'sharing_off=1']);
  });

  test('reads a body compressed with gzip', async () => {
    const body = gzipSync(JSON.stringify(batchOf(anyEvents(100))));
    const answer = await sendCompressed(body, 'gzip');
    assert.deepEqual(readResult(answer), [200, { accepted: 100, dropped: 0 }, null]);
  });

  test('stores a batch once that is sent twenty times concurrently', async () => {
    for (const size of [5, 100]) {
      const batch = batchOf(anyEvents(size));
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => service.post(PATH, batch)),
      );
      const accepted = answers.map(({ body }) => Number(Object.values(Object(body))[0]));
      assert.equal(
        accepted.reduce((sum, count) => sum + count, 0),
        size,
      );
    }
  });

  test('allows a page of another origin to read the drop reasons', async () => {
    const batch = batchOf([anyEvent({ name: '' })]);
    const answer = await service.post(PATH, batch, { origin: 'https://app.example.com' });
    assert.equal(answer.headers.get('x-events-dropped'), 'name=1');
    assert.match(answer.headers.get('access-control-expose-headers') ?? '', /X-Events-Dropped/);
  });

  test('reports the rate limit in every response', async () => {
    const answer = await ingest([anyEvent()]);
    assert.equal(answer.headers.get('ratelimit-policy'), '"events";q=300;w=3');
    assert.equal(answer.headers.get('ratelimit'), '"events";r=299;t=1');
  });
});

function sendCompressed(body: Buffer, encoding: string): Promise<Answer> {
  return service.send('POST', PATH, {
    body: new Uint8Array(body),
    headers: { 'content-type': 'application/json', 'content-encoding': encoding },
  });
}

describe('503', () => {
  test(
    'rejects a batch whose partition cannot be created with Retry-After, and logs the cause',
    inProcess,
    async () => {
      const { clock, log, pool } = service.own;
      const before = clock.now();
      clock.set(new Date('2040-01-01T12:00:00Z'));
      await pool.query('create table events_2040_01_01 ()');
      const batch = batchOf([anyEvent()]);
      const answer = await service.post(PATH, batch);
      assert.deepEqual([answer.status, answer.body], [503, problem('database_unavailable')]);
      assert.ok(
        log.some((line) => line.includes('could not create the event partition of 2040-01-01')),
      );
      await pool.query('drop table events_2040_01_01');
      assert.deepEqual((await service.post(PATH, batch)).body, { accepted: 1, dropped: 0 });
      clock.set(before);
    },
  );
});

describe('400', () => {
  test('rejects an invalid gzip body', async () => {
    const whole = gzipSync(JSON.stringify(batchOf(anyEvents(3))));
    for (const body of [Buffer.from('{}'), whole.subarray(0, -9)]) {
      const answer = await sendCompressed(body, 'gzip');
      assert.deepEqual([answer.status, answer.body], [400, problem('invalid_encoding')]);
    }
  });
});

describe('413', () => {
  test('parses a body of 2 MiB and rejects a larger one', async () => {
    const longest = `"${'x'.repeat(MAX_BODY_BYTES - 2)}"`;
    assert.equal((await service.post(PATH, longest)).status, 422);
    const answer = await service.post(PATH, `${longest} `);
    assert.deepEqual([answer.status, answer.body], [413, problem('payload_too_large')]);
  });

  test('stops inflating a body that exceeds the limit', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '));
    const answer = await sendCompressed(bomb, 'gzip');
    assert.deepEqual([answer.status, answer.body], [413, problem('payload_too_large')]);
  });
});

describe('415', () => {
  test('rejects other encodings and lists the supported ones', async () => {
    const answer = await sendCompressed(Buffer.from('{}'), 'br');
    assert.equal(answer.status, 415);
    assert.equal(answer.headers.get('accept-encoding'), 'gzip, identity');
  });

  test('rejects a body that is not JSON, compressed or not', async () => {
    const answer = await service.post(PATH, 'a=b', { 'content-type': 'text/plain' });
    assert.deepEqual([answer.status, answer.body], [415, problem('unsupported_media_type')]);
  });
});

describe('422', () => {
  test('rejects 0 and 501 events, and stores none', async () => {
    const counts = [0, MAX_EVENTS + 1];
    const answers = await Promise.all(counts.map((count) => ingest(anyEvents(count))));
    assert.deepEqual(
      answers.map(({ status, body }) => [status, validationErrorsOf(body)]),
      [
        [422, [['body.events', 'too_short']]],
        [422, [['body.events', 'too_long']]],
      ],
    );
  });

  test('rejects invalid ids, times and values', async () => {
    const answer = await ingest(
      [
        { event_id: 'x', name: 'n', occurred_at: '2027-03-01' },
        { event_id: randomUUID(), name: 'n', occurred_at: fromStart(0), props: { a: 1 } },
        { name: 7 },
      ],
      { install_id: 'x' },
    );
    assert.equal(answer.status, 422);
    const faults = validationErrorsOf(answer.body)
      .map(([place, type]) => `${place} ${type}`)
      .sort();
    assert.deepEqual(faults, [
      'body.events.0.event_id uuid_parsing',
      'body.events.0.occurred_at datetime_from_date_parsing',
      'body.events.1.props.a string_type',
      'body.events.2.event_id missing',
      'body.events.2.name string_type',
      'body.events.2.occurred_at missing',
      'body.install_id uuid_parsing',
    ]);
  });
});

/** Sends an empty request, which the rate limit by address precedes. */
function sendNothing(from: string): Promise<Answer> {
  return service.post(PATH, '', { 'x-forwarded-for': from });
}

describe('429', () => {
  test('limits one address before its body is read, and no other address', async () => {
    const address = anyAddress();
    const statuses: number[] = [];
    for (let round = 0; round < 320; round++) statuses.push((await sendNothing(address)).status);
    assert.deepEqual(new Set(statuses.slice(0, 300)), new Set([422]));
    const refused = await sendNothing(address);
    assert.deepEqual([refused.status, refused.body], [429, problem('rate_limited')]);
    assert.equal(refused.headers.get('retry-after'), '1');
    assert.equal(refused.headers.get('ratelimit'), '"events";r=0;t=3');
    assert.equal((await sendNothing(anyAddress())).status, 422);
  });
});
