import { Command } from 'commander';
import { exportInstall } from '#server/features/analytics/installs/read-install.ts';
import { auditAccess } from '../audit-access.ts';
import { writeExport } from '../export/lines.ts';
import { installArgument } from './argument.ts';
import { accessReasonOption, withExamples } from '../option-values.ts';
import { withContext } from '../with-context.ts';

interface ExportOptions {
  readonly output?: string;
  readonly reason?: string;
}

export function installExportCommand(): Command {
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
