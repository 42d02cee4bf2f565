import type { Measurement } from '../../../bench/lib/report.ts';
import type { AgentProcess } from '../lib/agent-process.ts';
import { readUsage } from '../lib/process-tree.ts';
import { connectStalledViewer } from '../lib/stalled-viewer.ts';

const MEBIBYTE = 2 ** 20;
const GROWTH_GOAL_MB = 2;
const DROPPED_GOAL_SECONDS = 60;
const LOOK_EVERY_MS = 500;

/** Measures a viewer that reads nothing: the growth of the agent's memory, and the time until it is disconnected. */
export async function measureStalledViewer(agent: AgentProcess): Promise<Measurement[]> {
  const before = readUsage(agent.pid).privateBytes;
  const startedAt = performance.now();
  const seconds = (): number => (performance.now() - startedAt) / 1000;
  let most = before;
  using viewer = await connectStalledViewer(agent.port);
  while (viewer.isKept() && seconds() < 2 * DROPPED_GOAL_SECONDS) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    most = Math.max(most, readUsage(agent.pid).privateBytes);
  }
  return [
    {
      name: 'a viewer that reads nothing: dropped after',
      value: viewer.isKept() ? Number.POSITIVE_INFINITY : seconds(),
      unit: 's',
      goal: { atMost: DROPPED_GOAL_SECONDS },
    },
    {
      name: 'a viewer that reads nothing: growth of private memory, at most',
      value: (most - before) / MEBIBYTE,
      unit: 'MB',
      goal: { atMost: GROWTH_GOAL_MB },
    },
  ];
}
