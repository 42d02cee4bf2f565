import { Command, CommanderError } from 'commander';

import { messageOf } from '../errors.ts';
import { AuthorityError } from '../authority/context.ts';
import { CONFIG_EXIT_CODE, ConfigError } from '../config/config.ts';
import { TlsFileError } from '../tls/tls-files.ts';
import { version } from '../version.ts';
import { clientCertCommand } from './client-cert-command.ts';
import { type CommandProcess, commandProcess, runIn } from './command-process.ts';
import { doctorCommand } from './doctor-command.ts';
import { installCommand, openPortCommand, uninstallCommand } from './install-command.ts';
import { onceCommand } from './once-command.ts';
import { originsCommand } from './origins-command.ts';
import { jsonOption, type OutputOptions, printNote, printResult, withExamples } from './output.ts';
import { runCommand } from './run-command.ts';
import { healthCommand, reloadCommand, validateCommand } from './service-commands.ts';
import { watchCommand } from './watch-command.ts';

/** The command line was invalid. */
const USAGE_EXIT_CODE = 2;

/** Builds the command line, in the order of its help. */
export function buildProgram(): Command {
  const program = new Command('latchkey-agent')
    .description('Collects the metrics of a Linux machine and streams them over TLS.')
    .version(version, '-V, --version', 'print the version')
    .addCommand(runCommand())
    .addCommand(validateCommand())
    .addCommand(reloadCommand())
    .addCommand(healthCommand())
    .addCommand(doctorCommand())
    .addCommand(onceCommand())
    .addCommand(watchCommand())
    .addCommand(clientCertCommand())
    .addCommand(originsCommand())
    .addCommand(installCommand())
    .addCommand(uninstallCommand())
    .addCommand(openPortCommand(), { hidden: true })
    .addCommand(versionCommand());
  withExamples(program, [
    ['once', 'The present figures of this machine'],
    ['watch wss://db-1.example.com:4096', 'The figures of another machine, live'],
    ['validate && latchkey-agent run', 'Check the configuration, then collect and stream'],
  ]);
  for (const command of withCommandsBelow(program)) {
    // The whole help would scroll the error out of the terminal.
    const hint = `Try: ${pathOf(command)} --help`;
    command
      .exitOverride()
      .showHelpAfterError(hint)
      .allowExcessArguments(false)
      .configureOutput({
        writeOut: (text) => commandProcess().stdout.write(text),
        writeErr: (text) => commandProcess().stderr.write(text),
      });
  }
  return program;
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

function withCommandsBelow(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withCommandsBelow)];
}

/**
 * Runs a command, prints an error as one sentence on standard error, and sets the exit code: 0, 1 (failed), 2 (invalid command
 * line), 78 (invalid configuration), or a code that the help of the command documents.
 * @param args without the program's own name
 * @param target the output of the command
 */
export async function runCommandLine(
  args: readonly string[],
  target: CommandProcess = process,
): Promise<void> {
  await runIn(target, async () => {
    listenForLostOutput(target);
    const code = await execute(args);
    // An error of the output may have set it.
    if (code !== 0) target.exitCode = code;
  });
}

async function execute(args: readonly string[]): Promise<number> {
  const program = buildProgram();
  try {
    await program.parseAsync(args.length === 0 ? ['--help'] : args, { from: 'user' });
    // A command that reports a problem without an error has set it.
    return Number(commandProcess().exitCode ?? 0);
  } catch (error) {
    // The library has printed the help, the version, or the error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_EXIT_CODE;
    if (error instanceof ConfigError || error instanceof TlsFileError) {
      printNote(error.message);
      return CONFIG_EXIT_CODE;
    }
    if (error instanceof AuthorityError) {
      printNote(error.message);
      return 1;
    }
    printNote(`Failed: ${messageOf(error)}`);
    return 1;
  }
}

/**
 * Handles errors of the output: an early closed pipe (`once --json | head`) is not a failure, a full disk is. The command continues,
 * because an installation must not stop half-way when the terminal is closed.
 */
function listenForLostOutput(target: CommandProcess): void {
  target.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') return;
    target.exitCode = 1;
    printNote(`Could not write the output: ${message}.`);
  });
  // There is no output left for a report.
  target.stderr.on('error', () => undefined);
}

function versionCommand(): Command {
  const command = new Command('version')
    .description('Print the version of this program and what it runs on.')
    .addOption(jsonOption())
    .action((options: OutputOptions) => {
      const { platform, arch, versions } = process;
      const result = { version, node: versions.node, platform: `${platform}-${arch}` };
      printResult(
        options,
        result,
        () => `latchkey-agent ${version} (Node.js ${result.node}, ${result.platform})`,
      );
    });
  return withExamples(command, [['version --json', 'The version, for a program']]);
}
