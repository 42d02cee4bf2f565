import assert from 'node:assert/strict';

import { createFleet } from './create-fleet.ts';
import { FakeAgent, FakeNetwork, type FakeSocket, listMachines } from './fake-network.fixture.ts';
import type { Fleet, Machine } from './types.ts';

/** A fleet of machines whose agents a test plays. */
export function openFleet(count = 1, rest: Parameters<FakeNetwork['createOptions']>[1] = {}) {
  const network = new FakeNetwork();
  const fleet = createFleet(network.createOptions(listMachines(count), rest));
  const machine = fleet.machines[0] ?? assert.fail();
  return { network, fleet, machine };
}

export function socketOf(network: FakeNetwork, at = -1): FakeSocket {
  return network.sockets.at(at) ?? assert.fail('no socket was opened');
}

/** Sends a point each second. */
export async function live(
  network: FakeNetwork,
  seconds: number,
  agent = new FakeAgent(),
): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    await network.advance(1000);
    const { nowMs } = network;
    for (const socket of network.openSockets) {
      if (!socket.isHanging) socket.send(agent.points([[nowMs, nowMs / 1000]]));
    }
  }
}

/** Connects the first machine, and sends points for some seconds. */
export async function openLive(seconds = 1) {
  const opened = openFleet();
  const agent = new FakeAgent();
  socketOf(opened.network).send(agent.hello([[opened.network.nowMs, 1]]));
  await live(opened.network, seconds, agent);
  assert.equal(opened.machine.state.kind, 'live');
  return { ...opened, agent, socket: socketOf(opened.network) };
}

export function reasonOf({ state }: Machine): string {
  if (state.kind === 'live') return 'live';
  return state.kind === 'gap' ? state.reason : state.for;
}

export function kindsOf({ events }: Fleet): string[] {
  return events.map(({ what }) => (what.kind === 'gap' ? what.reason : what.kind));
}
