import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { copyMachine, emptyMachine } from '../../test/machine.ts';

import { openNetworkCollector } from './network.ts';

const HEADING = 'Inter-|   Receive  |  Transmit\n face |bytes packets|bytes packets\n';

function line(name: string, received: number, sent: number): string {
  return `${name}: ${received} 1 0 0 0 0 0 0 ${sent} 1 0 0 0 0 0 0\n`;
}

test('reports totals and rates, without the loopback', () => {
  using machine = copyMachine('bare-vm');
  const network = openNetworkCollector(machine.roots);
  assert.deepEqual(network.collect(0), {
    interfaces: [
      {
        interface: 'eth0',
        kind: 'physical',
        up: true,
        receive_bytes_total: 1_000_000,
        transmit_bytes_total: 500_000,
        receive_packets_total: 2000,
        transmit_packets_total: 1500,
        receive_errors_total: 1,
        transmit_errors_total: 2,
        receive_drops_total: 3,
        transmit_drops_total: 4,
      },
    ],
  });
  machine.write(
    'proc/net/dev',
    `${HEADING}    lo: 9 9 0 0 0 0 0 0 9 9 0 0 0 0 0 0\n  eth0:1002000 2010 1 3 0 0 0 0 508000 1520 2 4 0 0 0 0\n`,
  );
  const later = network.collect(2000);
  assert.equal(later?.receive_bytes_per_second, 1000);
  assert.equal(later.transmit_bytes_per_second, 4000);
  assert.equal(later.interfaces[0]?.receive_packets_per_second, 5);
  assert.equal(later.interfaces[0]?.transmit_packets_per_second, 10);
});

test('distinguishes bonds, bridges, VLANs and tunnels, and counts each packet once', () => {
  using machine = copyMachine('server');
  const network = openNetworkCollector(machine.roots);
  const part = network.collect(0);
  assert.deepEqual(
    part?.interfaces.map((each) => [
      each.interface,
      each.kind,
      each.member_of,
      each.speed_bits_per_second,
    ]),
    [
      ['eno1', 'physical', 'bond0', 10_000_000_000],
      ['eno2', 'physical', 'bond0', 10_000_000_000],
      ['bond0', 'bond', 'br0', 20_000_000_000],
      ['bond0.10', 'vlan', undefined, undefined],
      ['br0', 'bridge', undefined, undefined],
      ['wg0', 'tunnel', undefined, undefined],
      ['dummy0', 'virtual', undefined, undefined],
    ],
  );
  machine.write(
    'proc/net/dev',
    HEADING + line('eno1', 1100, 2200) + line('eno2', 3300, 4400) + line('bond0', 4400, 6600),
  );
  const later = network.collect(1000);
  assert.equal(later?.receive_bytes_per_second, 400);
  assert.equal(later.transmit_bytes_per_second, 600);
});

test('leaves out a rate for one tick after a reset or a wrap at 32 bits', () => {
  using machine = copyMachine('bare-vm');
  const network = openNetworkCollector(machine.roots);
  const show = (received: number) =>
    machine.write('proc/net/dev', `${HEADING}eth0: ${received} 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0\n`);
  show(4_294_967_200);
  network.collect(0);
  show(100);
  const wrapped = network.collect(1000);
  assert.equal(wrapped?.receive_bytes_per_second, undefined);
  assert.equal(wrapped?.transmit_bytes_per_second, 0);
  show(350);
  assert.equal(network.collect(2000)?.receive_bytes_per_second, 250);
});

test('does not count the members of a failover pair twice', () => {
  using machine = emptyMachine();
  for (const name of ['eth0', 'enP1s1'])
    machine.write(`sys/class/net/${name}/device/vendor`, '1\n');
  symlinkSync('../eth0', join(machine.roots.sys, 'class/net/enP1s1/master'));
  machine.write('proc/net/dev', HEADING + line('eth0', 1000, 500) + line('enP1s1', 900, 400));
  const network = openNetworkCollector(machine.roots);
  network.collect(0);
  machine.write('proc/net/dev', HEADING + line('eth0', 3000, 900) + line('enP1s1', 2900, 800));
  const part = network.collect(1000);
  assert.deepEqual(
    part?.interfaces.map((each) => [each.interface, each.member_of]),
    [
      ['eth0', undefined],
      ['enP1s1', 'eth0'],
    ],
  );
  assert.deepEqual([part?.receive_bytes_per_second, part?.transmit_bytes_per_second], [2000, 400]);
});

