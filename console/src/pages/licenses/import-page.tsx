import type { ImportedLicenses } from '@latchkey/contract';
import { importLicenses } from '@latchkey/contract/admin/license-import';
import { useState } from 'preact/hooks';

import { call } from '#console/app/call.ts';
import { useProductOptions } from '#console/app/products.ts';
import { invalidate } from '#console/app/resources.ts';
import { Button, LinkButton } from '#console/ui/button.tsx';
import { Notice } from '#console/ui/error-box.tsx';
import { Field } from '#console/ui/field.tsx';
import { Form, type FormValues } from '#console/ui/form.tsx';
import { formatNumber } from '#console/ui/format.ts';
import { Card, Page } from '#console/ui/page.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';

import { decodeTable } from './decode-table.ts';
import { AFFECTED } from './license-labels.ts';

/** Imports licenses with the keys of another system: first a check, then the import. */
export function ImportPage() {
  const [csv, setCsv] = useState('');
  const [checked, setChecked] = useState<ReturnType<typeof readFields> | null>(null);
  const [result, setResult] = useState<ImportedLicenses | null>(null);

  async function check(values: FormValues): Promise<void> {
    const next = readFields(values);
    setResult(null);
    setResult(await call(importLicenses, { body: { ...next, dry_run: true } }));
    setChecked(next);
  }

  return (
    <Page
      title="Import licenses"
      back={{ to: '/licenses', label: 'Licenses' }}
      intro="With the keys of another system, from CSV or JSON lines. Nothing is stored before you have seen the check."
    >
      <Card>
        <Form submit="Check" onSubmit={check}>
          <ImportFields csv={csv} onCsv={setCsv} />
        </Form>
      </Card>
      {result !== null && checked !== null && (
        <Result
          result={result}
          onImport={async () => {
            const body = { ...checked, dry_run: false };
            setResult(await call(importLicenses, { body }));
            for (const prefix of AFFECTED) invalidate(prefix);
          }}
        />
      )}
    </Page>
  );
}

const MAX_CHARACTERS = 1_000_000;

/** Of UTF-8. A longer file is not read. */
const MAX_BYTES = 4 * MAX_CHARACTERS;

const TOO_LONG =
  'The file has more than a million characters. Split it, or import it with the command line.';
const UNREADABLE =
  'The file could not be read. Save it as "CSV UTF-8" and choose it again, or paste its lines below.';

interface ImportFieldsProps {
  readonly csv: string;
  readonly onCsv: (text: string) => void;
}

function ImportFields({ csv, onCsv }: ImportFieldsProps) {
  const products = useProductOptions();
  const [problem, setProblem] = useState('');

  async function read(file: File | undefined): Promise<void> {
    setProblem('');
    if (file === undefined) return;
    try {
      const text = file.size > MAX_BYTES ? null : decodeTable(await file.arrayBuffer());
      if (text === null || text.length > MAX_CHARACTERS) setProblem(TOO_LONG);
      else onCsv(text);
    } catch {
      setProblem(UNREADABLE);
    }
  }

  return (
    <>
      <div class="field">
        <label for="import-file">
          File<span class="optional"> optional</span>
        </label>
        <input
          id="import-file"
          type="file"
          accept=".csv,.jsonl,text/csv,application/jsonl"
          onChange={({ currentTarget: { files } }) => void read(files?.[0])}
        />
        {problem && (
          <p class="field-error" role="alert">
            {problem}
          </p>
        )}
      </div>
      <Field
        key={csv}
        label="CSV or JSON lines"
        name="csv"
        type="textarea"
        rows={8}
        required
        value={csv}
        maxLength={MAX_CHARACTERS}
        spellcheck={false}
        placeholder={'license_key,product,customer_email\n…'}
        hint="CSV with a header, or a JSON object on each line. Only license_key is required; also customer_name, transaction_id, max_activations, expires_at, subscription, subscription_id, provider, status, note, and the other columns of an export. At most some 5,000 licenses. The command latchkey import reads more, also the files and accounts of other systems."
      />
      <Field
        label="Product of lines without one"
        name="product"
        type="select"
        options={[{ value: '', label: 'None: each line names its product' }, ...products]}
      />
      <Field
        label="Import keys that can be guessed"
        name="allow_weak_keys"
        type="checkbox"
        hint="Such as numbers in sequence. Guessing is slowed, but issue new keys if you can."
      />
      <Field label="Reason" name="reason" maxLength={500} hint="Recorded in the audit log." />
    </>
  );
}

function readFields({ csv = '', product = '', reason = '', ...flags }: FormValues) {
  return {
    // The header of CSV cannot begin like that.
    ...(csv.trimStart().startsWith('{') ? { jsonl: csv } : { csv }),
    allow_weak_keys: flags['allow_weak_keys'] === 'on',
    ...(product === '' ? {} : { product }),
    ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
  };
}

interface ResultProps {
  readonly result: ImportedLicenses;
  readonly onImport: () => Promise<void>;
}

function Result({ result, onImport }: ResultProps) {
  const { created, present, failed, dry_run: isCheck, problems } = result;
  const verb = isCheck ? 'can be imported' : 'were imported';
  return (
    <section class="section" aria-live="polite">
      <Notice kind={failed > 0 ? 'warning' : 'good'}>
        <p>
          {formatNumber(created)} {verb}, {formatNumber(present)} exist already,{' '}
          {formatNumber(failed)} cannot be imported.
        </p>
        {isCheck && created > 0 && (
          <Button kind="primary" onClick={onImport}>
            Import {formatNumber(created)} {created === 1 ? 'license' : 'licenses'}
          </Button>
        )}
        {!isCheck && <LinkButton to="/licenses">Show the licenses</LinkButton>}
      </Notice>
      {problems.length > 0 && (
        <PlainTable
          caption="Lines that cannot be imported"
          rows={problems}
          rowKey={({ line }) => String(line)}
          columns={[
            { key: 'line', label: 'Line', align: 'end', cell: ({ line }) => line },
            { key: 'problem', label: 'Problem', grow: true, cell: ({ problem }) => problem },
          ]}
        />
      )}
    </section>
  );
}
