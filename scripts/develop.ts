/** `npm run dev`: the service, which restarts after a change of a source. Options of the debugger and of `serve` are passed on. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { planDevelopment } from './lib/plan-development.ts';
import { repository } from './lib/steps.ts';
import { listenForStop } from './lib/stop-signals.ts';

const stop = listenForStop();
const child = spawn(process.execPath, planDevelopment(process.argv.slice(2)), {
  cwd: repository,
  stdio: 'inherit',
});
stop.signal.addEventListener('abort', () => void child.kill());
const [code]: unknown[] = await once(child, 'exit');
process.exitCode = stop.exitCode() ?? (typeof code === 'number' ? code : 1);
