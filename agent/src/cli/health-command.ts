import { Command } from 'commander';

import { askHealth } from '../ask-health.ts';
import { loadConfig } from '../config/load-config.ts';
import { type ConfigOptions, configOption } from './config-option.ts';
import { jsonOption, type OutputOptions, printResult, withExamples } from './output.ts';

/** `latchkey-agent health`: asks the agent that runs. */
export function healthCommand(): Command {
  const command = new Command('health')
    .description('Ask the agent on this machine whether it answers; exit code 0 or 1.')
    .addOption(configOption())
    .addOption(jsonOption())
    .action(health);
  return withExamples(command, [['health', 'OK, or what is wrong']]);
}

async function health(options: ConfigOptions & OutputOptions): Promise<void> {
  const problem = await askHealth(await loadConfig(options.config));
  printResult(options, { healthy: problem === null, problem }, () => problem ?? 'OK');
  if (problem !== null) process.exitCode = 1;
}
