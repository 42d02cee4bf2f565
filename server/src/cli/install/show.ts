import { Command } from 'commander';
import {
  type InstallOverview,
  showInstall,
} from '#server/features/analytics/installs/read-install.ts';
import { installArgument } from './argument.ts';
import { jsonOption, withExamples } from '../option-values.ts';
import { type OutputOptions, formatFields, formatTable, printResult } from '../output.ts';
import { withProgress } from '../progress.ts';
import { withContext } from '../with-context.ts';

/** The rest is in the JSON. */
const MAX_NAMES_SHOWN = 20;

export function installShowCommand(): Command {
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
