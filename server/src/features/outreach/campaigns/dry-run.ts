import { forEachLanguage, type CampaignDryRun, type CampaignRecipient } from '@latchkey/contract';

import type { CsvColumns } from '#server/lib/csv.ts';

import { recordAccess } from '../../audit/record-access.ts';
import type { OutreachDependencies } from '../dependencies.ts';
import {
  selectRecipientPages,
  selectRecipients,
  type SelectedRecipient,
  type Selection,
} from './select-recipients.ts';

/** How many recipients of each kind an answer lists; the export has all. */
const EXAMPLES = 50;

/** Determines who would get a campaign and who would not, without sending anything. */
export async function dryRun(
  deps: OutreachDependencies,
  selection: Selection,
): Promise<CampaignDryRun> {
  const languages = forEachLanguage(() => 0);
  const excludedCounts = { suppressed: 0, duplicate: 0, invalid: 0 };
  const examples: CampaignRecipient[] = [];
  const excluded: CampaignRecipient[] = [];
  let recipients = 0;
  for await (const selected of selectRecipients(deps.pool, deps, selection)) {
    const shown = selected.excluded === null ? examples : excluded;
    if (shown.length < EXAMPLES) shown.push(toRecipient(selected));
    if (selected.excluded === null) {
      recipients += 1;
      languages[selected.language] += 1;
    } else excludedCounts[selected.excluded] += 1;
  }
  const { suppressed, duplicate: duplicates, invalid } = excludedCounts;
  const counts = { recipients, suppressed, duplicates, invalid };
  return { ...counts, by_language: languages, examples, excluded };
}

function toRecipient({ email, name, language, excluded }: SelectedRecipient): CampaignRecipient {
  return { email, name, language, excluded };
}

/** The columns of the export of a dry run. */
export const DRY_RUN_COLUMNS = {
  email: ({ email }) => email,
  name: ({ name }) => name,
  language: ({ language }) => language,
  excluded: ({ excluded }) => excluded,
} satisfies CsvColumns<SelectedRecipient>;

/** Records the export of a dry run in the audit log, and returns all its rows. */
export async function exportDryRun(
  deps: OutreachDependencies,
  selection: Selection,
  actor: string,
): Promise<AsyncGenerator<SelectedRecipient>> {
  const details = { format: 'csv', source: selection.audience.source };
  const entry = { action: 'outreach.export', subjectId: 'outreach_dry_run', actor, reason: null };
  await recordAccess(deps, { ...entry, details });
  return readInSlots(deps, selectRecipientPages(deps.pool, deps, selection));
}

/** Reads each page in a slot of its own, so that none is held while the receiver of the rows reads slowly. */
async function* readInSlots<Row>(
  { databaseLimiter }: Pick<OutreachDependencies, 'databaseLimiter'>,
  pages: AsyncGenerator<readonly Row[]>,
): AsyncGenerator<Row> {
  for (;;) {
    const { done, value } = await databaseLimiter.run(() => pages.next());
    if (done === true) return;
    yield* value;
  }
}
