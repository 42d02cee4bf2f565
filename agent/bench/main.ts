/**
 * Measures the packaged agent beside other programs of the kind, and with many viewers.
 *
 *   npm run bench:agent                              about five minutes
 *   npm run bench:agent -- --seconds 10 --viewers 50   a look at whether everything still runs
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { describeMachine } from '../../bench/lib/machine.ts';
import { printFigures } from '../../bench/lib/report.ts';
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
  printFigures(await measureCost(agent, directory, seconds));
  printFigures(await measureStalledViewer(agent));
  printFigures(await measureViewers(agent, Number(values.viewers), Math.min(seconds, 60)));
} finally {
  rmSync(directory, { recursive: true });
}
