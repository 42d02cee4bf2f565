import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, describe, test } from 'node:test';

import {
  AgentHello,
  AgentOtlpRequest,
  AgentSnapshotMessage,
  AgentVectorEvent,
} from '@latchkey/contract';
import { Value } from 'typebox/value';

import { lacksOpenssl, CertificateFixture } from '../../test/certificates.ts';
import { exampleHost, exampleSnapshot } from '../../test/example-snapshot.ts';
import {
  sendRequest,
  connect,
  openStream,
  TestClock,
  TestSampler,
} from '../../test/stream-harness.ts';
import { until } from '../../test/wait.ts';
import { toVectorEvents } from '../formats/vector.ts';
import { readTlsMaterial } from '../tls/tls-files.ts';
import { version } from '../version.ts';
import { Hub } from './hub.ts';

describe('the stream', { skip: lacksOpenssl }, () => {
  const fixture = new CertificateFixture();
  after(() => fixture[Symbol.dispose]());
  const tls = readTlsMaterial({ ...fixture.createRoot('root').issueServer(), clients: null });

  test('sends a hello with host and history, then each snapshot', async () => {
    await using stream = await openStream({ tls });
    stream.hub.tick();
    const viewer = await connect(stream.port);
    stream.hub.tick();
    const [hello = '', snapshot = ''] = await viewer.receive(2);
    assert.deepEqual([...Value.Errors(AgentHello, JSON.parse(hello))], []);
    assert.deepEqual(JSON.parse(hello), {
      type: 'hello',
      schema_version: 1,
      agent_version: version,
      interval_seconds: 1,
      host: exampleHost,
      history: [
        {
          time: '1970-01-01T00:00:00.001Z',
          cpu_usage_ratio: 0.25,
          load_1m: 0.5,
          memory_usage_ratio: 0.375,
          disk_read_bytes_per_second: 512,
          disk_write_bytes_per_second: 1024,
          receive_bytes_per_second: 2048,
          transmit_bytes_per_second: 4096,
        },
      ],
    });
    assert.deepEqual([...Value.Errors(AgentSnapshotMessage, JSON.parse(snapshot))], []);
    const time = '1970-01-01T00:00:00.002Z';
    assert.deepEqual(JSON.parse(snapshot), {
      type: 'snapshot',
      snapshot: { ...exampleSnapshot, time },
    });
    assert.equal(viewer.socket.protocol, '');
  });

  test('keeps five minutes of history', async () => {
    await using stream = await openStream({ tls });
    for (let tick = 0; tick < 1000; tick += 1) stream.hub.tick();
    const viewer = await connect(stream.port, ['latchkey.snapshot.v1']);
    const { history } = JSON.parse((await viewer.receive(1))[0] ?? '');
    assert.equal(history.length, 300);
    assert.equal(history[0].time, new Date(701).toISOString());
    assert.equal(viewer.socket.protocol, 'latchkey.snapshot.v1');
  });

  test('collects only the parts of the history without viewers, and wakes the rest for the first viewer', async () => {
    await using stream = await openStream({ tls });
    const { sampler, hub, clock } = stream;
    hub.tick();
    assert.deepEqual(
      [...(sampler.requests[0] ?? [])],
      ['cpu', 'load', 'memory', 'disks', 'network'],
    );
    const first = await connect(stream.port);
    await connect(stream.port);
    assert.deepEqual([sampler.wakes.length, sampler.requests.length], [1, 1]);
    clock.ms += 1000;
    hub.tick();
    assert.deepEqual(sampler.requests.slice(1), [undefined]);
    await first.receive(2);
  });

  test('sends one event per message in latchkey.vector.v1', async () => {
    await using stream = await openStream({ tls });
    const viewer = await connect(stream.port, ['latchkey.vector.v1']);
    stream.hub.tick();
    const expected = toVectorEvents(
      { ...exampleSnapshot, time: '1970-01-01T00:00:00.001Z' },
      exampleHost,
    );
    const messages = await viewer.receive(expected.length);
    assert.deepEqual(
      messages.map((each): unknown => JSON.parse(each)),
      expected,
    );
    assert.ok(Value.Check(AgentVectorEvent, JSON.parse(messages[0] ?? '')));
    assert.equal(viewer.socket.protocol, 'latchkey.vector.v1');
  });

  test('sends one request per message in latchkey.otlp-json.v1', async () => {
    await using stream = await openStream({ tls });
    const viewer = await connect(stream.port, ['latchkey.otlp-json.v1']);
    stream.hub.tick();
    const [message = ''] = await viewer.receive(1);
    assert.ok(Value.Check(AgentOtlpRequest, JSON.parse(message)));
    assert.equal(viewer.socket.protocol, 'latchkey.otlp-json.v1');
  });

  test('selects the first known subprotocol, and rejects unknown ones', async () => {
    await using stream = await openStream({ tls });
    const viewer = await connect(stream.port, [
      'graphql-ws',
      'latchkey.vector.v1',
      'latchkey.snapshot.v1',
    ]);
    assert.equal(viewer.socket.protocol, 'latchkey.vector.v1');
    await assert.rejects(connect(stream.port, ['graphql-ws']), {
      message:
        '400 None of the subprotocols offered is known here: offer one of latchkey.snapshot.v1, latchkey.vector.v1, latchkey.otlp-json.v1, latchkey.brief.v1, or none.',
    });
  });

  test('serialises a snapshot once per subprotocol', async () => {
    await using stream = await openStream({ tls });
    let serialised = 0;
    const counted = { toJSON: () => ((serialised += 1), 5) };
    Object.assign(stream.sampler.extra, { uptime_seconds: counted });
    const viewers = await Promise.all(Array.from({ length: 5 }, async () => connect(stream.port)));
    stream.hub.tick();
    for (const viewer of viewers) await viewer.receive(2);
    assert.equal(serialised, 1);
  });

  test('reads the boot time again after the clock was set', async () => {
    await using stream = await openStream({ tls });
    const { hub, clock, sampler } = stream;
    const vector = await connect(stream.port, ['latchkey.vector.v1']);
    const bootTime = () =>
      vector.messages
        .map((each): { name: string; gauge?: { value: number } } => JSON.parse(each))
        .findLast(({ name }) => name === 'boot_time')?.gauge?.value;
    sampler.host = { boot_time: '2027-03-01T00:00:00Z' };
    clock.ms += 1000;
    hub.tick();
    await until(() => bootTime() !== undefined);
    assert.equal(bootTime(), Date.parse(exampleHost.boot_time ?? '') / 1000);
    clock.ms += 1000;
    clock.leapMs = 8_000_000_000;
    hub.tick();
    await until(() => bootTime() === Date.parse('2027-03-01T00:00:00Z') / 1000);
    const viewer = await connect(stream.port);
    const [hello = ''] = await viewer.receive(1);
    assert.equal(JSON.parse(hello).host.boot_time, '2027-03-01T00:00:00Z');
  });

  test('continues when the host cannot be read after the clock was set', () => {
    const clock = new TestClock();
    const sampler = new TestSampler();
    let asked = 0;
    const readHost = (): typeof exampleHost => {
      asked += 1;
      if (asked === 2) throw new Error('EMFILE');
      return exampleHost;
    };
    const hub = new Hub({ sampler, readHost, clock, intervalSeconds: 1 });
    clock.leapMs = 60_000;
    for (let tick = 0; tick < 3; tick += 1) hub.tick();
    assert.deepEqual([asked, sampler.requests.length], [3, 3]);
  });

  test('sends every snapshot in order to 200 viewers', async () => {
    await using stream = await openStream({ tls });
    const viewers = await Promise.all(
      Array.from({ length: 200 }, async () => connect(stream.port)),
    );
    for (let tick = 0; tick < 10; tick += 1) stream.hub.tick();
    for (const viewer of viewers) {
      const times = (await viewer.receive(11))
        .slice(1)
        .map((each) => JSON.parse(each).snapshot.time);
      assert.deepEqual(
        times,
        Array.from({ length: 10 }, (_, at) => new Date(at + 1).toISOString()),
      );
    }
  });

  test('drops a viewer that did not answer a ping', async () => {
    await using stream = await openStream({ tls });
    const well = await connect(stream.port);
    const silent = await connect(stream.port, [], { autoPong: false });
    const pinged = new Promise((resolve) => well.socket.once('ping', resolve));
    stream.hub.ping(Buffer.from('first'));
    await pinged;
    // After this answer, the pong has been read.
    well.socket.ping();
    await once(well.socket, 'pong');
    stream.hub.ping(Buffer.from('second'));
    assert.equal((await silent.closed).code, 1006);
    assert.equal(stream.hub.viewers.size, 1);
    assert.deepEqual(stream.warnings, ['stream.viewer_dropped: it did not answer a ping']);
  });

  test('answers OK on /health, the page on /, and 404 elsewhere', async () => {
    await using stream = await openStream({ tls });
    const plain = 'text/plain; charset=utf-8';
    assert.deepEqual(await sendRequest(stream.port, '/health?x=1'), {
      status: 200,
      type: plain,
      text: 'OK\n',
    });
    assert.deepEqual(await sendRequest(stream.port, '/favicon.ico'), {
      status: 404,
      type: plain,
      text: 'There is nothing here.\n',
    });
    for (const path of ['/', '/health']) {
      assert.equal((await sendRequest(stream.port, path, { method: 'POST' })).status, 405);
    }
  });

  test('closes its viewers and stops within two seconds', async () => {
    const stream = await openStream({ tls });
    const viewer = await connect(stream.port);
    const startedAtMs = performance.now();
    await stream.server.close();
    assert.ok(performance.now() - startedAtMs < 2000);
    assert.deepEqual(await viewer.closed, { code: 1001, reason: 'The agent stops.' });
  });
});
