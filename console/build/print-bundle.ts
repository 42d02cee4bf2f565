/**
 * Prints the console as JSON: `node console/build/print-bundle.ts`. The service runs this at the first visit of a clone, in a
 * process of its own, because the bundler needs 165 MB.
 */
import { bundleConsole, encodeBundle } from './bundle.ts';

process.stdout.write(encodeBundle(await bundleConsole()));
