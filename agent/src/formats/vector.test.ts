import assert from 'node:assert/strict';
import { test } from 'node:test';

import { AgentVectorEvent } from '@latchkey/contract';
import { Value } from 'typebox/value';

import { exampleHost, exampleSnapshot } from '../../test/example-snapshot.ts';
import { toVectorEvents } from './vector.ts';

const events = toVectorEvents(exampleSnapshot, exampleHost);

/** One line for each event: name, tags without the host, kind of value, value. */
const lines = events.map(({ name, tags, counter, gauge }) => {
  const { host, ...others } = tags;
  assert.equal(host, 'db-1');
  const labels = Object.entries(others).map(([tag, value]) => `${tag}=${value}`);
  return `${name}{${labels.join(',')}} ${counter === undefined ? 'g' : 'c'} ${counter?.value ?? gauge?.value}`;
});

test('writes fields in the order of Vector, with sorted tags', () => {
  assert.equal(
    JSON.stringify(events[0]),
    '{"name":"cpu_seconds_total","namespace":"host","tags":{"collector":"cpu","cpu":"0","host":"db-1","mode":"idle"},' +
      '"timestamp":"2026-11-21T02:44:25.123Z","kind":"absolute","counter":{"value":900}}',
  );
  assert.equal(
    JSON.stringify(events.find(({ name }) => name === 'memory_available_bytes')),
    '{"name":"memory_available_bytes","namespace":"host","tags":{"collector":"memory","host":"db-1"},' +
      '"timestamp":"2026-11-21T02:44:25.123Z","kind":"absolute","gauge":{"value":5000}}',
  );
});

test('uses the names, tags and kinds of Vector', () => {
  assert.deepEqual(lines, [
    'cpu_seconds_total{collector=cpu,cpu=0,mode=idle} c 900',
    'cpu_seconds_total{collector=cpu,cpu=0,mode=io_wait} c 2',
    'cpu_seconds_total{collector=cpu,cpu=0,mode=nice} c 1',
    'cpu_seconds_total{collector=cpu,cpu=0,mode=system} c 4',
    'cpu_seconds_total{collector=cpu,cpu=0,mode=user} c 10.5',
    'logical_cpus{collector=cpu} g 1',
    'physical_cpus{collector=cpu} g 1',
    'disk_read_bytes_total{collector=disk,device=sda} c 5120',
    'disk_reads_completed_total{collector=disk,device=sda} c 10',
    'disk_written_bytes_total{collector=disk,device=sda} c 10240',
    'disk_writes_completed_total{collector=disk,device=sda} c 20',
    'disk_read_bytes_total{collector=disk,device=dm-0} c 5120',
    'disk_reads_completed_total{collector=disk,device=dm-0} c 10',
    'disk_written_bytes_total{collector=disk,device=dm-0} c 10240',
    'disk_writes_completed_total{collector=disk,device=dm-0} c 20',
    'filesystem_free_bytes{collector=filesystem,device=/dev/sda1,filesystem=ext4,mountpoint=/} g 550',
    'filesystem_total_bytes{collector=filesystem,device=/dev/sda1,filesystem=ext4,mountpoint=/} g 1000',
    'filesystem_used_bytes{collector=filesystem,device=/dev/sda1,filesystem=ext4,mountpoint=/} g 400',
    'filesystem_used_ratio{collector=filesystem,device=/dev/sda1,filesystem=ext4,mountpoint=/} g 0.4211',
    'filesystem_inodes_total{collector=filesystem,device=/dev/sda1,filesystem=ext4,mountpoint=/} g 100',
    'filesystem_inodes_free{collector=filesystem,device=/dev/sda1,filesystem=ext4,mountpoint=/} g 70',
    'filesystem_inodes_used{collector=filesystem,device=/dev/sda1,filesystem=ext4,mountpoint=/} g 30',
    'filesystem_inodes_used_ratio{collector=filesystem,device=/dev/sda1,filesystem=ext4,mountpoint=/} g 0.3',
    'load1{collector=load} g 0.5',
    'load5{collector=load} g 0.25',
    'load15{collector=load} g 0.1',
    'uptime{collector=host} g 96265.12',
    'boot_time{collector=host} g 1795132800',
    'memory_total_bytes{collector=memory} g 8000',
    'memory_free_bytes{collector=memory} g 1000',
    'memory_available_bytes{collector=memory} g 5000',
    'memory_active_bytes{collector=memory} g 2500',
    'memory_buffers_bytes{collector=memory} g 200',
    'memory_cached_bytes{collector=memory} g 3500',
    'memory_shared_bytes{collector=memory} g 50',
    'memory_used_bytes{collector=memory} g 3300',
    'memory_swap_free_bytes{collector=memory} g 75',
    'memory_swap_total_bytes{collector=memory} g 100',
    'memory_swap_used_bytes{collector=memory} g 25',
    'memory_swapped_in_bytes_total{collector=memory} c 4096',
    'memory_swapped_out_bytes_total{collector=memory} c 8192',
    'network_receive_bytes_total{collector=network,device=eth0} c 1',
    'network_receive_errs_total{collector=network,device=eth0} c 5',
    'network_receive_packets_total{collector=network,device=eth0} c 3',
    'network_transmit_bytes_total{collector=network,device=eth0} c 2',
    'network_transmit_packets_drop_total{collector=network,device=eth0} c 8',
    'network_transmit_packets_total{collector=network,device=eth0} c 4',
    'network_transmit_errs_total{collector=network,device=eth0} c 6',
    'temperature_celsius{collector=temperature,component=coretemp Package id 0} g 51',
    'temperature_max_celsius{collector=temperature,component=coretemp Package id 0} g 90',
    'temperature_critical_celsius{collector=temperature,component=coretemp Package id 0} g 100',
    'temperature_celsius{collector=temperature,component=nvme.0/temp1} g -2.5',
  ]);
});

test('every event matches the schema of the contract', () => {
  for (const event of events) assert.deepEqual([...Value.Errors(AgentVectorEvent, event)], []);
});

test('creates no event for parts that the machine lacks', () => {
  const { time } = exampleSnapshot;
  const alone = { hostname: 'x', architecture: 'x64', machine_type: 'physical' } as const;
  assert.deepEqual(toVectorEvents({ time }, alone), []);
});
