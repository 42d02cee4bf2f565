import { Command } from 'commander';

import { ConfigError } from '../config/config.ts';
import { loadConfig } from '../config/load-config.ts';
import { type ConfigOptions, configOption } from './config-option.ts';
import { jsonOption, type OutputOptions, printResult, withExamples } from './output.ts';

/** `latchkey-agent reload`: has the agent that runs read its files again, and says whether it took them. */
export function reloadCommand(): Command {
  const command = new Command('reload')
    .description(
      'Have the agent on this machine read certificates, lists and tokens again; exit code 0 or 1.',
    )
    .addOption(configOption())
    .addOption(jsonOption())
    .action(reload);
  return withExamples(command, [
    ['reload', 'After a certificate was renewed, or a token added'],
    [
      'reload || journalctl --unit latchkey-agent --lines 20',
      'What the agent says when it refuses',
    ],
  ]);
}

async function reload(options: ConfigOptions & OutputOptions): Promise<void> {
  const { controlSocket } = await loadConfig(options.config);
  if (controlSocket === null) {
    throw new ConfigError([
      'There is no control_socket in the configuration: send the agent SIGHUP instead.',
    ]);
  }
  const { askReload } = await import('../service/ask-reload.ts');
  const problem = await askReload(controlSocket);
  const taken = 'The agent took its certificates, lists and tokens anew.';
  printResult(options, { reloaded: problem === null, problem }, () => problem ?? taken);
  if (problem !== null) process.exitCode = 1;
}
