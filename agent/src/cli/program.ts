import { Command, CommanderError } from 'commander';

import { AuthorityError } from '../authority/authority-error.ts';
import { CONFIG_EXIT_CODE, ConfigError } from '../config/config.ts';
import { TlsFileError } from '../tls/tls-files.ts';
import { version } from '../version.ts';
import { clientCertCommand } from './client-cert-command.ts';
import { doctorCommand } from './doctor-command.ts';
import { healthCommand } from './health-command.ts';
import { installCommand } from './install-command.ts';
import { onceCommand } from './once-command.ts';
import { printNote, withExamples } from './output.ts';
import { reloadCommand } from './reload-command.ts';
import { runCommand } from './run-command.ts';
import { uninstallCommand } from './uninstall-command.ts';
import { validateCommand } from './validate-command.ts';
import { versionCommand } from './version-command.ts';
import { watchCommand } from './watch-command.ts';

/** The command line was not understood. */
const USAGE_EXIT_CODE = 2;

/** The whole help is longer than a terminal is high: what is wrong would be scrolled away. */
const HINT = 'Add --help to see what is understood.';

/** The whole command line, in the order of its help. */
export function buildProgram(): Command {
  const program = new Command('latchkey-agent')
    .description("Collects a Linux machine's vital signs and streams them over TLS.")
    .version(version, '-V, --version', 'print the version')
    .addCommand(runCommand())
    .addCommand(validateCommand())
    .addCommand(reloadCommand())
    .addCommand(healthCommand())
    .addCommand(doctorCommand())
    .addCommand(onceCommand())
    .addCommand(watchCommand())
    .addCommand(clientCertCommand())
    .addCommand(installCommand())
    .addCommand(uninstallCommand())
    .addCommand(versionCommand());
  withExamples(program, [
    ['once', 'What this machine does now'],
    ['watch wss://db-1.example.com:4096', 'What another machine does, live'],
    ['validate && latchkey-agent run', 'Check the configuration, then collect and stream'],
  ]);
  for (const command of withCommandsBelow(program)) {
    command.exitOverride().showHelpAfterError(HINT).allowExcessArguments(false);
  }
  return program;
}

function withCommandsBelow(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withCommandsBelow)];
}

/**
 * Runs one command and prints what went wrong on standard error, as one sentence.
 * @param args without the program's own name
 * @returns the exit code: 0, 1 (it could not be done), 2 (not understood), 78 (the configuration), or what the help of the
 * command says
 */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  const program = buildProgram();
  try {
    await program.parseAsync(args.length === 0 ? ['--help'] : args, { from: 'user' });
    // A command that says what it found without an error has set it.
    return Number(process.exitCode ?? 0);
  } catch (error) {
    // The library has printed the help, the version, or what was not understood.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_EXIT_CODE;
    if (error instanceof ConfigError || error instanceof TlsFileError) {
      printNote(error.message);
      return CONFIG_EXIT_CODE;
    }
    if (error instanceof AuthorityError) {
      printNote(error.message);
      return 1;
    }
    printNote(`This went wrong: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}
