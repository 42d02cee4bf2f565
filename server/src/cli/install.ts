/** `latchkey install`: the data of one install of the application. */
import { InvalidArgumentError } from 'commander';

import { eraseInstall } from '#server/features/analytics/installs/erase.ts';
import {
  exportInstall,
  type InstallOverview,
  showInstall,
} from '#server/features/analytics/installs/read-install.ts';
import { listArchives } from '#server/features/analytics/installs/list-archives.ts';
import { countOf } from '#server/lib/text.ts';

import { auditAccess, currentActor } from './actor.ts';
import { describeArchives } from './archives.ts';
import { commandGroup } from './command.ts';
import { outputOption, writeExport } from './export-file.ts';
import { reasonOption, requiredReasonOption } from './options.ts';
import { withProgress } from './output.ts';
import { argument } from './parameters.ts';
import { formatFields, formatRows, joinSections } from './table.ts';
import { contextCommand } from './with-context.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u;

/** The id that the application chose when it was installed. */
const installArgument = argument('<install_id>', 'id of the install', (text) => {
  const id = text.toLowerCase();
  if (UUID.test(id)) return id;
  throw new InvalidArgumentError('Expected an id such as 6f1c2b9e-3a7d-4c55-9e0b-0d3f1a2b4c5d.');
});

/** The JSON has all of them. */
const MAX_NAMES_SHOWN = 20;

const showCommand = contextCommand({
  name: 'show',
  description:
    'Show the activations of an install, and its events counted by name. Reads all stored events.',
  examples: {
    'install show 6f1c2b9e-3a7d-4c55-9e0b-0d3f1a2b4c5d': 'Before an export or an erasure',
  },
  parameters: [installArgument],
  async run(context, { install_id: id }) {
    const overview = await withProgress('days', (report) => showInstall(context, id, report));
    const { sharing, events, firstDay, lastDay, names, activations } = overview;
    const counts = { usage_sharing: sharing, events, first_day: firstDay, last_day: lastDay };
    return {
      json: { install_id: id, ...counts, names, activations },
      text: formatOverview(id, overview),
    };
  },
});

function formatOverview(id: string, { activations, names, ...overview }: InstallOverview): string {
  return joinSections(
    formatFields([
      ['install', id],
      ['shares usage', overview.sharing],
      ['events', overview.events],
      ['first day', overview.firstDay],
      ['last day', overview.lastDay],
    ]),
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
  );
}

const exportCommand = contextCommand({
  name: 'export',
  description:
    'Export the data of an install as JSON: its events, and its activations without license keys. The audit log records each export.',
  examples: {
    'install export 6f1c2b9e-3a7d-4c55-9e0b-0d3f1a2b4c5d --output install.json':
      'Answer a request for access',
  },
  hasJson: false,
  parameters: [installArgument, outputOption, reasonOption],
  async run(context, { install_id: id, output, reason }) {
    await auditAccess(context, { action: 'install.export', subjectId: id, reason });
    await writeExport('records', output, () => exportInstall(context, id));
  },
});

const eraseCommand = contextCommand({
  name: 'erase',
  description:
    'Delete all events of an install permanently. Reports follow within minutes; activations stay with their licenses. Prints which archives may contain more. If it is interrupted, run it again.',
  examples: {
    'install erase 6f1c2b9e-3a7d-4c55-9e0b-0d3f1a2b4c5d --reason "request of 3 May"':
      'Answer a request for erasure',
  },
  parameters: [installArgument, requiredReasonOption],
  async run(context, { install_id: id, reason }) {
    const erasure = { id, actor: currentActor(), reason };
    const events = await withProgress('days', (report) => eraseInstall(context, erasure, report));
    const archives = await listArchives(context);
    return {
      json: { install_id: id, erased_events: events, archives },
      text: `Erased ${countOf(events, 'event')}.`,
      note: describeArchives(archives),
    };
  },
});

export const installCommand = commandGroup(
  'install',
  'Show, export and erase the data of one install of the application.',
  [showCommand, exportCommand, eraseCommand],
);
