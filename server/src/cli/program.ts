import { type Command, CommanderError } from 'commander';

import { version } from '#server/lib/version.ts';

import { USAGE_EXIT_CODE, explainError } from './command-error.ts';
import { type CommandProcess, commandProcess, runIn } from './command-process.ts';
import { newCommand } from './command.ts';
import { printNote } from './output.ts';

/** Every command, in the order of the help. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./serve.ts')).serveCommand(),
  migrate: async () => (await import('./migrate.ts')).migrateCommand(),
  spread: async () => (await import('./spread.ts')).spreadCommand(),
  'check-config': async () => (await import('./check-config.ts')).checkConfigCommand(),
  doctor: async () => (await import('./doctor/doctor.ts')).doctorCommand(),
  catalog: async () => (await import('./catalog.ts')).catalogCommand(),
  license: async () => (await import('./license/license.ts')).licenseCommand(),
  import: async () => (await import('./import/import.ts')).importCommand(),
  imports: async () => (await import('./imports.ts')).importsCommand(),
  pool: async () => (await import('./pool.ts')).poolCommand(),
  key: async () => (await import('./key.ts')).keyCommand(),
  operator: async () => (await import('./operator.ts')).operatorCommand(),
  secret: async () => (await import('./secret.ts')).secretCommand(),
  'signing-key': async () => (await import('./signing-key.ts')).signingKeyCommand(),
  revenue: async () => (await import('./revenue.ts')).revenueCommand(),
  webhook: async () => (await import('./webhook.ts')).webhookCommand(),
  endpoint: async () => (await import('./endpoint/endpoint.ts')).endpointCommand(),
  fleet: async () => (await import('./fleet.ts')).fleetCommand(),
  jobs: async () => (await import('./jobs.ts')).jobsCommand(),
  mail: async () => (await import('./mail.ts')).mailCommand(),
  subscriber: async () => (await import('./subscriber.ts')).subscriberCommand(),
  suppression: async () => (await import('./suppression.ts')).suppressionCommand(),
  report: async () => (await import('./report/report.ts')).reportCommand(),
  events: async () => (await import('./events.ts')).eventsCommand(),
  install: async () => (await import('./install.ts')).installCommand(),
  machine: async () => (await import('./machine.ts')).machineCommand(),
  customer: async () => (await import('./customer.ts')).customerCommand(),
  audit: async () => (await import('./audit.ts')).auditCommand(),
  backup: async () => (await import('./backup.ts')).backupCommand(),
  restore: async () => (await import('./restore.ts')).restoreCommand(),
  'upgrade-database': async () => (await import('./upgrade-database.ts')).upgradeDatabaseCommand(),
  export: async () => (await import('./export.ts')).exportCommand(),
  version: async () => (await import('./version.ts')).versionCommand(),
};

/**
 * Builds the command line.
 * @param only builds this command alone, without the imports of the others: the service then uses 6 MB less memory.
 * Every command is built if it is not the name of one
 */
export async function buildProgram(only = ''): Promise<Command> {
  const program = newCommand({
    name: 'latchkey',
    description: 'Licenses, trials, usage and analytics for desktop software, on your own server.',
    examples: {
      serve: 'Run the service; without settings, on a PostgreSQL of its own',
      'license issue --product personal': 'Issue a license and print its key',
      doctor: 'Find configuration and operation problems',
    },
  }).version(version, '-V, --version', 'print the version');
  const wanted = Object.hasOwn(COMMANDS, only) ? [only] : Object.keys(COMMANDS);
  for (const name of wanted) {
    const command = await COMMANDS[name]?.();
    if (command !== undefined) program.addCommand(command);
  }
  prepareAll(program);
  return program;
}

/**
 * Runs one command.
 * @param args the arguments after the name of the program
 * @param target the streams of the command
 * @returns the exit code: 0 success, 1 failure, 2 wrong usage, 78 wrong configuration
 */
export function runCommandLine(
  args: readonly string[],
  target: CommandProcess = process,
): Promise<number> {
  return runIn(target, async () => {
    const program = await buildProgram(args[0]);
    if (args.length === 0) {
      program.outputHelp();
      return 0;
    }
    try {
      await program.parseAsync(args, { from: 'user' });
      return Number(target.exitCode ?? 0);
    } catch (error) {
      return printError(error);
    }
  });
}

/** Prints the error and returns the exit code. */
function printError(error: unknown): number {
  // Commander has printed the problem of the arguments.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_EXIT_CODE;
  const { lines, exitCode } = explainError(error);
  for (const line of lines) printNote(`latchkey: ${line}`);
  if (process.env['LATCHKEY_LOG_LEVEL'] === 'debug' && error instanceof Error) {
    printNote(error.stack ?? '');
  }
  return exitCode;
}

/** Applies the settings that subcommands from other files do not inherit. */
function prepareAll(command: Command): void {
  command
    .exitOverride()
    .helpCommand(false)
    .showHelpAfterError(`Try: ${pathOf(command)} --help`)
    .configureOutput({
      writeOut: (text) => commandProcess().stdout.write(text),
      writeErr: (text) => commandProcess().stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /u, 'latchkey: ')),
    });
  for (const child of command.commands) prepareAll(child);
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/**
 * Ends the process when its output cannot be written: a closed pipe (`latchkey export … | head`) is no failure, a full
 * disk is one.
 */
export function exitWhenOutputFails(): void {
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') process.exit(0);
    printNote(`latchkey: The output cannot be written (${message}).`);
    process.exit(1);
  });
}
