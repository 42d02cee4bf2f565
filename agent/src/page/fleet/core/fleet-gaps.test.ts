import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { createFleet } from './create-fleet.ts';
import { FakeAgent, FakeNetwork } from './fake-network.fixture.ts';
import { kindsOf, live, openFleet, openLive, reasonOf, socketOf } from './live-fleet.fixture.ts';

describe('a gap', () => {
  test('no answer since, within 3 s, and back with the next message', async () => {
    const { network, machine, socket, agent, fleet } = await openLive();
    const since = network.nowMs;
    await network.advance(2500);
    assert.equal(reasonOf(machine), 'live');
    await network.advance(500);
    assert.deepEqual(machine.state, { kind: 'gap', reason: 'no_answer', since });
    assert.deepEqual(fleet.events[0]?.what, machine.state);
    socket.send(agent.points([[network.nowMs, 7]]));
    assert.equal(reasonOf(machine), 'live');
    assert.deepEqual(kindsOf(fleet), ['no_answer', 'back']);
  });

  test('no answer from the beginning, within 3 s', async () => {
    const { network, machine, fleet } = openFleet();
    socketOf(network).isHanging = true;
    const since = network.nowMs;
    await network.advance(3000);
    assert.deepEqual(machine.state, { kind: 'gap', reason: 'no_answer', since });
    assert.deepEqual(kindsOf(fleet), []);
  });

  test('an agent that sends four points every four seconds is not silent', async () => {
    const { network, machine, socket, agent } = await openLive(1);
    const sendFour = (): void => {
      const points = [3, 2, 1, 0].map((ago) => [network.nowMs - ago * 1000, 1] as const);
      socket.send(agent.points(points));
    };
    for (const waitMs of [1000, 2000, 3000]) {
      await network.advance(Math.min(waitMs, 2400));
      sendFour();
    }
    for (let at = 0; at < 5; at += 1) {
      await network.advance(4900);
      assert.equal(reasonOf(machine), 'live');
      sendFour();
    }
    await network.advance(5750);
    assert.equal(reasonOf(machine), 'no_answer');
  });

  test('a machine without power is given up after 10 s, and retried', async () => {
    const { network, machine, socket } = await openLive();
    await network.advance(10_500);
    assert.equal(socket.isOpen, false);
    await network.advance(1000);
    assert.deepEqual([network.sockets.length, reasonOf(machine)], [2, 'no_answer']);
    socketOf(network).finish();
    await network.advance(0);
    assert.equal(reasonOf(machine), 'unreachable');
  });

  test('a lost connection that is opened again at once is none', async () => {
    const { network, machine, socket, agent, fleet } = await openLive(12);
    socket.finish(1006);
    await network.advance(600);
    assert.deepEqual([network.sockets.length, reasonOf(machine)], [2, 'live']);
    const { nowMs } = network;
    const missed = [2, 1, 0].map((ago) => [nowMs - 600 - ago * 1000, nowMs / 1000] as const);
    socketOf(network).send(agent.hello(missed));
    await live(network, 2, agent);
    await network.advance(1000);
    const loads = Array.from(machine.history.columns.load_1m.subarray(-12));
    assert.ok(!loads.some(Number.isNaN), String(loads));
    assert.deepEqual(kindsOf(fleet), []);
  });

  test('the agent’s own reasons are kept before vaguer ones', async () => {
    const { network, machine, socket, fleet } = await openLive();
    const since = network.nowMs;
    const detail = 'The agent stops.';
    socket.finish(1001, detail);
    const stopped = { kind: 'gap', reason: 'stopped', since, detail };
    assert.deepEqual(machine.state, stopped);
    network.onSocket = (each) => queueMicrotask(() => each.finish());
    await network.advance(20_000);
    assert.ok(network.requests.length > 2);
    assert.deepEqual(machine.state, stopped);
    assert.deepEqual(kindsOf(fleet), ['stopped']);
  });

  test('a token that was taken away: the sentence at once, then the reason', async () => {
    const { network, machine, socket, fleet } = await openLive();
    const since = network.nowMs;
    const detail = 'The access token is not known.';
    network.answer = async () => ({ status: 401, text: async () => `${detail}\n` });
    network.onSocket = (each) => queueMicrotask(() => each.finish());
    socket.finish(1008, detail);
    assert.deepEqual(machine.state, { kind: 'gap', reason: 'refused', since, detail });
    await network.advance(1000);
    assert.deepEqual(machine.state, { kind: 'gap', reason: 'token', since, detail });
    assert.deepEqual(kindsOf(fleet), ['token']);
    fleet.setToken('m0', 'another-token');
    assert.equal(socketOf(network).protocols[1], 'latchkey.token.another-token');
    await network.advance(1000);
    const attempts = network.sockets.length;
    fleet.setToken('m0', 'another-token');
    assert.equal(network.sockets.length, attempts + 1, 'entered again, connects again');
  });

  test('a proxy without WebSockets: the agent is ready twice, but the handshake fails', async () => {
    const { network, machine } = openFleet();
    network.answer = async () => ({ status: 200, text: async () => 'OK' });
    network.onSocket = (each) => queueMicrotask(() => each.finish());
    socketOf(network).finish();
    await network.advance(100);
    assert.equal(reasonOf(machine), 'first_answer');
    await network.advance(900);
    assert.equal(reasonOf(machine), 'no_upgrade');
  });

  test('an address that is no host is not connected to', async () => {
    const list = [{ id: 'a', name: 'a', address: 'user@db-1', labels: [] }];
    const network = new FakeNetwork();
    const [machine = assert.fail()] = createFleet(network.createOptions(list)).machines;
    await network.advance(100);
    assert.deepEqual([network.sockets.length, network.requests.length], [0, 0]);
    assert.equal(reasonOf(machine), 'unreachable');
  });

  test('a socket that the browser forbids is one more reason to ask why', async () => {
    class Forbidden {
      constructor() {
        throw new DOMException('insecure', 'SecurityError');
      }
      addEventListener(): void {
        assert.fail();
      }
      close(): void {
        assert.fail();
      }
    }
    const { network, machine } = openFleet(1, { WebSocket: Forbidden });
    await network.advance(100);
    assert.deepEqual([reasonOf(machine), network.requests.length], ['unreachable', 2]);
  });
});

