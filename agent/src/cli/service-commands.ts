import { Command, Option } from 'commander';

import { askHealth } from '../service/client.ts';
import { systemClock } from '../clock.ts';
import { checkEnvironment, type EnvironmentProblem } from '../config/check-environment.ts';
import { CONFIG_EXIT_CODE, ConfigError } from '../config/config.ts';
import { loadConfig } from '../config/load-config.ts';
import {
  configOption,
  type ConfigOptions,
  jsonOption,
  type OutputOptions,
  printResult,
  withExamples,
} from './output.ts';

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
  const { askReload } = await import('../service/client.ts');
  const problem = await askReload(controlSocket);
  const taken = 'The agent took its certificates, lists and tokens anew.';
  printResult(options, { reloaded: problem === null, problem }, () => problem ?? taken);
  if (problem !== null) process.exitCode = 1;
}

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

interface Options extends ConfigOptions, OutputOptions {
  readonly environment: boolean;
}

/** `latchkey-agent validate`: says what is wrong before a start does. */
export function validateCommand(): Command {
  const command = new Command('validate')
    .description(
      'Check the configuration, its files and certificates, and the port; exit code 0 or 78.',
    )
    .addOption(configOption())
    .addOption(new Option('--no-environment', 'check the configuration file alone'))
    .addOption(jsonOption())
    .action(validate);
  return withExamples(command, [
    ['validate', 'Whether the agent would start here'],
    ['validate --no-environment --config ./agent.yaml', 'Whether a file is well written'],
  ]);
}

async function validate(options: Options): Promise<void> {
  const findings = await check(options);
  printResult(options, { valid: findings.problems.length === 0, ...findings }, () =>
    describe(options.config, findings),
  );
  if (findings.problems.length > 0) process.exitCode = CONFIG_EXIT_CODE;
}

/** Sentences. */
interface Validation {
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

async function check({ config: path, environment }: Options): Promise<Validation> {
  try {
    const config = await loadConfig(path);
    if (!environment) return { problems: [], warnings: [] };
    const { problems, warnings } = await checkEnvironment(config, systemClock.now());
    return { problems: problems.map(readMessage), warnings: warnings.map(readMessage) };
  } catch (error) {
    if (error instanceof ConfigError) return { problems: error.problems, warnings: [] };
    throw error;
  }
}

function readMessage({ message }: EnvironmentProblem): string {
  return message;
}

function describe(path: string, { problems, warnings }: Validation): string {
  return [
    ...problems.map((each) => `✗ ${each}`),
    ...warnings.map((each) => `! ${each}`),
    ...(problems.length === 0 ? [`✓ ${path} is valid.`] : []),
  ].join('\n');
}
