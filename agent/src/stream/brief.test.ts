import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';

import { AgentBriefHello, AgentBriefPoints, AgentHistoryPoint } from '@latchkey/contract';
import { Value } from 'typebox/value';

import { CertificateFixture, lacksOpenssl } from '../../test/certificates.ts';
import { exampleHost } from '../../test/example-snapshot.ts';
import { connect, openStream } from '../../test/stream-harness.ts';
import { until } from '../../test/wait.ts';
import { readTlsMaterial } from '../tls/tls-files.ts';
import { version } from '../version.ts';
import { BRIEF, BRIEF_PARTS, BriefFeed, MAX_AT_ONCE, toBriefHello } from './brief.ts';

const time = (ms: number): string => new Date(ms).toISOString();
const figures = {
  cpu_usage_ratio: 0.25,
  load_1m: 0.5,
  memory_usage_ratio: 0.375,
  disk_read_bytes_per_second: 512,
  disk_write_bytes_per_second: 1024,
  receive_bytes_per_second: 2048,
  transmit_bytes_per_second: 4096,
};
const stale = { code: 'filesystem_stale', severity: 'error', subject: '/nfs' };

describe(BRIEF, { skip: lacksOpenssl }, () => {
  const fixture = new CertificateFixture();
  after(() => fixture[Symbol.dispose]());
  const tls = readTlsMaterial({ ...fixture.createRoot('root').issueServer(), clients: null });

  test('sends a hello with the history as columns, then points at each tick', async () => {
    await using stream = await openStream({ tls });
    stream.hub.tick();
    stream.hub.tick();
    const viewer = await connect(stream.port, [BRIEF]);
    assert.equal(viewer.socket.protocol, BRIEF);
    stream.hub.tick();
    stream.hub.tick();
    const messages = await viewer.receive(3);
    const [hello, first, second] = messages.map((each): unknown => JSON.parse(each));
    assert.deepEqual([...Value.Errors(AgentBriefHello, hello)], []);
    const history = Object.entries(figures).map(([name, value]) => [name, [value, value]]);
    assert.deepEqual(hello, {
      type: 'hello',
      schema_version: 1,
      agent_version: version,
      agent_started_at: time(stream.clock.ms),
      interval_seconds: 1,
      machine_id: '0123456789abcdef0123456789abcdef',
      host: exampleHost,
      history: { time: [time(1), time(2)], ...Object.fromEntries(history) },
    });
    assert.deepEqual([...Value.Errors(AgentBriefPoints, first)], []);
    assert.deepEqual(first, {
      type: 'points',
      points: [{ time: time(3), ...figures }],
      notices: [{ ...stale, since: time(3) }],
    });
    assert.deepEqual(second, { type: 'points', points: [{ time: time(4), ...figures }] });
  });

  test('sends the present notices to a later viewer, and the next ones to both', async () => {
    await using stream = await openStream({ tls });
    const first = await connect(stream.port, [BRIEF]);
    stream.hub.tick();
    const second = await connect(stream.port, [BRIEF]);
    stream.sampler.extra = { filesystems: [] };
    stream.hub.tick();
    const [hello = '', change = ''] = await second.receive(2);
    assert.deepEqual(JSON.parse(hello).notices, [{ ...stale, since: time(1) }]);
    assert.deepEqual(JSON.parse(change).notices, []);
    assert.deepEqual((await first.receive(3))[2], change);
  });

  test('collects figures and problems only, until a viewer of snapshots connects', async () => {
    await using stream = await openStream({ tls });
    const { sampler, hub, clock } = stream;
    const brief = await connect(stream.port, [BRIEF]);
    hub.tick();
    assert.deepEqual([sampler.requests, sampler.wakes], [[BRIEF_PARTS], []]);
    clock.ms += 5000;
    const whole = await connect(stream.port);
    assert.deepEqual(sampler.wakes, [BRIEF_PARTS]);
    hub.tick();
    assert.equal(sampler.requests[1], undefined);
    assert.equal(JSON.parse((await brief.receive(3))[2] ?? '').type, 'points');
    whole.socket.close();
    await until(() => hub.viewers.size === 1);
    hub.tick();
    assert.equal(sampler.requests[2], BRIEF_PARTS);
  });

  test('encodes a point once for all of its viewers', async () => {
    await using stream = await openStream({ tls });
    let encoded = 0;
    const counted = { toJSON: () => ((encoded += 1), 0.5) };
    const viewers = await Promise.all(
      Array.from({ length: 5 }, async () => connect(stream.port, [BRIEF])),
    );
    Object.assign(stream.sampler.extra, { cpu: { usage_ratio: counted } });
    stream.hub.tick();
    for (const viewer of viewers) await viewer.receive(2);
    assert.equal(encoded, 1);
  });
});

