import { Command, InvalidArgumentError, Option } from 'commander';

import { isClientName } from '../authority/context.ts';
import type { CreateOptions, RootOptions } from './client-cert-actions.ts';
import { jsonOption, type OutputOptions, withExamples } from './output.ts';

const MAX_DAYS = 825;

/** `latchkey-agent client-cert`: the client certificates of viewers. Actions are loaded on first use. */
export function clientCertCommand(): Command {
  const command = new Command('client-cert')
    .description('Create, list and revoke client certificates of viewers (mutual TLS); for root.')
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand())
    .addCommand(refreshCommand());
  return withExamples(command, [
    ['client-cert create anna', 'A certificate for anna, as anna.tar.gz'],
    ['client-cert list', 'Names and expiry dates'],
    ['client-cert revoke anna', "Revoke anna's certificate"],
  ]);
}

function createCommand(): Command {
  const command = new Command('create')
    .description(
      'Create a client certificate and its bundle; earlier certificates of the name are revoked. Exit code 0 or 1.',
    )
    .argument('<name>', "the name of the client: a-z, 0-9, '.', '_' and '-', at most 64", parseName)
    .addOption(
      new Option('--days <days>', `validity in days, 1 to ${MAX_DAYS}`)
        .argParser(parseDays)
        .default(365),
    )
    .addOption(
      new Option('-o, --output <path>', 'the file, or the directory for NAME.tar.gz').default(
        '.',
        'here',
      ),
    )
    .addOption(jsonOption())
    .addOption(rootOption())
    .action(async (name: string, options: CreateOptions) => {
      const { create } = await import('./client-cert-actions.ts');
      await create(name, options);
    });
  return withExamples(command, [
    ['client-cert create anna', 'For anna: anna.tar.gz here, and a password'],
    ['client-cert create wallboard --days 825 --output /root/', 'For an unattended screen'],
  ]);
}

function listCommand(): Command {
  const command = new Command('list')
    .description('List certificates with name, expiry and revocation.')
    .addOption(jsonOption())
    .addOption(rootOption())
    .action(async (options: OutputOptions & RootOptions) => {
      const { list } = await import('./client-cert-actions.ts');
      list(options);
    });
  return withExamples(command, [
    ['client-cert list', 'A table, with warnings 30 days before expiry'],
    ["client-cert list --json | jq '.certificates[].name'", 'The names, for a program'],
  ]);
}

function revokeCommand(): Command {
  const command = new Command('revoke')
    .description(
      'Revoke every certificate of a name and close the connections that use one. Exit code 0 or 1.',
    )
    .argument('<name>', 'the name of the client', parseName)
    .addOption(jsonOption())
    .addOption(rootOption())
    .action(async (name: string, options: OutputOptions & RootOptions) => {
      const { revoke } = await import('./client-cert-actions.ts');
      await revoke(name, options);
    });
  return withExamples(command, [['client-cert revoke anna', "Revoke anna's certificate"]]);
}

function refreshCommand(): Command {
  const command = new Command('refresh-list')
    .description(
      "Renew the list of revoked certificates, and the proxy's certificate before it expires; a timer runs this.",
    )
    .addOption(jsonOption())
    .addOption(rootOption())
    .action(async (options: OutputOptions & RootOptions) => {
      const { refresh } = await import('./client-cert-actions.ts');
      await refresh(options);
    });
  return withExamples(command, [['client-cert refresh-list', 'What the timer runs each week']]);
}

/** For tests and offline systems: the root of all paths. */
function rootOption(): Option {
  return new Option('--root <directory>', 'prefix of every path').default('/').hideHelp();
}

function parseName(text: string): string {
  if (isClientName(text)) return text;
  throw new InvalidArgumentError(
    "A name has 1 to 64 of a-z, 0-9, '.', '_' and '-', and must begin with a letter or digit.",
  );
}

function parseDays(text: string): number {
  const days = Number(text);
  if (/^\d{1,3}$/u.test(text) && days >= 1 && days <= MAX_DAYS) return days;
  throw new InvalidArgumentError(`It must be a whole number of days from 1 to ${MAX_DAYS}.`);
}
