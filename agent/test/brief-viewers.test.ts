/** What viewers of `latchkey.brief.v1` make an agent with real collectors read and run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { AgentBriefPoints, AgentSubprotocol } from '@latchkey/contract';

import { readHost } from '#agent/collect/host.ts';
import { openCollectors } from '#agent/collectors.ts';
import { MountProber } from '#agent/probe/mount-prober.ts';
import { BackgroundReader, openSlowFile } from '#agent/read/background-reader.ts';
import { openSampler } from '#agent/sample.ts';
import { Hub, type Viewer } from '#agent/stream/hub.ts';

import { copyMachine, type Machine } from './machine.ts';
import { emptyPrograms } from './programs.ts';
import { TestClock } from './stream-harness.ts';
import { until, waitFor } from './wait.ts';

/** A hub with all collectors of a machine, whose time a test advances. */
function openHub({ roots }: Machine) {
  const clock = new TestClock();
  const prober = new MountProber(clock.monotonicMs);
  const slowFiles: string[] = [];
  const reader = new BackgroundReader(clock.monotonicMs, (path) => {
    slowFiles.push(path);
    return openSlowFile(path);
  });
  const collectors = openCollectors(roots, { prober, reader });
  const sampler = openSampler(collectors, clock, {
    warn: (event, message) => assert.fail(`${event}: ${message}`),
  });
  const hub = new Hub({ sampler, readHost: () => readHost(roots), clock, intervalSeconds: 1 });
  return {
    hub,
    /** The files of drivers that were opened. */
    slowFiles,
    /** Ticks for some seconds, and waits for the reads that each starts. */
    async run(seconds: number): Promise<void> {
      for (let second = 0; second < seconds; second += 1) {
        clock.ms += 1000;
        hub.tick();
        await until(() => !reader.isStuck());
      }
    },
    [Symbol.dispose]: () => [sampler, prober, reader].forEach((each) => each.close()),
  };
}

/** A viewer that records its messages. */
class RecordingViewer implements Viewer {
  readonly messages: string[] = [];
  readonly waitingBytes = 0;
  readonly subprotocol: AgentSubprotocol;

  constructor(subprotocol: AgentSubprotocol) {
    this.subprotocol = subprotocol;
  }

  /** Records a message without the header of its frame. */
  send(frames: Buffer): void {
    this.messages.push(frames.toString('utf8', frames.indexOf('{"type"')));
  }

  ping(): void {}
  drop(): void {}
}

test('starts no program that reports GPUs, which a viewer of snapshots starts', async () => {
  using machine = copyMachine('gpu-nvidia');
  using programs = emptyPrograms();
  programs.write('nvidia-smi', 'exec sleep 1000');
  process.env['PATH'] = `${programs.searchPath}:${process.env['PATH']}`;
  using agent = openHub(machine);
  for (let count = 0; count < 3; count += 1) {
    agent.hub.add(new RecordingViewer('latchkey.brief.v1'));
  }
  await agent.run(65);
  assert.deepEqual(programs.starts(), []);
  agent.hub.add(new RecordingViewer('latchkey.snapshot.v1'));
  await waitFor(() => programs.starts().length === 1);
});

/** Whether a file is a sensor of a card in the fixture. */
function isOfCard(path: string): boolean {
  return /\/hwmon[456]\//u.test(path);
}

test('reads other sensors, but none of a graphics card, so that it can fall asleep', async () => {
  using machine = copyMachine('gpu-amd');
  const chip = 'sys/class/hwmon/hwmon0';
  machine.write(`${chip}/name`, 'k10temp\n');
  machine.write(`${chip}/temp1_input`, '99000\n');
  machine.write(`${chip}/temp1_crit`, '95000\n');
  using agent = openHub(machine);
  const brief = new RecordingViewer('latchkey.brief.v1');
  agent.hub.add(brief);
  await agent.run(10);
  assert.deepEqual(agent.slowFiles.filter(isOfCard), []);
  const points = brief.messages.slice(1).map((each): AgentBriefPoints => JSON.parse(each));
  const notices = points.flatMap((each) => each.notices ?? []);
  assert.deepEqual(
    notices.map(({ code, subject, celsius }) => [code, subject, celsius]),
    [['temperature_high', 'k10temp', 99]],
  );
  agent.hub.add(new RecordingViewer('latchkey.snapshot.v1'));
  await agent.run(3);
  assert.notDeepEqual(agent.slowFiles.filter(isOfCard), []);
});
