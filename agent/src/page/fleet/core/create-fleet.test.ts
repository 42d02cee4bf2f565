import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { FakeAgent } from './fake-network.fixture.ts';
import { kindsOf, live, openFleet, openLive, reasonOf, socketOf } from './live-fleet.fixture.ts';
import { HISTORY_SLOTS, type ListedMachine } from './types.ts';

const full = {
  code: 'filesystem_full',
  severity: 'warning',
  since: '2026-11-21T12:00:00Z',
  subject: '/var',
  ratio: 0.93,
};

describe('a connection', () => {
  test('offers the subprotocol and the token', () => {
    const { network } = openFleet(1, { readToken: ({ id }) => (id === 'm0' ? 'a-token' : null) });
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

describe('the clock of the page', () => {
  test('a page that was frozen waits for messages before it reports silence', async () => {
    const { network, machine, socket, agent } = await openLive();
    network.leapMs = 60_000;
    await network.advance(2500);
    assert.equal(reasonOf(machine), 'live');
    socket.send(agent.points([[network.nowMs + 60_000, 1]]));
    await network.advance(2500);
    assert.equal(reasonOf(machine), 'live');
    await network.advance(500);
    assert.equal(reasonOf(machine), 'no_answer');
  });

  test('reports silence also after the clock is set, forward and back', async () => {
    const { network, machine } = await openLive();
    network.leapMs = 60_000;
    await network.advance(250);
    network.leapMs = -3_600_000;
    await network.advance(3000);
    assert.equal(reasonOf(machine), 'no_answer');
  });

  test('a clock that is set back keeps the history, and the next points follow it', async () => {
    const { network, machine, socket, agent } = await openLive(10);
    await network.advance(1000);
    const before = Array.from(machine.history.columns.load_1m.subarray(-10));
    network.leapMs = -3_600_000;
    socket.send(agent.points([[network.nowMs, 7]]));
    await network.advance(250);
    assert.deepEqual(machine.history.columns.load_1m.subarray(-10), new Float32Array(before));
    await network.advance(750);
    socket.send(agent.points([[network.nowMs, 8]]));
    await network.advance(2000);
    const after = Array.from(machine.history.columns.load_1m).filter((each) => !Number.isNaN(each));
    assert.deepEqual(after.slice(-2), [7, 8]);
    assert.equal(reasonOf(machine), 'live');
    await network.advance(1000);
    assert.equal(reasonOf(machine), 'no_answer');
  });
});

test('a token is read when a machine enters the list, and replaced by an entered one', async () => {
  const tokens = new Map([['m0', 'first-token']]);
  const readToken = ({ id }: ListedMachine) => tokens.get(id) ?? null;
  const { network, fleet } = openFleet(1, { readToken });
  const [{ listed } = assert.fail()] = fleet.machines;
  tokens.set('m1', 'second-token');
  fleet.setToken('m0', null);
  await network.advance(0);
  fleet.setList([listed, { ...listed, id: 'm1', address: 'm1.example.com' }]);
  await network.advance(500);
  socketOf(network).send(new FakeAgent().hello([]));
  fleet.setToken('m1', 'second-token');
  await network.advance(500);
  const offers = network.sockets.map(({ url, protocols }) => [url, protocols[1]]);
  assert.deepEqual(offers, [
    ['wss://m0.example.com:4096/', 'latchkey.token.first-token'],
    ['wss://m0.example.com:4096/', undefined],
    ['wss://m1.example.com:4096/', 'latchkey.token.second-token'],
  ]);
});

test('a token belongs to its address: a machine that moves does not take it along', async () => {
  const kept = new Map([['other.example.com', 'other-token']]);
  const readToken = ({ address }: ListedMachine) => kept.get(address) ?? null;
  const { network, fleet } = openFleet(1, { readToken });
  const [{ listed } = assert.fail()] = fleet.machines;
  fleet.setToken('m0', 'own-token');
  for (const address of ['new.example.com', 'other.example.com', listed.address]) {
    fleet.setList([{ ...listed, address }]);
    await network.advance(500);
  }
  const offers = network.sockets.map(({ url, protocols }) => [url, protocols[1]]);
  assert.deepEqual(offers.slice(-3), [
    ['wss://new.example.com:4096/', undefined],
    ['wss://other.example.com:4096/', 'latchkey.token.other-token'],
    ['wss://m0.example.com:4096/', 'latchkey.token.own-token'],
  ]);
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
  const { network, fleet } = openFleet(10);
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
