import { Command, CommanderError } from 'commander';
import { checkConfigCommand } from './check-config.ts';
import { USAGE_EXIT_CODE, explainError } from './command-error.ts';
import { doctorCommand } from './doctor/doctor.ts';
import { endpointAddCommand } from './endpoint-add.ts';
import {
  endpointDisableCommand,
  endpointEnableCommand,
  endpointRemoveCommand,
} from './endpoint-change.ts';
import { endpointListCommand } from './endpoint-list.ts';
import { endpointLogCommand } from './endpoint-log.ts';
import { endpointReplayCommand } from './endpoint-replay.ts';
import { endpointRollCommand } from './endpoint-roll.ts';
import { endpointTestCommand } from './endpoint-test.ts';
import { exportCommand } from './export.ts';
import { installEraseCommand } from './install-erase.ts';
import { installExportCommand } from './install-export.ts';
import { installShowCommand } from './install-show.ts';
import { jobsListCommand } from './jobs-list.ts';
import { jobsRetryCommand } from './jobs-retry.ts';
import { keyCreateCommand } from './key-create.ts';
import { keyListCommand } from './key-list.ts';
import { keyRevokeCommand } from './key-revoke.ts';
import { keyRollCommand } from './key-roll.ts';
import { licenseExtendCommand } from './license-extend.ts';
import { licenseImportCommand } from './license-import.ts';
import { licenseIssueCommand } from './license-issue.ts';
import { licenseReinstateCommand } from './license-reinstate.ts';
import { licenseRevokeCommand } from './license-revoke.ts';
import { licenseShowCommand } from './license-show.ts';
import { licenseSuspendCommand } from './license-suspend.ts';
import { machineEraseCommand } from './machine-erase.ts';
import { mailPreviewCommand } from './mail-preview.ts';
import { mailResendCommand } from './mail-resend.ts';
import { migrateCommand } from './migrate.ts';
import { withExamples } from './option-values.ts';
import { printNote } from './output.ts';
import { reportCommandsOf } from './report.ts';
import { reportRefreshCommand } from './report-refresh.ts';
import { serveCommand } from './serve.ts';
import { signingKeyListCommand } from './signing-key-list.ts';
import { signingKeyRotateCommand } from './signing-key-rotate.ts';
import { subscriberEraseCommand } from './subscriber-erase.ts';
import { subscriberExportCommand } from './subscriber-export.ts';
import { subscriberListCommand } from './subscriber-list.ts';
import { subscriberShowCommand } from './subscriber-show.ts';
import { suppressionAddCommand, suppressionRemoveCommand } from './suppression-change.ts';
import { suppressionListCommand } from './suppression-list.ts';
import { version } from '#server/lib/version.ts';
import { versionCommand } from './version.ts';
import { webhookDismissCommand } from './webhook-dismiss.ts';
import { webhookListCommand } from './webhook-list.ts';
import { webhookReconcileCommand } from './webhook-reconcile.ts';
import { webhookReplayCommand } from './webhook-replay.ts';

/** The whole command line, in the order of its help. */
export function buildProgram(): Command {
  const program = new Command('latchkey')
    .description('Licenses, trials, usage and analytics for desktop software, on your own server.')
    .version(version, '-V, --version', 'print the version')
    .addCommand(serveCommand())
    .addCommand(migrateCommand())
    .addCommand(checkConfigCommand())
    .addCommand(doctorCommand())
    .addCommand(licenseCommands())
    .addCommand(keyCommands())
    .addCommand(signingKeyCommands())
    .addCommand(webhookCommands())
    .addCommand(endpointCommands())
    .addCommand(jobsCommands())
    .addCommand(mailCommands())
    .addCommand(subscriberCommands())
    .addCommand(suppressionCommands())
    .addCommand(reportCommands())
    .addCommand(installCommands())
    .addCommand(machineCommands())
    .addCommand(exportCommand())
    .addCommand(versionCommand());
  withExamples(program, [
    ['serve', 'Run the service; with no settings at all it brings its own database'],
    ['license issue --product personal', 'Make a license and print its key'],
    ['doctor', 'Look for what is wrong'],
  ]);
  prepareAll(program);
  return program;
}

