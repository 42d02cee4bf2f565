/** `latchkey install`: the data of one install of the application. */
import { Argument, Command, InvalidArgumentError } from 'commander';

import { eraseInstall } from '#server/features/analytics/installs/erase.ts';
import {
  exportInstall,
  type InstallOverview,
  showInstall,
} from '#server/features/analytics/installs/read-install.ts';

import { auditAccess, currentActor } from './actor.ts';
import { outputOption, writeExport } from './export-file.ts';
import { jsonOption, newCommand, reasonOption, requiredReasonOption } from './options.ts';
import { countOf, type OutputOptions, printResult, withProgress } from './output.ts';
import { formatFields, formatRows } from './table.ts';
import { withContext } from './with-context.ts';

export function installCommand(): Command {
  return new Command('install')
    .description('Show, export and erase the data of one install of the application.')
    .addCommand(showCommand())
    .addCommand(exportCommand())
    .addCommand(eraseCommand());
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u;

/** The id that the application chose when it was installed. */
function installArgument(): Argument {
  return new Argument('<install_id>', 'id of the install').argParser((text) => {
    const id = text.toLowerCase();
    if (UUID.test(id)) return id;
    throw new InvalidArgumentError('Expected an id such as 6f1c2b9e-3a7d-4c55-9e0b-0d3f1a2b4c5d.');
  });
}

/** The JSON has all of them. */
const MAX_NAMES_SHOWN = 20;

function showCommand(): Command {
  return newCommand(
    'show',
    'Show the activations of an install, and its events counted by name. Reads all stored events.',
    [['install show 6f1c2b9e-3a7d-4c55-9e0b-0d3f1a2b4c5d', 'Before an export or an erasure']],
  )
    .addArgument(installArgument())
    .addOption(jsonOption())
    .action(show);
}

async function show(installId: string, options: OutputOptions): Promise<void> {
  await withContext(async (context) => {
    const overview = await withProgress('days', (report) =>
      showInstall(context, installId, report),
    );
    printResult(options, toJson(installId, overview), () => toText(installId, overview));
  });
}

function toJson(installId: string, overview: InstallOverview) {
  return {
    install_id: installId,
    usage_sharing: overview.sharing,
    events: overview.events,
    first_day: overview.firstDay,
    last_day: overview.lastDay,
    names: overview.names,
    activations: overview.activations,
  };
}

function toText(installId: string, { activations, names, ...overview }: InstallOverview): string {
  const fields = formatFields([
    ['install', installId],
    ['shares usage', overview.sharing],
    ['events', overview.events],
    ['first day', overview.firstDay],
    ['last day', overview.lastDay],
  ]);
  const tables = [
    formatRows(activations, '', [
      ['license', (row) => row.license_id],
      ['activation', (row) => row.activation_id],
      ['machine', (row) => row.machine_id],
      ['active', (row) => row.deactivated_at === null],
      ['last validated', (row) => row.last_validated_at],
    ]),
    formatRows(names.slice(0, MAX_NAMES_SHOWN), '', [
      ['event', (row) => row.name],
      ['count', (row) => row.events],
    ]),
  ];
  return [fields, ...tables.filter((table) => table !== '')].join('\n\n');
}

interface ExportInstallOptions {
  readonly output?: string;
  readonly reason?: string;
}

function exportCommand(): Command {
  return newCommand(
    'export',
    'Export the data of an install as JSON: its events, and its activations without license keys. The audit log records each export.',
    [
      [
        'install export 6f1c2b9e-3a7d-4c55-9e0b-0d3f1a2b4c5d --output install.json',
        'Answer a request for access',
      ],
    ],
  )
    .addArgument(installArgument())
    .addOption(outputOption())
    .addOption(reasonOption())
    .action(runExport);
}

async function runExport(
  installId: string,
  { output, reason }: ExportInstallOptions,
): Promise<void> {
  await withContext(async (context) => {
    await auditAccess(context, { action: 'install.export', subjectId: installId, reason });
    await writeExport('records', output, () => exportInstall(context, installId));
  });
}

interface EraseOptions extends OutputOptions {
  readonly reason: string;
}

function eraseCommand(): Command {
  return newCommand(
    'erase',
    'Delete all events of an install permanently. Reports follow within minutes; activations stay with their licenses. If it is interrupted, run it again.',
    [
      [
        'install erase 6f1c2b9e-3a7d-4c55-9e0b-0d3f1a2b4c5d --reason "request of 3 May"',
        'Answer a request for erasure',
      ],
    ],
  )
    .addArgument(installArgument())
    .addOption(requiredReasonOption())
    .addOption(jsonOption())
    .action(erase);
}

async function erase(id: string, options: EraseOptions): Promise<void> {
  await withContext(async (context) => {
    const erasure = { id, actor: currentActor(), reason: options.reason };
    const events = await withProgress('days', (report) => eraseInstall(context, erasure, report));
    printResult(
      options,
      { install_id: id, erased_events: events },
      () => `Erased ${countOf(events, 'event')}.`,
    );
  });
}
