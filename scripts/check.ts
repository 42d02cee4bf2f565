/** `npm run check`: types, lint and format. */
import { runSteps, SOURCE_CHECKS } from './lib/steps.ts';
import { listenForStop } from './lib/stop-signals.ts';

const stop = listenForStop();
const failed = await runSteps(SOURCE_CHECKS, stop.signal);
process.exitCode = stop.exitCode() ?? (failed.length === 0 ? 0 : 1);
