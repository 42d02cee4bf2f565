import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createFleet } from './create-fleet.ts';
import { FakeAgent, FakeNetwork, listMachines } from './fake-network.fixture.ts';

const agent = new FakeAgent();

/** A fleet whose agents send a hello with five minutes, then nothing but their points. */
function openFleet(count: number, maxOpen: number) {
  const network = new FakeNetwork();
  let mostOpen = 0;
  network.onSocket = (socket) => {
    mostOpen = Math.max(mostOpen, network.openSockets.length);
    const { nowMs } = network;
    const past = Array.from({ length: 300 }, (_, at) => [nowMs - (299 - at) * 1000, 1] as const);
    queueMicrotask(() => socket.send(agent.hello(past)));
  };
  const fleet = createFleet(network.createOptions(listMachines(count), { maxOpen }));
  const live = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      await network.advance(1000);
      for (const socket of network.openSockets) socket.send(agent.points([[network.nowMs, 1]]));
    }
  };
  return { network, fleet, live, mostOpen: () => mostOpen };
}

test('12 machines on 4 connections: all are seen, without a hole and without a gap', async () => {
  const { fleet, live, mostOpen } = openFleet(12, 4);
  await live(2);
  const waiting = fleet.machines.filter(({ state }) => state.kind === 'waiting');
  assert.deepEqual(
    waiting.map(({ state }) => state),
    Array.from({ length: 8 }, () => ({ kind: 'waiting', for: 'turn' })),
  );
  await live(240);
  assert.equal(mostOpen(), 4);
  for (const { history, host, listed } of fleet.machines) {
    assert.equal(host?.hostname, 'db-1', listed.id);
    const holes = history.columns.load_1m.subarray(0, 200).filter(Number.isNaN).length;
    assert.equal(holes, 0, listed.id);
  }
  assert.deepEqual(fleet.events, []);
});

test('a machine that waits for its turn keeps its last history and facts', async () => {
  const { fleet, live } = openFleet(8, 4);
  await live(45);
  const [machine = assert.fail()] = fleet.machines;
  assert.deepEqual(machine.state, { kind: 'waiting', for: 'turn' });
  assert.equal(machine.host?.hostname, 'db-1');
  const { load_1m: loads } = machine.history.columns;
  assert.equal(loads[200], 1);
  assert.ok(Number.isNaN(loads.at(-1)));
});

test('a machine that hangs while it closes counts as open', async () => {
  const { network, fleet, live, mostOpen } = openFleet(8, 4);
  await live(2);
  for (const socket of network.openSockets) socket.isHanging = true;
  await live(60);
  assert.equal(mostOpen(), 4);
  assert.equal(network.sockets.length, 4);
  for (const socket of network.sockets) socket.finish();
  await live(2);
  assert.equal(fleet.machines.filter(({ host }) => host !== null).length, 8);
});

test('a gap outlasts the turn in which it began', async () => {
  const network = new FakeNetwork();
  const fleet = createFleet(network.createOptions(listMachines(2), { maxOpen: 1 }));
  const [machine = assert.fail()] = fleet.machines;
  network.sockets[0]?.send(agent.hello([], { interval_seconds: 20 }));
  await network.advance(22_000);
  assert.equal(machine.state.kind, 'gap');
  await network.advance(9000);
  assert.deepEqual([network.sockets[0]?.isOpen, machine.state.kind], [false, 'gap']);
});

test('turns go on after the clock of the page is set back', async () => {
  const { network, fleet, live } = openFleet(8, 4);
  await live(5);
  network.leapMs = -3_600_000;
  await live(45);
  assert.equal(fleet.machines.filter(({ host }) => host !== null).length, 8);
});

test('pauses and resumes with the history in between', async () => {
  const { network, fleet, live } = openFleet(4, 4);
  await live(5);
  fleet.pause();
  await network.advance(60_000);
  assert.deepEqual([network.openSockets.length, network.timers], [0, 0]);
  assert.deepEqual(fleet.machines[0]?.state, { kind: 'waiting', for: 'paused' });
  fleet.resume();
  await live(3);
  for (const { state, history } of fleet.machines) {
    assert.equal(state.kind, 'live');
    assert.ok(!history.columns.load_1m.subarray(0, -2).some(Number.isNaN));
  }
  assert.deepEqual(fleet.events, []);
});

test('resumes while sockets still close, with one connection for each', async () => {
  const { network, fleet, live } = openFleet(4, 4);
  await live(2);
  for (const socket of network.openSockets) socket.isHanging = true;
  fleet.pause();
  fleet.resume();
  await network.advance(1000);
  assert.equal(network.sockets.length, 4);
  for (const socket of network.sockets.slice()) socket.finish();
  await live(2);
  assert.deepEqual([network.sockets.length, network.openSockets.length], [8, 4]);
  assert.ok(fleet.machines.every(({ state }) => state.kind === 'live'));
});

test('keeps connections and histories of machines that stay in the list', async () => {
  const { network, fleet, live } = openFleet(3, 4);
  await live(3);
  const [first = assert.fail(), second = assert.fail()] = fleet.machines;
  const moved = { ...second.listed, address: 'elsewhere.example.com:4096' };
  const added = { ...first.listed, id: 'new', address: 'new.example.com:4096' };
  fleet.setList([added, moved, { ...first.listed, name: 'Renamed', labels: ['a'] }]);
  await live(2);
  assert.deepEqual(
    fleet.machines.map(({ listed }) => [listed.id, listed.name]),
    [
      ['new', 'm0'],
      ['m1', 'm1'],
      ['m0', 'Renamed'],
    ],
  );
  assert.equal(fleet.machines[2], first);
  assert.notEqual(fleet.machines[1], second);
  const open = network.openSockets.map(({ url }) => url);
  assert.deepEqual(open.toSorted(), [
    'wss://elsewhere.example.com:4096/',
    'wss://m0.example.com:4096/',
    'wss://new.example.com:4096/',
  ]);
  assert.equal(network.openTo('m0.example.com:4096')[0], network.sockets[0]);
});

test('leaves nothing behind when it is closed', async () => {
  const { network, fleet, live } = openFleet(8, 4);
  await live(2);
  fleet.close();
  await network.advance(0);
  assert.deepEqual([network.openSockets.length, network.timers], [0, 0]);
  await network.advance(60_000);
  assert.equal(network.sockets.length, 4);
});
