import { Command, Option } from 'commander';

import { checkAgentHealth } from '../service/client.ts';
import { systemClock } from '../clock.ts';
import { checkEnvironment, type EnvironmentProblem } from '../config/check-environment.ts';
import { CONFIG_EXIT_CODE, ConfigError } from '../config/config.ts';
import { loadConfig } from '../config/load-config.ts';
import { commandProcess } from './command-process.ts';
import {
  configOption,
  type ConfigOptions,
  jsonOption,
  type OutputOptions,
  printResult,
  withExamples,
} from './output.ts';

/** `latchkey-agent reload`: reloads the running agent's files and reports the outcome. */
export function reloadCommand(): Command {
  const command = new Command('reload')
    .description(
      'Reload certificates, revocation lists, tokens and allowed origins of the running agent; exit code 0 or 1.',
    )
    .addOption(configOption())
    .addOption(jsonOption())
    .action(reload);
  return withExamples(command, [
    ['reload', 'After a certificate was renewed, or a token added'],
    [
      'reload || journalctl --unit latchkey-agent --lines 20',
      'The log of the agent when a reload fails',
    ],
  ]);
}

async function reload(options: ConfigOptions & OutputOptions): Promise<void> {
  const { controlSocket } = await loadConfig(options.config);
  if (controlSocket === null) {
    throw new ConfigError([
      'control_socket is null in the configuration: send the agent SIGHUP instead.',
    ]);
  }
  const { requestReload } = await import('../service/client.ts');
  const problem = await requestReload(controlSocket);
  const done = 'The agent has reloaded its certificates, lists, tokens and allowed origins.';
  printResult(options, { reloaded: problem === null, problem }, () => problem ?? done);
  if (problem !== null) commandProcess().exitCode = 1;
}

/** `latchkey-agent health`: checks the running agent. */
export function healthCommand(): Command {
  const command = new Command('health')
    .description('Check whether the agent on this machine answers; exit code 0 or 1.')
    .addOption(configOption())
    .addOption(jsonOption())
    .action(health);
  return withExamples(command, [['health', 'OK, or the problem']]);
}

async function health(options: ConfigOptions & OutputOptions): Promise<void> {
  const problem = await checkAgentHealth(await loadConfig(options.config));
  printResult(options, { healthy: problem === null, problem }, () => problem ?? 'OK');
  if (problem !== null) commandProcess().exitCode = 1;
}

interface Options extends ConfigOptions, OutputOptions {
  readonly environment: boolean;
}

/** `latchkey-agent validate`: checks the configuration before a start. */
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
    ['validate --no-environment --config ./agent.yaml', 'Check the syntax of a file'],
  ]);
}

async function validate(options: Options): Promise<void> {
  const findings = await check(options);
  printResult(options, { valid: findings.problems.length === 0, ...findings }, () =>
    describe(options.config, findings),
  );
  if (findings.problems.length > 0) commandProcess().exitCode = CONFIG_EXIT_CODE;
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
