import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { createFleet } from './create-fleet.ts';
import { FakeAgent, FakeNetwork, type FakeSocket, listMachines } from './fake-network.fixture.ts';
import { type Fleet, HISTORY_SLOTS, type Machine } from './types.ts';

const full = {
  code: 'filesystem_full',
  severity: 'warning',
  since: '2026-11-21T12:00:00Z',
  subject: '/var',
  ratio: 0.93,
};

/** A fleet of machines whose agents a test plays. */
function openFleet(count = 1, rest: Parameters<FakeNetwork['createOptions']>[1] = {}) {
  const network = new FakeNetwork();
  const fleet = createFleet(network.createOptions(listMachines(count), rest));
  const machine = fleet.machines[0] ?? assert.fail();
  return { network, fleet, machine };
}

function socketOf(network: FakeNetwork, at = -1): FakeSocket {
  return network.sockets.at(at) ?? assert.fail('no socket was opened');
}

/** Sends a point each second. */
async function live(network: FakeNetwork, seconds: number, agent = new FakeAgent()): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    await network.advance(1000);
    const { nowMs } = network;
    for (const socket of network.openSockets) {
      if (!socket.isHanging) socket.send(agent.points([[nowMs, nowMs / 1000]]));
    }
  }
}

/** Connects the first machine, and sends points for some seconds. */
async function openLive(seconds = 1) {
  const opened = openFleet();
  const agent = new FakeAgent();
  socketOf(opened.network).send(agent.hello([[opened.network.nowMs, 1]]));
  await live(opened.network, seconds, agent);
  assert.equal(opened.machine.state.kind, 'live');
  return { ...opened, agent, socket: socketOf(opened.network) };
}

function reasonOf({ state }: Machine): string {
  if (state.kind === 'live') return 'live';
  return state.kind === 'gap' ? state.reason : state.for;
}

function kindsOf({ events }: Fleet): string[] {
  return events.map(({ what }) => (what.kind === 'gap' ? what.reason : what.kind));
}

describe('a connection', () => {
  test('offers the subprotocol and the token', () => {
    const { network } = openFleet(1, { tokens: new Map([['m0', 'a-token']]) });
    const { url, protocols } = socketOf(network);
    assert.equal(url, 'wss://m0.example.com:4096/');
    assert.deepEqual(protocols, ['latchkey.brief.v1', 'latchkey.token.a-token']);
  });

  test('shows facts, figures, history and notices', async () => {
    const { network, machine, fleet } = openFleet();
    assert.equal(reasonOf(machine), 'first_answer');
    const agent = new FakeAgent();
    const { nowMs } = network;
    const past = Array.from({ length: 300 }, (_, at) => [nowMs - (299 - at) * 1000, at] as const);
    socketOf(network).send(agent.hello(past));
    assert.equal(reasonOf(machine), 'live');
    assert.deepEqual([machine.host?.hostname, machine.agentVersion], ['db-1', '1.0.0']);
    assert.deepEqual([machine.notices, machine.latest.load_1m], [null, 299]);
    await network.advance(1000);
    socketOf(network).send(agent.points([[network.nowMs, 300]], { notices: [full] }));
    assert.deepEqual(machine.notices, [full]);
    await network.advance(1000);
    assert.equal(machine.latest.load_1m, 300);
    const { load_1m: loads } = machine.history.columns;
    assert.equal(loads.length, HISTORY_SLOTS);
    assert.deepEqual(Array.from(loads.subarray(-3)), [298, 299, 300]);
    assert.ok(Number.isNaN(machine.history.columns.cpu_usage_ratio.at(-1)));
    assert.deepEqual(kindsOf(fleet), [], 'what is there at first is no change');
  });

  test('ignores points before the hello, and what is not of the protocol', async () => {
    const { network, machine } = openFleet();
    const socket = socketOf(network);
    socket.send(new FakeAgent().points([[network.nowMs, 1]]));
    for (const text of ['', '{', '[]', '{"type":"news"}', '{"type":"hello"}'])
      socket.sendText(text);
    assert.deepEqual([reasonOf(machine), machine.host], ['first_answer', null]);
    socket.send(new FakeAgent().hello([]));
    for (const points of [null, 7, [], [null], [{}], [{ time: 'now' }]]) {
      socket.send({ type: 'points', points });
    }
    assert.deepEqual([reasonOf(machine), machine.latestAt], ['live', null]);
  });
});