test('reports stacked interfaces, which are not veth ends', () => {
  using machine = copyMachine('bare-vm');
  const describe = (name: string, files: Readonly<Record<string, string>>): void => {
    for (const [file, text] of Object.entries({ ifindex: '7', iflink: '2', ...files }))
      machine.write(`sys/class/net/${name}/${file}`, `${text}\n`);
  };
  describe('macvlan0', { type: '1', 'lower_eth0/ifindex': '2' });
  describe('he-ipv6', { type: '776' });
  describe('veth1', { type: '1' });
  machine.write(
    'proc/net/dev',
    HEADING + ['eth0', 'macvlan0', 'he-ipv6', 'veth1'].map((name) => line(name, 1, 1)).join(''),
  );
  assert.deepEqual(
    openNetworkCollector(machine.roots)
      .collect(0)
      ?.interfaces.map((each) => [each.interface, each.kind]),
    [
      ['eth0', 'physical'],
      ['macvlan0', 'virtual'],
      ['he-ipv6', 'tunnel'],
    ],
  );
});

test('counts the ports of a DSA switch, and not their conduit', () => {
  using machine = emptyMachine();
  for (const name of ['eth0', 'lan0', 'lan1']) {
    machine.write(`sys/class/net/${name}/type`, '1\n');
    machine.write(`sys/class/net/${name}/device/vendor`, '1\n');
    machine.write(`sys/class/net/${name}/ifindex`, name === 'eth0' ? '2\n' : '7\n');
    machine.write(`sys/class/net/${name}/iflink`, '2\n');
  }
  machine.write('sys/class/net/eth0/dsa/tagging', 'edsa\n');
  for (const name of ['lan0', 'lan1']) {
    machine.write(`sys/class/net/${name}/uevent`, `DEVTYPE=dsa\nINTERFACE=${name}\n`);
    machine.write(`sys/class/net/${name}/phys_switch_id`, '00000000\n');
  }
  const show = (bytes: number) =>
    machine.write(
      'proc/net/dev',
      HEADING + line('eth0', 2 * bytes, 0) + line('lan0', bytes, 0) + line('lan1', bytes, 0),
    );
  show(0);
  const network = openNetworkCollector(machine.roots);
  const kinds = network.collect(0)?.interfaces.map((each) => [each.interface, each.kind]);
  assert.deepEqual(kinds, [
    ['lan0', 'physical'],
    ['lan1', 'physical'],
    ['eth0', 'virtual'],
  ]);
  show(1_000);
  assert.equal(network.collect(1_000)?.receive_bytes_per_second, 2_000);
});

test("leaves out the host's ends of veth pairs", () => {
  using machine = copyMachine('container-host');
  const part = openNetworkCollector(machine.roots).collect(0);
  assert.deepEqual(
    part?.interfaces.map((each) => [each.interface, each.kind]),
    [
      ['eth0', 'physical'],
      ['docker0', 'bridge'],
    ],
  );
});

test('counts the veth end in a container', () => {
  using machine = copyMachine('container');
  const network = openNetworkCollector(machine.roots);
  network.collect(0);
  const part = network.collect(1000);
  assert.deepEqual(
    part?.interfaces.map((each) => [each.interface, each.kind]),
    [['eth0', 'virtual']],
  );
  assert.equal(part?.receive_bytes_per_second, 0);
});

test('starts new rates for an interface that returns', () => {
  using machine = copyMachine('bare-vm');
  const network = openNetworkCollector(machine.roots);
  network.collect(0);
  machine.write('proc/net/dev', HEADING);
  assert.equal(network.collect(1000), null);
  machine.write('proc/net/dev', `${HEADING}eth0: 9000000 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0\n`);
  assert.equal(network.collect(2000)?.interfaces[0]?.receive_bytes_per_second, undefined);
});

test('returns null without a network', () => {
  using machine = emptyMachine();
  assert.equal(openNetworkCollector(machine.roots).collect(0), null);
});
