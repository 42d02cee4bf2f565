import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Browser } from '../browser.ts';

/** What a browser used while a page was open. */
export interface BrowserCost {
  /** The processor time by type of process, as a ratio of one core: `browser`, `renderer`, `utility` (network), `GPU`. */
  readonly cores: Readonly<Record<string, number>>;
  /** The proportional set size of the largest renderer process, which is that of the page: shared pages count in part. */
  readonly rendererBytes: number;
}

interface ProcessInfo {
  readonly id: number;
  readonly type: string;
  /** In seconds, since the start of the process. */
  readonly cpuTime: number;
}

/** Measures what all processes of a browser use in some seconds. The proportional set size is read at the end. */
export async function measureBrowser(browser: Browser, seconds: number): Promise<BrowserCost> {
  const devTools = await browser.openDevTools();
  const read = async (): Promise<readonly ProcessInfo[]> =>
    (await devTools.send('SystemInfo.getProcessInfo')).processInfo;
  const before = new Map((await read()).map(({ id, cpuTime }) => [id, cpuTime]));
  const startedAt = performance.now();
  await sleep(1000 * seconds);
  const after = await read();
  const elapsedSeconds = (performance.now() - startedAt) / 1000;
  const cores: Record<string, number> = {};
  for (const { id, type, cpuTime } of after) {
    cores[type] = (cores[type] ?? 0) + (cpuTime - (before.get(id) ?? 0)) / elapsedSeconds;
  }
  const renderers = after.filter(({ type }) => type === 'renderer');
  return { cores, rendererBytes: Math.max(...renderers.map(({ id }) => readProportionalSize(id))) };
}

/** Reads the proportional set size of a process (proc_pid_smaps(5)), in bytes. */
function readProportionalSize(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return 1024 * Number(/^Pss:\s+(?<kb>\d+) kB$/mu.exec(text)?.groups?.['kb'] ?? Number.NaN);
}