describe('a gap', () => {
  test('no answer since, within 3 s, and back with the next message', async () => {
    const { network, machine, socket, agent, fleet } = await openLive();
    const since = network.nowMs;
    await network.advance(2500);
    assert.equal(reasonOf(machine), 'live');
    await network.advance(500);
    assert.deepEqual(machine.state, { kind: 'gap', reason: 'no_answer', since });
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

/** Reconnects to an agent, and returns the machine. */
async function reconnect(after: FakeAgent) {
  const opened = await openLive(12);
  opened.socket.finish();
  await opened.network.advance(600);
  socketOf(opened.network).send(after.hello([[opened.network.nowMs, 1]]));
  return opened;
}

describe('restarts', () => {
  test('a new boot time of a new agent is a reboot', async () => {
    const bootMs = Date.parse('2026-11-21T11:59:30Z');
    const { machine, fleet } = await reconnect(new FakeAgent({ bootMs, startedMs: bootMs + 9000 }));
    assert.equal(machine.rebootedAt, bootMs);
    assert.equal(machine.agentRestartedAt, null);
    assert.deepEqual(kindsOf(fleet), ['rebooted']);
  });

  test('a new agent with the old boot time is a restart of the agent', async () => {
    const startedMs = Date.parse('2026-11-21T11:59:30Z');
    const { machine, fleet } = await reconnect(new FakeAgent({ startedMs }));
    assert.deepEqual([machine.rebootedAt, machine.agentRestartedAt], [null, startedMs]);
    assert.deepEqual(kindsOf(fleet), ['agent_restarted']);
  });

  test('a clock that was set is neither', async () => {
    const { bootMs } = new FakeAgent();
    const aheadMs = 3_600_000;
    const { machine, fleet } = await reconnect(
      new FakeAgent({ aheadMs, bootMs: bootMs + aheadMs }),
    );
    assert.deepEqual([machine.rebootedAt, machine.agentRestartedAt], [null, null]);
    assert.deepEqual(kindsOf(fleet), []);
  });

  test('a clock that was set before the agent restarted is no reboot', async () => {
    const { bootMs } = new FakeAgent();
    const aheadMs = 3_600_000;
    const startedMs = Date.parse('2026-11-21T12:59:30Z');
    const { machine } = await reconnect(
      new FakeAgent({ aheadMs, startedMs, bootMs: bootMs + aheadMs }),
    );
    assert.deepEqual([machine.rebootedAt, machine.agentRestartedAt], [null, startedMs - aheadMs]);
  });

  test('another machine at the address begins anew', async () => {
    const { network, machine, socket, fleet } = await openLive(12);
    socket.finish();
    await network.advance(600);
    const other = { machine_id: 'f'.repeat(32) };
    socketOf(network).send(new FakeAgent({ bootMs: 7, startedMs: 8 }).hello([], other));
    assert.equal(machine.machineId, other.machine_id);
    assert.ok(machine.history.columns.load_1m.every(Number.isNaN));
    assert.deepEqual([machine.rebootedAt, kindsOf(fleet)], [null, []]);
  });
});

test('records what appears and ends, after the first list', async () => {
  const { network, fleet, socket, agent } = await openLive();
  const send = (notices: object[]): void =>
    socket.send(agent.points([[network.nowMs, 1]], { notices }));
  send([full]);
  send([{ ...full, ratio: 0.94 }]);
  send([{ ...full, subject: '/' }]);
  assert.deepEqual(kindsOf(fleet), ['notice_over', 'notice']);
});

test('notifies once a second of figures, and at most each 250 ms of changes', async () => {
  const { network, fleet } = openFleet(50);
  const changes: string[] = [];
  fleet.subscribe((change) => changes.push(change));
  await network.advance(600);
  changes.length = 0;
  for (const socket of network.sockets) socket.send(new FakeAgent().hello([]));
  await network.advance(250);
  assert.deepEqual(changes, ['machines']);
  changes.length = 0;
  await live(network, 10);
  assert.deepEqual([...new Set(changes)], ['figures']);
  assert.equal(changes.length, 10);
});