describe('retries', () => {
  test('back off to 30 s, with at most two requests after each attempt', async () => {
    const { network } = openFleet();
    network.onSocket = (each) => queueMicrotask(() => each.finish());
    socketOf(network).finish();
    await network.advance(60_000);
    assert.equal(network.sockets.length, 18);
    assert.equal(network.requests.length, 2 * network.sockets.length);
    await network.advance(600_000);
    assert.ok(network.sockets.length <= 18 + 600 / 15, `${network.sockets.length} attempts`);
  });

  test('are slow for what waits for a person', async () => {
    const { network } = openFleet();
    network.answer = async () => ({
      status: 401,
      text: async () => 'The access token is not known.',
    });
    network.onSocket = (each) => queueMicrotask(() => each.finish());
    socketOf(network).finish();
    await network.advance(60_000);
    assert.equal(network.sockets.length, 5);
  });

  test('do not follow from a diagnosis that ends after a pause', async () => {
    const { network, machine, fleet } = openFleet();
    network.answer = async () => Promise.withResolvers<never>().promise;
    socketOf(network).finish();
    await network.advance(100);
    fleet.pause();
    await network.advance(60_000);
    assert.deepEqual([reasonOf(machine), network.sockets.length, network.timers], ['paused', 1, 0]);
  });

  test('are quick once, also for an agent that drops each connection', async () => {
    const { network } = openFleet();
    network.onSocket = (each) =>
      queueMicrotask(() => {
        each.send(new FakeAgent().hello([]));
        each.finish();
      });
    socketOf(network).finish();
    await network.advance(60_000);
    assert.ok(network.sockets.length <= 18, `${network.sockets.length} attempts`);
  });

  test('begin at once when asked, in place of a silent connection, but not of another', async () => {
    const { network, machine, fleet, socket, agent } = await openLive();
    fleet.retry('m0');
    await network.advance(2000);
    assert.deepEqual([network.sockets.length, reasonOf(machine)], [1, 'live']);
    await network.advance(1000);
    assert.equal(reasonOf(machine), 'no_answer');
    for (let at = 0; at < 5; at += 1) fleet.retry('m0');
    await network.advance(500);
    assert.deepEqual([network.sockets.length, socket.isOpen], [2, false]);
    fleet.retry('m0');
    await network.advance(500);
    assert.equal(network.openSockets.length, 1);
    assert.equal(network.sockets.length, 2);
    socketOf(network).send(agent.hello([]));
    assert.equal(reasonOf(machine), 'live');
  });

  test('begin at once when asked, and never twice', async () => {
    const { network, fleet } = openFleet();
    network.onSocket = (each) => queueMicrotask(() => each.finish());
    socketOf(network).finish();
    await network.advance(60_000);
    const before = network.sockets.length;
    network.onSocket = () => undefined;
    for (let at = 0; at < 5; at += 1) fleet.retry('m0');
    await network.advance(100);
    assert.equal(network.sockets.length, before + 1);
    assert.equal(network.openSockets.length, 1);
  });
});
