/**
 * Simulates a day of the agent in seconds, in a separate process (`node --expose-gc day.ts <seconds> <interval>`). At each tick the
 * counters of a machine made of files change, and a process and a container start or end; a viewer of each subprotocol connects
 * and disconnects. Prints the memory and the open files after a tenth of the day and at its end, as JSON.
 */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { AgentSubprotocol } from '@latchkey/contract';

import { readHost } from '#agent/collect/host.ts';
import { openCollectors } from '#agent/collectors.ts';
import type { Log } from '#agent/log.ts';
import { MountProber } from '#agent/probe/mount-prober.ts';
import { BackgroundReader } from '#agent/read/background-reader.ts';
import { openSampler } from '#agent/sample.ts';
import { type Viewer, Hub } from '#agent/stream/hub.ts';
import { copyMachine } from './machine.ts';
import { TestClock } from './stream-harness.ts';

/** The resources of the process. */
interface Resources {
  readonly heapBytes: number;
  readonly openFiles: number;
}

const MACHINE = 'server';
const ADDED = ['bare-vm', 'container-host', 'gpu-amd', 'zfs'];
/** Viewers are connected for all but the last of so many ticks. */
const TICKS_PER_VISIT = 10;

const [seconds = Number.NaN, intervalSeconds = Number.NaN] = process.argv.slice(2).map(Number);
const fixtures = fileURLToPath(new URL('fixtures', import.meta.url));
const machine = copyMachine(MACHINE);
const { roots } = machine;
for (const name of ADDED) {
  cpSync(join(fixtures, name), dirname(roots.proc), {
    recursive: true,
    verbatimSymlinks: true,
    force: false,
  });
}

// systemctl is a real program on the real clock: without systemd it is not started.
machine.remove('run/systemd/system');

const clock = new TestClock();
const warnings = new Set<string>();
const log: Log = {
  warn: (event, _message, { collector, reason } = {}) =>
    void warnings.add(`${event} ${collector}: ${reason}`),
};
const prober = new MountProber(() => clock.ms);
const reader = new BackgroundReader(() => clock.ms);
const sampler = openSampler(
  openCollectors(roots, { prober, reader }, 1000 * intervalSeconds),
  clock,
  log,
);
const hub = new Hub({ sampler, readHost: () => readHost(roots), clock, intervalSeconds });

const received = new Map<AgentSubprotocol, number>();
const subprotocols: readonly AgentSubprotocol[] = [
  'latchkey.snapshot.v1',
  'latchkey.vector.v1',
  'latchkey.otlp-json.v1',
  'latchkey.brief.v1',
];

/** Opens a viewer that counts how often it is sent messages, and stores none. */
function openViewer(subprotocol: AgentSubprotocol): Viewer {
  return {
    subprotocol,
    send: () => {
      received.set(subprotocol, (received.get(subprotocol) ?? 0) + 1);
    },
    ping: () => undefined,
    waitingBytes: 0,
    drop: () => undefined,
  };
}

/** Increases counters (and sometimes resets them), and adds or removes a process and a container. */
function change(turn: number): void {
  const second = turn * intervalSeconds;
  bumpCounters('proc/stat', /^(cpu\d*) +(\d+)/gm, second % 36_000);
  bumpCounters('proc/net/dev', /^ *(eno1:) *(\d+)/gm, second % 5_000);
  bumpCounters('proc/diskstats', /( sda +\d+ \d+) (\d+)/g, second);
  const pid = 10_000 + (turn % 400);
  machine.write(
    `proc/${pid}/stat`,
    `${pid} (job ${turn}) S 1 ${pid} ${pid} 0 -1 0 0 0 0 0 ${turn} 0 0 0 20 0 1 0 900 1000 500\n`,
  );
  if (turn >= 20) machine.remove(`proc/${10_000 + ((turn - 20) % 400)}`);
  const container = `sys/fs/cgroup/system.slice/docker-${String(turn).padStart(64, 'a')}.scope`;
  machine.write(`${container}/memory.current`, `${turn}\n`);
  machine.write(`${container}/cpu.stat`, `usage_usec ${second * 1000}\n`);
  if (turn >= 5)
    machine.remove(
      container.replace(String(turn).padStart(64, 'a'), String(turn - 5).padStart(64, 'a')),
    );
}

const originals = new Map<string, string>();
function bumpCounters(path: string, counter: RegExp, by: number): void {
  const file = join(dirname(roots.proc), path);
  const original = originals.get(path) ?? readFileSync(file, 'utf8');
  originals.set(path, original);
  writeFileSync(
    file,
    original.replaceAll(
      counter,
      (_, name: string, value: string) => `${name} ${Number(value) + by}`,
    ),
  );
}

async function work(from: number, to: number): Promise<void> {
  for (let second = from; second < to; second += intervalSeconds) {
    clock.ms += 1000 * intervalSeconds;
    const turn = second / intervalSeconds;
    change(turn);
    if (turn % TICKS_PER_VISIT === 0) for (const viewer of hub.viewers) hub.remove(viewer);
    if (turn % TICKS_PER_VISIT === 1) for (const each of subprotocols) hub.add(openViewer(each));
    hub.tick();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function measure(): Resources {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return { heapBytes: heapUsed + external, openFiles: readdirSync('/proc/self/fd').length };
}

await work(0, seconds / 2);
const early = measure();
await work(seconds / 2, seconds);
const late = measure();
process.stdout.write(
  JSON.stringify({ early, late, received: Object.fromEntries(received), warnings: [...warnings] }),
);
sampler.close();
prober.close();
reader.close();
machine[Symbol.dispose]();