function licenseCommands(): Command {
  return new Command('license')
    .description('Make, show and change licenses.')
    .addCommand(licenseIssueCommand())
    .addCommand(licenseShowCommand())
    .addCommand(licenseExtendCommand())
    .addCommand(licenseSuspendCommand())
    .addCommand(licenseReinstateCommand())
    .addCommand(licenseRevokeCommand())
    .addCommand(licenseImportCommand());
}

function keyCommands(): Command {
  return new Command('key')
    .description('The API keys of programs that call the service.')
    .addCommand(keyCreateCommand())
    .addCommand(keyListCommand())
    .addCommand(keyRollCommand())
    .addCommand(keyRevokeCommand());
}

function webhookCommands(): Command {
  return new Command('webhook')
    .description('The events that payment providers have sent.')
    .addCommand(webhookListCommand())
    .addCommand(webhookReplayCommand())
    .addCommand(webhookDismissCommand())
    .addCommand(webhookReconcileCommand());
}

function signingKeyCommands(): Command {
  return new Command('signing-key')
    .description('The keys that entitlements are signed with.')
    .addCommand(signingKeyListCommand())
    .addCommand(signingKeyRotateCommand());
}

function jobsCommands(): Command {
  return new Command('jobs')
    .description('What the service does by itself: mail to send, customers to look up.')
    .addCommand(jobsListCommand())
    .addCommand(jobsRetryCommand());
}

function mailCommands(): Command {
  return new Command('mail')
    .description('The e-mails that the service sends.')
    .addCommand(mailPreviewCommand())
    .addCommand(mailResendCommand());
}

function subscriberCommands(): Command {
  return new Command('subscriber')
    .description('Those who asked for news.')
    .addCommand(subscriberListCommand())
    .addCommand(subscriberShowCommand())
    .addCommand(subscriberExportCommand())
    .addCommand(subscriberEraseCommand());
}

function suppressionCommands(): Command {
  return new Command('suppression')
    .description('The addresses that get no newsletter and no outreach.')
    .addCommand(suppressionListCommand())
    .addCommand(suppressionAddCommand())
    .addCommand(suppressionRemoveCommand());
}

function reportCommands(): Command {
  const command = new Command('report').description('What usage and events come to.');
  for (const question of reportCommandsOf()) command.addCommand(question);
  return command.addCommand(reportRefreshCommand());
}

function installCommands(): Command {
  return new Command('install')
    .description('What is held about one install of the application.')
    .addCommand(installShowCommand())
    .addCommand(installExportCommand())
    .addCommand(installEraseCommand());
}

function machineCommands(): Command {
  return new Command('machine')
    .description('What is held about the use of one machine.')
    .addCommand(machineEraseCommand());
}

function endpointCommands(): Command {
  return new Command('endpoint')
    .description('The programs that are told of events, by outgoing webhooks.')
    .addCommand(endpointAddCommand())
    .addCommand(endpointListCommand())
    .addCommand(endpointTestCommand())
    .addCommand(endpointLogCommand())
    .addCommand(endpointReplayCommand())
    .addCommand(endpointRollCommand())
    .addCommand(endpointDisableCommand())
    .addCommand(endpointEnableCommand())
    .addCommand(endpointRemoveCommand());
}

/**
 * Runs one command.
 * @param args the arguments after the program's name
 * @returns the exit code: 0 done, 1 not done, 2 not understood, 78 a wrong configuration
 */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  endQuietlyWhenReaderLeaves();
  const program = buildProgram();
  if (args.length === 0) {
    program.outputHelp();
    return 0;
  }
  try {
    await program.parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    // Commander has said already what was wrong with the arguments.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_EXIT_CODE;
    const { lines, exitCode } = explainError(error);
    for (const line of lines) printNote(`latchkey: ${line}`);
    if (process.env['LATCHKEY_LOG_LEVEL'] === 'debug' && error instanceof Error) {
      printNote(error.stack ?? '');
    }
    return exitCode;
  }
}

/** Settings that subcommands do not inherit when they are made in files of their own. */
function prepareAll(command: Command): void {
  command
    .exitOverride()
    .helpCommand(false)
    .showHelpAfterError(`Try: ${pathOf(command)} --help`)
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /u, 'latchkey: ')),
    });
  for (const child of command.commands) prepareAll(child);
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** `latchkey export … | head` closes the pipe early, which is no failure. */
function endQuietlyWhenReaderLeaves(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });
}
