/** `npm run soak`: a simulated day of many machines, with faults in between, and an audit of everything acknowledged. */
import { findForeignSettings } from '../scripts/demo/home.ts';
import { listenForStop } from '../scripts/lib/stop-signals.ts';
import { HELP, readOptions, UsageError, type SoakOptions } from './options.ts';
import { EXIT_CODES } from './verdict.ts';
import type { YearOptions } from './year/run-year.ts';
import { readYearOptions } from './year/year-options.ts';

const USAGE_EXIT_CODE = 2;
const CONFIGURATION_EXIT_CODE = 78;

try {
  const args = process.argv.slice(2);
  const year = readYearOptions(args);
  const options = year ?? readOptions(args);
  if (options === null) process.stdout.write(HELP);
  else process.exitCode = await start(options);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\nRun npm run soak -- --help for the options.\n`);
  process.exitCode = USAGE_EXIT_CODE;
}

async function start(options: SoakOptions | YearOptions): Promise<number> {
  const foreign = findForeignSettings(process.env);
  if (foreign.length > 0) {
    process.stderr.write(
      `The soak uses no settings of a real installation. Unset these variables first: ${foreign.join(', ')}.\n`,
    );
    return CONFIGURATION_EXIT_CODE;
  }
  if ('buyers' in options) {
    const { printYear } = await import('./year/print-year.ts');
    return printYear(options);
  }
  const stop = listenForStop();
  // Loads the whole service, which help and refusals do not need.
  const { runSoak } = await import('./run-soak.ts');
  try {
    const verdict = await runSoak(options, stop.signal);
    return stop.exitCode() ?? EXIT_CODES[verdict];
  } catch (error) {
    const stopped = stop.exitCode();
    // A signal also ends the process that activates the machines.
    if (stopped === null) throw error;
    return stopped;
  }
}
