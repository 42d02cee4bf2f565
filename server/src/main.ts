import { exitWhenOutputFails, runCommandLine } from './cli/program.ts';

exitWhenOutputFails();
process.exitCode = await runCommandLine(process.argv.slice(2));
