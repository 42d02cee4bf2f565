/**
 * Measures the packaged agent beside similar programs, and with many viewers.
 *
 *   npm run bench:agent                              about five minutes
 *   npm run bench:agent -- --seconds 10 --viewers 50   a quick check of the benchmark
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { describeMachine } from '../../bench/lib/machine.ts';
import { printMeasurements } from '../../bench/lib/report.ts';
import { startAgent } from './lib/agent-process.ts';
import { unpackAgent } from './lib/unpack-agent.ts';
import { measureCost } from './scenarios/cost.ts';
import { measureStalledViewer } from './scenarios/stalled.ts';
import { measureViewers } from './scenarios/viewers.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '120' },
    viewers: { type: 'string', default: '1000' },
  },
});
const seconds = Number(values.seconds);
const directory = mkdtempSync(join(tmpdir(), 'latchkey-bench-agent-'));
try {
  const { machine, cores, memoryGigabytes } = describeMachine();
  console.log(`${machine}, ${cores} cores, ${memoryGigabytes} GB`);
  await using agent = await startAgent([unpackAgent(directory)], directory);
  printMeasurements(await measureCost(agent, directory, seconds));
  printMeasurements(await measureStalledViewer(agent));
  printMeasurements(await measureViewers(agent, Number(values.viewers), Math.min(seconds, 60)));
} finally {
  rmSync(directory, { recursive: true });
}
