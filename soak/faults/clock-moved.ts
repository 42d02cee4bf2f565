import { glob, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { MESSAGE_NOT_SENT, MESSAGE_UNKNOWN } from '../load/operations.ts';
import type { Service } from '../service/service.ts';
import type { Fault, FaultTarget } from './fault.ts';

/** Of Debian's package `libfaketime`. */
const LIBRARY = '/usr/{lib,lib64}/{*/,}faketime/libfaketimeMT.so.1';

const HOUR_S = 3_600;

/** Ahead, behind, and right again, in seconds. The database keeps the right time. */
const OFFSETS_S = [2 * HOUR_S, -2 * HOUR_S, 0] as const;

/** The library reads the offset once a second. */
const MOVE_TIMEOUT_MS = 20_000;
const TOLERANCE_S = 60;
const ANSWER_TIMEOUT_MS = 2_000;

export const clockMoved: Fault = {
  name: 'clock moved',
  effect:
    'Restarts the service under libfaketime, moves its clock two hours ahead, then two hours behind, and right again, and restarts it without.',
  // Stops of the service close idle connections, on which a request may be on its way. A limit takes what it counted before the clock
  // was set back as a quota that is used up.
  allowed: [
    'no answer',
    '503 draining',
    '503 starting',
    '401 stale_signature',
    '429 rate_limited',
    MESSAGE_NOT_SENT,
    MESSAGE_UNKNOWN,
  ],
  // It ends with a start of the service and its database, as after "service killed".
  recoveryMs: 60_000,
  async findObstacle() {
    return (await findLibrary()) === null
      ? 'libfaketime is not installed (apt-get install libfaketime)'
      : null;
  },
  async cause(target) {
    const file = join(target.home, 'clock');
    await writeFile(file, '+0');
    await target.service.stop();
    await target.service.start(await createSettings(file));
    try {
      for (const offset of OFFSETS_S) await move(target, file, offset);
    } finally {
      await target.service.stop();
    }
  },
  repair: ({ service }) => service.start(),
};

async function findLibrary(): Promise<string | null> {
  for await (const path of glob(LIBRARY)) return path;
  return null;
}

async function createSettings(file: string): Promise<Readonly<Record<string, string>>> {
  return {
    LD_PRELOAD: (await findLibrary()) ?? '',
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    // Timers must not jump: the clock that they use does not, on a real machine.
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
  };
}

/** Moves the clock and waits until the service shows the new time. */
async function move({ holdMs, service }: FaultTarget, file: string, offset: number): Promise<void> {
  await writeFile(file, offset < 0 ? String(offset) : `+${offset}`);
  const deadline = performance.now() + MOVE_TIMEOUT_MS;
  while (!(Math.abs((await readOffset(service)) - offset) <= TOLERANCE_S)) {
    if (performance.now() > deadline) throw new Error('the clock of the service did not move');
    await sleep(100);
  }
  await sleep(holdMs / 3);
}

/** Returns by how many seconds the clock of the service is ahead; NaN without an answer. */
async function readOffset(service: Service): Promise<number> {
  const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  const response = await fetch(`${service.url}/api/v1/health/live`, { signal }).catch(() => null);
  if (response === null) return Number.NaN;
  await response.body?.cancel();
  return (Date.parse(response.headers.get('date') ?? '') - Date.now()) / 1_000;
}
