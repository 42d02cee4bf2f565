import { LANGUAGES } from '@latchkey/contract/constants';
import type { CampaignDryRun, CampaignRecipient } from '@latchkey/contract';
import { dryRunCampaign, exportDryRun } from '@latchkey/contract/admin/outreach-compose';
import { useState } from 'preact/hooks';

import { ApiError } from '#console/app/api-error.ts';
import { call } from '#console/app/call.ts';
import { Badge } from '#console/ui/badge.tsx';
import { Button } from '#console/ui/button.tsx';
import { CsvButton, exportOf } from '#console/ui/csv-button.tsx';
import { ErrorBox } from '#console/ui/error-box.tsx';
import { Figures } from '#console/ui/figures.tsx';
import { formatNumber } from '#console/ui/format.ts';
import { PlainTable } from '#console/ui/plain-table.tsx';
import { LANGUAGE_NAMES } from '#console/ui/labels.ts';

import type { Draft } from './draft.ts';

interface DryRunProps {
  readonly draft: Draft;
  readonly list: string;
}

/** Asks the service who would get a draft and who would not. */
export function requestDryRun({ draft, list }: DryRunProps): Promise<CampaignDryRun> {
  return call(dryRunCampaign, { body: toBody({ draft, list }) });
}

function toBody({ draft: { audience, texts, default_language }, list }: DryRunProps) {
  return { audience, texts, default_language, ...(audience.source === 'list' ? { list } : {}) };
}

/** A button that shows who gets the mail, who does not, and why. */
export function DryRun(props: DryRunProps) {
  const [result, setResult] = useState<CampaignDryRun>();
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function run(): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      setResult(await requestDryRun(props));
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught;
      setError(caught);
    } finally {
      setBusy(false);
    }
  }

  return (
    <div class="form">
      {result === undefined && (
        <p class="dim">See who gets the mail, who does not, and why. Nothing is sent.</p>
      )}
      <div class="actions">
        <Button onClick={run} busy={isBusy}>
          {result === undefined ? 'Check who gets it' : 'Check again'}
        </Button>
        {result !== undefined && <CsvButton {...exportOf(exportDryRun, { body: toBody(props) })} />}
      </div>
      {error && <ErrorBox error={error} />}
      {result && <Result result={result} />}
    </div>
  );
}

function Result({ result }: { readonly result: CampaignDryRun }) {
  const { recipients, suppressed, duplicates, invalid } = result;
  return (
    <>
      <RecipientFigures result={result} />
      {recipients > 0 && <People caption="They get it" people={result.examples} all={recipients} />}
      {result.excluded.length > 0 && (
        <People
          caption="They do not get it"
          people={result.excluded}
          all={suppressed + duplicates + invalid}
        />
      )}
    </>
  );
}

/** The numbers of a dry run. */
export function RecipientFigures({ result }: { readonly result: CampaignDryRun }) {
  const { recipients, suppressed, duplicates, invalid, by_language: byLanguage } = result;
  const languages = LANGUAGES.filter((each) => byLanguage[each] > 0);
  return (
    <Figures
      items={[
        {
          label: 'Get the mail',
          value: formatNumber(recipients),
          note: languages
            .map((each) => `${LANGUAGE_NAMES[each]} ${formatNumber(byLanguage[each])}`)
            .join(' · '),
        },
        { label: 'Suppressed', value: formatNumber(suppressed) },
        { label: 'Duplicates', value: formatNumber(duplicates) },
        { label: 'Not an address', value: formatNumber(invalid) },
      ]}
    />
  );
}

interface PeopleProps {
  readonly caption: string;
  readonly people: readonly CampaignRecipient[];
  readonly all: number;
}

const WHY = {
  suppressed: 'suppressed',
  duplicate: 'duplicate',
  invalid: 'not an address',
} as const;

function People({ caption, people, all }: PeopleProps) {
  return (
    <details>
      <summary>
        {caption}: {formatNumber(all)}
      </summary>
      <div class="scroll">
        <PlainTable
          caption={caption}
          rows={people.map((person, index) => ({ ...person, index }))}
          rowKey={({ index }) => String(index)}
          columns={[
            { key: 'email', label: 'Address', grow: true, cell: ({ email }) => email },
            { key: 'name', label: 'Name', cell: ({ name }) => <bdi>{name}</bdi> },
            {
              key: 'language',
              label: 'Language',
              cell: ({ language, excluded }) =>
                excluded === null ? (
                  LANGUAGE_NAMES[language]
                ) : (
                  <Badge tone="warning">{WHY[excluded]}</Badge>
                ),
            },
          ]}
        />
      </div>
      {all > people.length && (
        <p class="hint">The first {people.length}. Export the list to see all.</p>
      )}
    </details>
  );
}
