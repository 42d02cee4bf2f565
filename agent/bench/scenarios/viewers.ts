import { fork } from 'node:child_process';
import { once } from 'node:events';

import { Value } from 'typebox/value';

import { type Measurement, median } from '../../../bench/lib/report.ts';
import type { AgentProcess } from '../lib/agent-process.ts';
import { CrowdResult } from '../lib/crowd-result.ts';
import { readUsage } from '../lib/process-tree.ts';

const LAST_VIEWER_GOAL_MS = 150;
const HALF_A_CORE_MS = 500;

/**
 * Measures many concurrent viewers in a separate process: whether each gets every snapshot, the delay of the last one, and the
 * cost for the agent.
 */
export async function measureViewers(
  agent: AgentProcess,
  viewers: number,
  seconds: number,
): Promise<Measurement[]> {
  const options = [agent.port, viewers, seconds].map(String);
  const crowd = fork(new URL('../lib/crowd.ts', import.meta.url), options);
  await once(crowd, 'message');
  const before = readUsage(agent.pid);
  const startedAt = performance.now();
  const result = Value.Parse(CrowdResult, (await once(crowd, 'message'))[0]);
  const elapsedSeconds = (performance.now() - startedAt) / 1000;
  const after = readUsage(agent.pid);
  const cpuMs = (1000 * (after.cpuSeconds - before.cpuSeconds)) / elapsedSeconds;
  return [
    {
      name: `${viewers} viewers: snapshots that one of them did not get`,
      value: result.missed,
      unit: `of ${viewers * result.lastMs.length}`,
      goal: { atMost: 0 },
    },
    {
      name: `${viewers} viewers: the last one has a snapshot, median`,
      value: median(result.lastMs),
      unit: 'ms',
    },
    {
      name: `${viewers} viewers: the last one has a snapshot, at worst`,
      value: Math.max(...result.lastMs),
      unit: 'ms',
      goal: { atMost: LAST_VIEWER_GOAL_MS },
    },
    {
      name: `${viewers} viewers: processor time for a second`,
      value: cpuMs,
      unit: 'ms',
      goal: { atMost: HALF_A_CORE_MS },
    },
  ];
}
