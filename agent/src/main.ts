import { runCommandLine } from './cli/program.ts';

// No `await` here: the package is CommonJS, which has none outside of functions.
void runCommandLine(process.argv.slice(2));
