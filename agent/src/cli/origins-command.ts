import { readFileSync, statSync } from 'node:fs';

import { Command, InvalidArgumentError } from 'commander';

import { ConfigError } from '../config/config.ts';
import { loadConfig, normalizeOrigin, ORIGIN, parseConfig } from '../config/load-config.ts';
import { commandProcess } from './command-process.ts';
import {
  configOption,
  type ConfigOptions,
  jsonOption,
  type OutputOptions,
  printResult,
  withExamples,
} from './output.ts';

type Options = ConfigOptions & OutputOptions;

/** `latchkey-agent origins`: which pages of other sites may watch. */
export function originsCommand(): Command {
  const command = new Command('origins')
    .description(
      'List and change the pages of other sites that may watch (viewers.allowed_origins), such as a page of many machines.',
    )
    .addCommand(addCommand())
    .addCommand(listCommand())
    .addCommand(removeCommand());
  return withExamples(command, [
    ['origins add https://console.example.com', 'Let that console watch this machine'],
    ['origins list', 'Who may'],
  ]);
}

function addCommand(): Command {
  const command = new Command('add')
    .description('Allow pages of an origin to watch, from now on; for root. Exit code 0, 1 or 78.')
    .argument('<origin...>', 'such as https://console.example.com; "*": every page', readOrigins)
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (added: readonly string[], options: Options) =>
      change(options, (before) => [...new Set([...before, ...added])]),
    );
  return withExamples(command, [
    ['origins add https://console.example.com', 'Let that console watch this machine'],
  ]);
}

function removeCommand(): Command {
  const command = new Command('remove')
    .description(
      'No longer allow pages of an origin to watch, and disconnect them; for root. Exit code 0, 1 or 78.',
    )
    .argument('<origin...>', 'as in the list', readOrigins)
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (removed: readonly string[], options: Options) =>
      change(options, (before) => withoutThese(before, removed, options.config)),
    );
  return withExamples(command, [
    ['origins remove https://console.example.com', 'Disconnect that console'],
  ]);
}

function listCommand(): Command {
  const command = new Command('list')
    .description('List the origins whose pages may watch. Exit code 0 or 78.')
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (options: Options) => {
      const origins = [...(await loadConfig(options.config)).allowedOrigins];
      const none = 'None: only the page of the agent itself may watch.';
      printResult(options, { origins }, () => origins.join('\n') || none);
    });
  return withExamples(command, [["origins list --json | jq -r '.origins[]'", 'For a program']]);
}

/** Collects the arguments. */
function readOrigins(text: string, before: readonly string[] = []): readonly string[] {
  if (!ORIGIN.pattern.test(text)) throw new InvalidArgumentError(`It must be ${ORIGIN.must}.`);
  return [...before, normalizeOrigin(text)];
}

/** @throws ConfigError for an origin that is not in the list */
function withoutThese(
  before: readonly string[],
  removed: readonly string[],
  path: string,
): readonly string[] {
  const unknown = removed.filter((each) => !before.includes(each));
  if (unknown.length === 0) return before.filter((each) => !removed.includes(each));
  const list = before.length === 0 ? 'it allows none' : `it allows ${before.join(', ')}`;
  throw new ConfigError([`${path} does not allow ${unknown.join(', ')}: ${list}.`]);
}

/** Changes the list in the file, and has the running agent apply it. */
async function change(
  options: Options,
  decide: (before: readonly string[]) => readonly string[],
): Promise<void> {
  const { config: path } = options;
  const { allowedOrigins, controlSocket } = await loadConfig(path);
  const before = [...allowedOrigins];
  const origins = decide(before);
  const isChanged = origins.length !== before.length;
  if (isChanged) await write(path, origins);
  const problem = await apply(controlSocket);
  printResult(options, { origins, changed: isChanged, applied: problem === null, problem }, () =>
    describe(path, origins, isChanged, problem),
  );
  if (problem !== null) commandProcess().exitCode = 1;
}

async function write(path: string, origins: readonly string[]): Promise<void> {
  const { setAllowedOrigins } = await import('../config/edit-origins.ts');
  const { writeFile } = await import('../system/write-file.ts');
  const text = await setAllowedOrigins(readFileSync(path, 'utf8'), origins);
  await parseConfig(text, path);
  const { mode, uid, gid } = statSync(path);
  writeFile(path, text, { mode: mode & 0o7777, uid, gid });
}

/** @returns why the running agent does not use the list yet; null when it does */
async function apply(controlSocket: string | null): Promise<string | null> {
  if (controlSocket === null) return 'control_socket is null: send the agent SIGHUP to apply it.';
  const { requestReload } = await import('../service/client.ts');
  return requestReload(controlSocket);
}

function describe(
  path: string,
  origins: readonly string[],
  isChanged: boolean,
  problem: string | null,
): string {
  const list = origins.length === 0 ? 'None' : origins.join(', ');
  return [
    `${isChanged ? `${path} is changed` : `${path} is unchanged`}. Pages of other sites that may watch: ${list}.`,
    problem ?? 'The running agent applies it.',
  ].join('\n');
}
