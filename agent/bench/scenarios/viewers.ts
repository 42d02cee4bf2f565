import { fork } from 'node:child_process';
import { once } from 'node:events';

import type { AgentSubprotocol } from '@latchkey/contract';
import { Value } from 'typebox/value';

import { type Measurement, median } from '../../../bench/lib/report.ts';
import type { AgentProcess } from '../lib/agent-process.ts';
import { CrowdResult } from '../lib/crowd-result.ts';
import { readUsage } from '../lib/process-tree.ts';

const LAST_VIEWER_GOAL_MS = 150;

/** A thousand brief viewers take turns within four ticks. */
const LAST_BRIEF_VIEWER_GOAL_MS = 3000 + LAST_VIEWER_GOAL_MS;
const HALF_A_CORE_MS = 500;

/** The goal for brief viewers, relative to the others. */
const BRIEF_RATIO = 0.5;

/**
 * Measures many concurrent viewers in a separate process: whether each gets every snapshot, the delay of the last one, and the
 * cost for the agent; then the same for viewers of `latchkey.brief.v1`.
 */
export async function measureViewers(
  agent: AgentProcess,
  viewers: number,
  seconds: number,
): Promise<Measurement[]> {
  agent.disconnect();
  const whole = await measureCrowd(agent, viewers, seconds, 'latchkey.snapshot.v1');
  const brief = await measureCrowd(agent, viewers, seconds, 'latchkey.brief.v1');
  return [
    ...describeCrowd(`${viewers} viewers`, whole, LAST_VIEWER_GOAL_MS),
    ...describeCrowd(`${viewers} brief viewers`, brief, LAST_BRIEF_VIEWER_GOAL_MS),
    {
      name: `${viewers} brief viewers: processor time, relative to the others`,
      value: brief.cpuMs / whole.cpuMs,
      unit: '',
      goal: { atMost: BRIEF_RATIO },
    },
  ];
}

interface Crowd extends CrowdResult {
  readonly viewers: number;
  /** Processor time of the agent in a second. */
  readonly cpuMs: number;
}

async function measureCrowd(
  agent: AgentProcess,
  viewers: number,
  seconds: number,
  subprotocol: AgentSubprotocol,
): Promise<Crowd> {
  const options = [...[agent.port, viewers, seconds].map(String), subprotocol];
  const crowd = fork(new URL('../lib/crowd.ts', import.meta.url), options);
  await once(crowd, 'message');
  const before = readUsage(agent.pid);
  const startedAt = performance.now();
  const result = Value.Parse(CrowdResult, (await once(crowd, 'message'))[0]);
  const elapsedSeconds = (performance.now() - startedAt) / 1000;
  const after = readUsage(agent.pid);
  await once(crowd, 'exit');
  const cpuMs = (1000 * (after.cpuSeconds - before.cpuSeconds)) / elapsedSeconds;
  return { ...result, viewers, cpuMs };
}

function describeCrowd(
  name: string,
  { lastMs, missed, viewers, cpuMs }: Crowd,
  lastGoalMs: number,
): Measurement[] {
  return [
    {
      name: `${name}: snapshots that one of them did not get`,
      value: missed,
      unit: `of ${viewers * lastMs.length}`,
      goal: { atMost: 0 },
    },
    {
      name: `${name}: the last one has a snapshot, median`,
      value: median(lastMs),
      unit: 'ms',
    },
    {
      name: `${name}: the last one has a snapshot, at worst`,
      value: Math.max(...lastMs),
      unit: 'ms',
      goal: { atMost: lastGoalMs },
    },
    {
      name: `${name}: processor time for a second`,
      value: cpuMs,
      unit: 'ms',
      goal: { atMost: HALF_A_CORE_MS },
    },
  ];
}
