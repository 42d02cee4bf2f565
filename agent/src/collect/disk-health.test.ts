import assert from 'node:assert/strict';
import { existsSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { AgentDiskHealth } from '@latchkey/contract';
import { Value } from 'typebox/value';

import { emptyMachine, type Machine } from '../../test/machine.ts';
import { emptyPrograms, processExists, type Programs } from '../../test/programs.ts';
import { waitFor } from '../../test/wait.ts';
import { DiskHealthCollector } from './disk-health.ts';

const outputs = fileURLToPath(new URL('../../test/fixtures/outputs/smartctl', import.meta.url));
const MINUTE = 60_000;
const HALF_HOUR = 30 * MINUTE;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const READ_AT = '2026-11-21T12:00:00.000Z';

const print = (output: string, status = 0) => `cat '${outputs}/${output}'; exit ${status}`;

function addDisk(machine: Machine, device: string): void {
  machine.write(`sys/block/${device}/size`, '1000\n');
  machine.write(`dev/${device}`, '');
}

function open({ roots }: Machine, { searchPath }: Programs) {
  const disks = new DiskHealthCollector(roots, { searchPath, now: () => new Date(READ_AT) });
  disks.collect(0);
  return {
    collect: (atMs: number) => disks.collect(atMs),
    takeProblem: () => disks.takeProblem?.() ?? null,
    /** Collects at one time until so many programs were started in total, and the last one has ended and was read. */
    async round(atMs: number, starts: number, programs: Programs) {
      await waitFor(() => {
        disks.collect(atMs);
        return programs.pids().length === starts && !programs.pids().some(processExists);
      });
      // The second call after the end of a program detects it.
      for (let call = 0; call < 3; call += 1) disks.collect(atMs);
      return disks.collect(atMs);
    },
    [Symbol.dispose]: () => disks.close?.(),
  };
}

test('reads each disk a minute after the start and every half hour, one after the other', async () => {
  using machine = emptyMachine();
  using programs = emptyPrograms();
  for (const device of ['sda', 'nvme0n1', 'vda', 'dm-0', 'md0', 'loop0', 'zram0', 'mmcblk0'])
    addDisk(machine, device);
  machine.write('sys/block/sdb/size', '1000\n');
  programs.write(
    'smartctl',
    `[ ! -e busy ] || touch two-at-once; touch busy; sleep 0.05; rm busy
    case "$*" in *sda) ${print('ata-healthy.json')};; *) ${print('nvme-worn.json', 8)};; esac`,
  );
  using disks = open(machine, programs);
  assert.equal(disks.collect(MINUTE - 1), null);
  const part = await disks.round(MINUTE, 2, programs);
  const [nvme, sda] = part ?? [];
  assert.equal(part?.length, 2);
  assert.deepEqual(
    [nvme?.device, nvme?.failing, nvme?.wear_ratio, nvme?.read_at],
    ['nvme0n1', true, 1.04, READ_AT],
  );
  assert.deepEqual([sda?.device, sda?.failing, sda?.power_on_seconds], ['sda', false, 126_511_200]);
  assert.deepEqual(
    part?.flatMap((each) => [...Value.Errors(AgentDiskHealth, each)]),
    [],
  );
  const how =
    '--json=c --quietmode=noserial --nocheck=standby,7 --info --health --attributes --log=error --log=selftest';
  const { dev } = machine.roots;
  assert.deepEqual(programs.starts(), [`${how} ${dev}/nvme0n1`, `${how} ${dev}/sda`]);
  assert.deepEqual(disks.collect(MINUTE + HALF_HOUR - 1), part);
  assert.equal(programs.starts().length, 2);
  await disks.round(MINUTE + HALF_HOUR, 4, programs);
  assert.equal(existsSync(join(programs.directory, 'two-at-once')), false);
  assert.equal(disks.takeProblem(), null);
});

test('keeps the reading of a sleeping disk, and drops one that was not confirmed for three hours', async () => {
  using machine = emptyMachine();
  using programs = emptyPrograms();
  addDisk(machine, 'sda');
  programs.write('smartctl', print('ata-healthy.json'));
  using disks = open(machine, programs);
  const part = await disks.round(MINUTE, 1, programs);
  assert.equal(part?.length, 1);
  programs.write('smartctl', print('standby.json', 7));
  assert.deepEqual(await disks.round(4 * HOUR, 2, programs), part);
  programs.write('smartctl', print('vanished.json', 2));
  assert.deepEqual(await disks.round(7 * HOUR, 3, programs), part);
  assert.equal(disks.collect(7 * HOUR + 1), null);
  assert.equal(disks.takeProblem(), null);
});

test('skips a disk without requests since its last reading, and keeps the reading', async () => {
  using machine = emptyMachine();
  using programs = emptyPrograms();
  addDisk(machine, 'sda');
  machine.write('sys/block/sda/stat', '1 0 8\n');
  // Some kernels count the reading itself as a request.
  const { sys } = machine.roots;
  programs.write('smartctl', `echo 2 0 9 >${sys}/block/sda/stat; ${print('ata-healthy.json')}`);
  using disks = open(machine, programs);
  const part = await disks.round(MINUTE, 1, programs);
  assert.equal(part?.length, 1);
  for (let atMs = MINUTE; atMs < DAY; atMs += HALF_HOUR)
    for (let call = 0; call < 3; call += 1) assert.deepEqual(disks.collect(atMs), part);
  assert.equal(programs.starts().length, 1);
  machine.write('sys/block/sda/stat', '3 0 17\n');
  await disks.round(DAY + HALF_HOUR, 2, programs);
});

test('reports a forbidden disk once, and retries after a day', async () => {
  using machine = emptyMachine();
  using programs = emptyPrograms();
  for (const device of ['sda', 'sdb']) addDisk(machine, device);
  programs.write('smartctl', print('no-permission.json', 2));
  using disks = open(machine, programs);
  assert.equal(await disks.round(MINUTE, 2, programs), null);
  assert.match(
    disks.takeProblem() ?? '',
    /^smartctl may not ask the disk sda; run latchkey-agent install again/,
  );
  assert.equal(disks.takeProblem(), null);
  for (let atMs = HALF_HOUR; atMs < DAY; atMs += HALF_HOUR) disks.collect(atMs);
  assert.equal(programs.starts().length, 2);
  programs.write('smartctl', print('ata-healthy.json'));
  const part = await disks.round(DAY + HOUR, 4, programs);
  assert.deepEqual(
    part?.map(({ device }) => device),
    ['sda', 'sdb'],
  );
  assert.equal(disks.takeProblem(), null);
});

test('skips a disk behind an unknown bridge for a day without a report', async () => {
  using machine = emptyMachine();
  using programs = emptyPrograms();
  addDisk(machine, 'sda');
  programs.write('smartctl', print('usb-bridge.json', 1));
  using disks = open(machine, programs);
  assert.equal(await disks.round(MINUTE, 1, programs), null);
  for (let atMs = HALF_HOUR; atMs < DAY; atMs += HALF_HOUR) disks.collect(atMs);
  assert.equal(programs.starts().length, 1);
  assert.equal(disks.takeProblem(), null);
});

test('kills a smartctl that hangs after 30 seconds, reports it, and reads the next disk', async () => {
  using machine = emptyMachine();
  using programs = emptyPrograms();
  for (const device of ['sda', 'sdb']) addDisk(machine, device);
  programs.write(
    'smartctl',
    `case "$*" in *sda) exec sleep 1000;; *) ${print('ata-healthy.json')};; esac`,
  );
  using disks = open(machine, programs);
  const [pid = 0] = await waitFor(() => {
    disks.collect(MINUTE);
    return programs.pids().length > 0 && programs.pids();
  });
  disks.collect(MINUTE + 30_000);
  assert.equal(processExists(pid), true);
  assert.equal(programs.pids().length, 1);
  const late = MINUTE + 30_001;
  const part = await waitFor(() => disks.collect(late));
  assert.deepEqual(
    part.map(({ device }) => device),
    ['sdb'],
  );
  assert.equal(disks.takeProblem(), 'smartctl did not answer in 30 s about sda.');
  await waitFor(() => !processExists(pid));
});

test('kills a smartctl that exceeds its output limit, and discards the output', async () => {
  using machine = emptyMachine();
  using programs = emptyPrograms();
  addDisk(machine, 'sda');
  programs.write('smartctl', 'exec yes \'{"smart_status":{"passed":true}}\'');
  using disks = open(machine, programs);
  assert.equal(await disks.round(MINUTE, 1, programs), null);
});

test('drops a removed disk, and all disks when smartctl is removed', async () => {
  using machine = emptyMachine();
  using programs = emptyPrograms();
  for (const device of ['sda', 'sdb']) addDisk(machine, device);
  programs.write('smartctl', print('ata-healthy.json'));
  using disks = open(machine, programs);
  assert.equal((await disks.round(MINUTE, 2, programs))?.length, 2);
  machine.remove('sys/block/sda');
  const part = await disks.round(MINUTE + HALF_HOUR, 3, programs);
  assert.deepEqual(
    part?.map(({ device }) => device),
    ['sdb'],
  );
  programs[Symbol.dispose]();
  assert.equal(disks.collect(MINUTE + 2 * HALF_HOUR), null);
  assert.equal(disks.takeProblem(), null);
});

test('returns null without smartctl, and reports nothing', () => {
  using machine = emptyMachine();
  using programs = emptyPrograms();
  addDisk(machine, 'sda');
  using disks = open(machine, programs);
  for (const atMs of [MINUTE, HOUR, DAY]) assert.equal(disks.collect(atMs), null);
  assert.equal(disks.takeProblem(), null);
});

test('kills a running smartctl when it is closed', async () => {
  using machine = emptyMachine();
  using programs = emptyPrograms();
  addDisk(machine, 'sda');
  programs.write('smartctl', 'exec sleep 1000');
  const disks = open(machine, programs);
  const [pid = 0] = await waitFor(() => {
    disks.collect(MINUTE);
    return programs.pids().length > 0 && programs.pids();
  });
  disks[Symbol.dispose]();
  await waitFor(() => !processExists(pid));
});

test('reads the files of the unit without smartctl', async () => {
  using machine = emptyMachine();
  using programs = emptyPrograms();
  for (const device of ['sda', 'sdb', 'sdc', 'nvme0n1']) addDisk(machine, device);
  const show = (device: string, status: number, file: string, readAt = READ_AT) => {
    const text = readFileSync(join(outputs, file), 'utf8');
    machine.write(`run/latchkey-agent-disks/${device}.json`, `${status}\n${text}`);
    const path = join(machine.roots.run, `latchkey-agent-disks/${device}.json`);
    utimesSync(path, new Date(readAt), new Date(readAt));
  };
  show('sda', 0, 'ata-healthy.json', '2026-11-21T11:40:00.000Z');
  show('nvme0n1', 8, 'nvme-worn.json');
  show('sdb', 0, 'ata-healthy.json', '2026-11-21T08:00:00.000Z');
  show('sdc', 0, 'ata-healthy.json', '2026-11-21T08:00:00.000Z');
  machine.write('run/latchkey-agent-disks/sdc.stat', '1 0 8\n');
  const confirmation = join(machine.roots.run, 'latchkey-agent-disks/sdc.stat');
  utimesSync(confirmation, new Date(READ_AT), new Date(READ_AT));
  programs.write('smartctl', print('no-permission.json', 2));
  using disks = open(machine, programs);
  for (let question = 0; question < 6; question += 1) disks.collect(MINUTE);
  assert.deepEqual(
    disks.collect(MINUTE)?.map(({ device, read_at }) => [device, read_at]),
    [
      ['nvme0n1', READ_AT],
      ['sda', '2026-11-21T11:40:00.000Z'],
      ['sdc', '2026-11-21T08:00:00.000Z'],
    ],
    'a reading that was not confirmed for three hours is hidden',
  );
  assert.deepEqual(programs.pids(), []);
});

test('reads up to 256 KiB of a file of the unit', () => {
  using machine = emptyMachine();
  using programs = emptyPrograms();
  programs.write('smartctl', print('no-permission.json', 2));
  const text = readFileSync(join(outputs, 'ata-healthy.json'), 'utf8');
  for (const [device, bytes] of [
    ['sda', 200 * 1024],
    ['sdb', 300 * 1024],
  ] as const) {
    addDisk(machine, device);
    machine.write(`run/latchkey-agent-disks/${device}.json`, `0\n${text}`.padEnd(bytes));
    utimesSync(
      join(machine.roots.run, `latchkey-agent-disks/${device}.json`),
      new Date(READ_AT),
      new Date(READ_AT),
    );
  }
  using disks = open(machine, programs);
  for (let question = 0; question < 6; question += 1) disks.collect(MINUTE);
  assert.deepEqual(
    disks.collect(MINUTE)?.map(({ device }) => device),
    ['sda'],
  );
});
