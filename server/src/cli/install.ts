import { Argument, Command, InvalidArgumentError } from 'commander';

import { eraseInstall } from '#server/features/analytics/installs/erase.ts';
import {
  exportInstall,
  type InstallOverview,
  showInstall,
} from '#server/features/analytics/installs/read-install.ts';

import { auditAccess, currentActor } from './actor.ts';
import { writeExport } from './export-file.ts';
import { accessReasonOption, jsonOption, reasonOption, withExamples } from './options.ts';
import {
  formatFields,
  formatTable,
  type OutputOptions,
  printResult,
  withProgress,
} from './output.ts';
import { withContext } from './with-context.ts';

/** `latchkey install …` */
export function installCommand(): Command {
  return new Command('install')
    .description('What is held about one install of the application.')
    .addCommand(installShowCommand())
    .addCommand(installExportCommand())
    .addCommand(installEraseCommand());
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u;

/** The id that the application gave itself when it was installed. */
function installArgument(): Argument {
  return new Argument('<install_id>', "the install's id").argParser((text) => {
    const id = text.toLowerCase();
    if (UUID.test(id)) return id;
    throw new InvalidArgumentError(
      'It must be an id such as 6f1c2b9e-3a7d-4c55-9e0b-0d3f1a2b4c5d.',
    );
  });
}

/** The rest is in the JSON. */
const MAX_NAMES_SHOWN = 20;

function installShowCommand(): Command {
  const command = new Command('show')
    .description(
      'Show what is held about an install: its activations, and how many events of which names.',
    )
    .addArgument(installArgument())
    .addOption(jsonOption())
    .action(show);
  return withExamples(command, [
    ['install show 6f1c2b9e-3a7d-4c55-9e0b-0d3f1a2b4c5d', 'Reads all events that are kept'],
  ]);
}

async function show(installId: string, options: OutputOptions): Promise<void> {
  await withContext(async (ctx) => {
    const overview = await withProgress('days', (report) => showInstall(ctx, installId, report));
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

function toText(installId: string, overview: InstallOverview): string {
  const { activations, names } = overview;
  const parts = [
    formatFields([
      ['install', installId],
      ['shares usage', overview.sharing],
      ['events', overview.events],
      ['first day', overview.firstDay],
      ['last day', overview.lastDay],
    ]),
  ];
  if (activations.length > 0) {
    const header = ['license', 'activation', 'machine', 'active', 'last validated'];
    const rows = activations.map((row) => [
      row.license_id,
      row.activation_id,
      row.machine_id,
      row.deactivated_at === null,
      row.last_validated_at,
    ]);
    parts.push(formatTable(header, rows));
  }
  if (names.length > 0) {
    const rows = names.slice(0, MAX_NAMES_SHOWN).map(({ name, events }) => [name, events]);
    parts.push(formatTable(['event', 'count'], rows));
  }
  return parts.join('\n\n');
}

interface ExportOptions {
  readonly output?: string;
  readonly reason?: string;
}

function installExportCommand(): Command {
  const command = new Command('export')
    .description(
      'Write everything that is held about an install as JSON: its events, and its activations without keys. The audit log records each export.',
    )
    .addArgument(installArgument())
    .option('--output <file>', 'a new file, instead of standard output')
    .addOption(accessReasonOption())
    .action(run);
  return withExamples(command, [
    [
      'install export 6f1c2b9e-3a7d-4c55-9e0b-0d3f1a2b4c5d --output install.json',
      'For somebody who asks what is known of them',
    ],
  ]);
}

async function run(installId: string, { output, reason }: ExportOptions): Promise<void> {
  await withContext(async (ctx) => {
    await auditAccess(ctx, { action: 'install.export', subjectId: installId, reason });
    await writeExport('records', output, () => exportInstall(ctx, installId));
  });
}

interface EraseOptions extends OutputOptions {
  readonly reason: string;
}

function installEraseCommand(): Command {
  const command = new Command('erase')
    .description(
      'Delete all events of an install, for good. Reports follow within minutes; activations stay with their licenses.',
    )
    .addArgument(installArgument())
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(erase);
  return withExamples(command, [
    [
      'install erase 6f1c2b9e-3a7d-4c55-9e0b-0d3f1a2b4c5d --reason "asked for on 3 May"',
      'Interrupted, it is simply run again',
    ],
  ]);
}

async function erase(id: string, options: EraseOptions): Promise<void> {
  await withContext(async (ctx) => {
    const erasure = { id, actor: currentActor(), reason: options.reason };
    const events = await withProgress('days', (report) => eraseInstall(ctx, erasure, report));
    printResult(options, { install_id: id, erased_events: events }, () => describe(events));
  });
}

function describe(events: number): string {
  if (events === 0) return 'There were no events of it.';
  return events === 1 ? '1 event is erased.' : `${events} events are erased.`;
}
