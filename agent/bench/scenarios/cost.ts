import { type Measurement } from '../../../bench/lib/report.ts';
import { listOthers } from '../lib/others.ts';
import { readUsage, type Usage } from '../lib/process-tree.ts';
import { type Program, startProgram } from '../lib/program.ts';

const SETTLE_SECONDS = 10;
const MEBIBYTE = 2 ** 20;

const CPU_GOAL_MS = 8;
const PRIVATE_GOAL_MB = 24;

/**
 * Measures processor time and memory of the agent with one viewer, and of similar programs at the same time, each queried once a
 * second, including child processes.
 * @param agent with a connected viewer
 */
export async function measureCost(
  agent: Program,
  directory: string,
  seconds: number,
): Promise<Measurement[]> {
  await using stack = new AsyncDisposableStack();
  const programs = [agent];
  for (const other of listOthers(directory)) {
    if ('absent' in other) console.log(`${other.name}: ${other.absent}`);
    else programs.push(stack.use(await startProgram(other)));
  }
  await askEachSecond(programs, SETTLE_SECONDS);
  const before = programs.map(({ pid }) => readUsage(pid));
  const startedAt = performance.now();
  await askEachSecond(programs, seconds);
  const elapsedSeconds = (performance.now() - startedAt) / 1000;
  return programs.flatMap((program, index) => {
    const after = readUsage(program.pid);
    const spent = after.cpuSeconds - (before[index]?.cpuSeconds ?? Number.NaN);
    return describe(program, (1000 * spent) / elapsedSeconds, after, program === agent);
  });
}

async function askEachSecond(programs: readonly Program[], seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    const next = new Promise((resolve) => setTimeout(resolve, 1000));
    await Promise.all([next, ...programs.map((program) => program.query())]);
  }
}

function describe(
  { name }: Program,
  cpuMs: number,
  { processes, privateBytes, residentBytes }: Usage,
  hasGoals: boolean,
): Measurement[] {
  const cpu = { name: `${name}: processor time for a second`, value: cpuMs, unit: 'ms' };
  const own = {
    name: `${name}: private memory`,
    value: privateBytes / MEBIBYTE,
    unit: 'MB',
  };
  return [
    hasGoals ? { ...cpu, goal: { atMost: CPU_GOAL_MS } } : cpu,
    hasGoals ? { ...own, goal: { atMost: PRIVATE_GOAL_MB } } : own,
    { name: `${name}: resident memory`, value: residentBytes / MEBIBYTE, unit: 'MB' },
    { name: `${name}: processes`, value: processes, unit: '' },
  ];
}
