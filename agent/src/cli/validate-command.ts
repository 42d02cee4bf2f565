import { Command, Option } from 'commander';

import { systemClock } from '../clock.ts';
import { checkEnvironment, type Findings } from '../config/check-environment.ts';
import { CONFIG_EXIT_CODE, ConfigError } from '../config/config.ts';
import { loadConfig } from '../config/load-config.ts';
import { type ConfigOptions, configOption } from './config-option.ts';
import { jsonOption, type OutputOptions, printResult, withExamples } from './output.ts';

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

async function check({ config: path, environment }: Options): Promise<Findings> {
  try {
    const config = await loadConfig(path);
    if (!environment) return { problems: [], warnings: [] };
    return await checkEnvironment(config, systemClock.now());
  } catch (error) {
    if (error instanceof ConfigError) return { problems: [...error.problems], warnings: [] };
    throw error;
  }
}

function describe(path: string, { problems, warnings }: Findings): string {
  return [
    ...problems.map((each) => `✗ ${each}`),
    ...warnings.map((each) => `! ${each}`),
    ...(problems.length === 0 ? [`✓ ${path} is valid.`] : []),
  ].join('\n');
}
