import { enableCompileCache } from 'node:module';

enableCompileCache();

const { runCommandLine } = await import('./cli/program.ts');
process.exitCode = await runCommandLine(process.argv.slice(2));