test('a point with long numbers has at most 318 bytes', () => {
  const rate = 123_456_789_012.345;
  const point = Value.Parse(AgentHistoryPoint, {
    time: time(0),
    cpu_usage_ratio: 0.1234,
    load_1m: 1234.56,
    memory_usage_ratio: 0.1234,
    disk_read_bytes_per_second: rate,
    disk_write_bytes_per_second: rate,
    receive_bytes_per_second: rate,
    transmit_bytes_per_second: rate,
  });
  const { length } = JSON.stringify({ type: 'points', points: [point] } satisfies AgentBriefPoints);
  // With the 4 bytes before a message and 4,500 bytes of notices a minute, that is 397 bytes a second.
  assert.ok(length <= 318, `${length} bytes`);
});

test('a column has null where a point lacks the value, and is absent without values', () => {
  const facts = {
    agent_version: version,
    agent_started_at: time(0),
    interval_seconds: 1,
    host: exampleHost,
  };
  const points = [{ time: time(0) }, { time: time(1000), load_1m: 0.5 }];
  const hello = toBriefHello(facts, points);
  assert.deepEqual([...Value.Errors(AgentBriefHello, hello)], []);
  assert.deepEqual(hello.history, { time: [time(0), time(1000)], load_1m: [null, 0.5] });
});

/** Adds viewers to a feed that record their messages. */
function addViewers(feed: BriefFeed, count: number) {
  return Array.from({ length: count }, () => {
    const messages: AgentBriefPoints[] = [];
    const viewer = {
      messages,
      send: (frames: Buffer) =>
        void messages.push(JSON.parse(frames.toString('utf8', frames.indexOf('{"type"')))),
    };
    feed.add(viewer);
    return viewer;
  });
}

function tick(feed: BriefFeed, seconds: number, failed: readonly string[] = []): void {
  const snapshot = { time: time(seconds), units: { failed: [...failed] } };
  feed.tick({ time: time(seconds) }, snapshot, seconds * 1000);
}

function listTimes(messages: readonly AgentBriefPoints[]): number[] {
  return messages.flatMap(({ points }) => points.map((each) => Date.parse(each.time)));
}

describe('a crowd of brief viewers', () => {
  test('gets each point once and the newest notices, in a quarter of the messages', () => {
    const feed = new BriefFeed();
    const viewers = addViewers(feed, 4 * MAX_AT_ONCE);
    for (let second = 1; second <= 8; second += 1) tick(feed, second, second === 5 ? ['a'] : []);
    for (const [index, { messages }] of viewers.entries()) {
      const turn = Math.floor(index / MAX_AT_ONCE) + 1;
      assert.deepEqual(
        messages.map(({ points }) => points.length),
        [turn, 4],
      );
      assert.deepEqual(listTimes(messages), [1, 2, 3, 4, 5, 6, 7, 8].slice(0, 4 + turn));
      // The problem is over when the turn of most comes.
      assert.deepEqual(
        messages.map(({ notices }) => notices?.length),
        [0, turn === 1 ? 1 : 0],
      );
    }
  });

  test('loses no point when it grows and shrinks', () => {
    const feed = new BriefFeed();
    const [early = assert.fail()] = addViewers(feed, 1);
    tick(feed, 1);
    tick(feed, 2);
    const others = addViewers(feed, 3 * MAX_AT_ONCE);
    for (let second = 3; second <= 7; second += 1) {
      tick(feed, second);
      for (const viewer of others.splice(0, 40)) feed.remove(viewer);
    }
    for (const viewer of others.splice(0, 400)) feed.remove(viewer);
    tick(feed, 8);
    tick(feed, 9);
    assert.deepEqual(listTimes(early.messages), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    for (const { messages } of others) assert.deepEqual(listTimes(messages), [3, 4, 5, 6, 7, 8, 9]);
    assert.equal(early.messages.at(-1)?.points.length, 1);
  });

  test('gets a message at least every ten ticks, however many they are', () => {
    const feed = new BriefFeed();
    const viewers = addViewers(feed, 12 * MAX_AT_ONCE);
    for (let second = 1; second <= 20; second += 1) tick(feed, second);
    for (const { messages } of viewers) {
      assert.deepEqual(
        listTimes(messages),
        Array.from({ length: listTimes(messages).length }, (_, at) => at + 1),
      );
      assert.ok(messages.every(({ points }) => points.length <= 10));
    }
  });
});
