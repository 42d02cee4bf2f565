import { Command } from 'commander';
import { exportCustomer } from '#server/features/customers/export-customer.ts';
import { readHeld } from '#server/features/customers/read-held.ts';
import { auditAccess } from '../audit-access.ts';
import { writeExport } from '../export/lines.ts';
import { accessReasonOption, withExamples } from '../option-values.ts';
import { withProgress } from '../progress.ts';
import { addressArgument } from '../subscriber/show.ts';
import { withContext } from '../with-context.ts';

interface ExportOptions {
  readonly output?: string;
  readonly reason?: string;
}

export function customerExportCommand(): Command {
  const command = new Command('export')
    .description(
      'Write everything that is held about the owner of an e-mail address as JSON: the rows of every table, and the events of the installs. The audit log records it.',
    )
    .addArgument(addressArgument())
    .option('--output <file>', 'a new file, instead of standard output')
    .addOption(accessReasonOption())
    .action(run);
  return withExamples(command, [
    [
      'customer export ada@example.com --output ada.json --reason "request of 3 May"',
      'The answer to a request of access (GDPR, articles 15 and 20)',
    ],
  ]);
}

async function run(email: string, { output, reason }: ExportOptions): Promise<void> {
  await withContext(async (ctx) => {
    const held = await withProgress('payment events', (report) => readHeld(ctx, email, report));
    const { id } = held.person.address;
    await auditAccess(ctx, { action: 'customer.export', subjectId: id, reason });
    await writeExport('records', output, () => exportCustomer(ctx, email, held));
  });
}
