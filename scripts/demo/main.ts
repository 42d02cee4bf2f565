/** `npm run demo`: a service of its own, filled with the data of an invented vendor, on this machine only. */
import { findForeignSettings } from './home.ts';
import { requireFreePorts } from './local/ports.ts';
import { HELP, readOptions, UsageError, type DemoOptions } from './options.ts';

const USAGE_EXIT_CODE = 2;
const CONFIGURATION_EXIT_CODE = 78;

try {
  const options = readOptions(process.argv.slice(2));
  if (options === null) process.stdout.write(HELP);
  else process.exitCode = await start(options);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\nRun npm run demo -- --help for the options.\n`);
  process.exitCode = USAGE_EXIT_CODE;
}

async function start(options: DemoOptions): Promise<number> {
  const foreign = findForeignSettings(process.env);
  if (foreign.length > 0) {
    process.stderr.write(
      `The demo uses no settings of a real installation. Unset these variables first: ${foreign.join(', ')}.\n`,
    );
    return CONFIGURATION_EXIT_CODE;
  }
  await requireFreePorts([options.port, options.port + 1]);
  // Loads the whole service, which help and refusals do not need.
  const { runDemo } = await import('./run-demo.ts');
  return runDemo(options);
}
