import type { IssuedLicense, IssuedLicenses } from '@latchkey/contract';
import { issueLicense, issueLicenses } from '@latchkey/contract/admin/license-issue';
import { useState } from 'preact/hooks';

import { call } from '#console/app/call.ts';
import { useProducts, type Product } from '#console/app/products.ts';
import { invalidate, toApiError } from '#console/app/resources.ts';
import { Field } from '#console/ui/field.tsx';
import { Form, type FormValues } from '#console/ui/form.tsx';

import { AFFECTED } from './license-labels.ts';

/** As on the command line. */
const MAX_COUNT = 1_000;

/** What one request issues. */
const PART = 100;

/** What was issued so far. */
export type Outcome =
  | { readonly one: IssuedLicense }
  | {
      readonly many: IssuedLicenses['items'];
      readonly wanted: number;
      /** Why the others were not issued. */
      readonly problem?: string;
    };

type BodyFields = Omit<ReturnType<typeof readFields>, 'send'>;

/** Issues in parts. A failure after the first part ends it, because the keys so far are shown only once. */
async function issueMany(fields: BodyFields, wanted: number): Promise<Outcome> {
  const many: IssuedLicenses['items'] = [];
  while (many.length < wanted) {
    const body = { ...fields, count: Math.min(PART, wanted - many.length) };
    try {
      many.push(...(await call(issueLicenses, { body })).items);
    } catch (error) {
      if (many.length === 0) throw error;
      return { many, wanted, problem: toApiError(error)?.message ?? '' };
    }
  }
  return { many, wanted };
}

/** The fields of licenses to issue. */
export function IssueForm({ onIssued }: { readonly onIssued: (outcome: Outcome) => void }) {
  const products = useProducts();
  const [productId, setProductId] = useState('');
  const [count, setCount] = useState('1');
  const number = Number(count);
  const product = products.find(({ id }) => id === productId) ?? products[0];
  async function issue(values: FormValues): Promise<void> {
    const { send, ...fields } = readFields(values);
    const outcome =
      number > 1
        ? await issueMany(fields, number)
        : { one: await call(issueLicense, { body: { ...fields, send_mail: send } }) };
    for (const prefix of AFFECTED) invalidate(prefix);
    onIssued(outcome);
  }
  return (
    <Form submit={number > 1 ? 'Issue the licenses' : 'Issue the license'} onSubmit={issue}>
      <Field
        label="Product"
        name="product"
        required
        {...(products.length === 0
          ? {}
          : {
              type: 'select',
              value: product?.id ?? '',
              options: products.map(({ id, name }) => ({ value: id, label: name })),
            })}
        onInput={setProductId}
      />
      <Field label="E-mail address" name="customer_email" type="email" maxLength={320} />
      <Field label="Name" name="customer_name" maxLength={1_000} />
      <Field label="Transaction" name="transaction_id" maxLength={200} />
      <Field
        label="Machines"
        name="max_activations"
        type="number"
        min={1}
        max={1_000_000}
        placeholder={product === undefined ? '' : String(product.max_activations)}
      />
      <EndFields product={product} />
      <Field label="Note" name="note" maxLength={1_000} hint="Only operators see it." />
      <Field label="Reason" name="reason" maxLength={500} hint="Recorded in the audit log." />
      <Field
        label="Licenses"
        name="count"
        type="number"
        min={1}
        max={MAX_COUNT}
        value="1"
        required
        onInput={setCount}
      />
      {!(number > 1) && (
        <Field label="E-mail the key to the customer" name="send_mail" type="checkbox" />
      )}
    </Form>
  );
}

/** When the licenses end. */
function EndFields({ product }: { readonly product: Product | undefined }) {
  const [end, setEnd] = useState('term');
  return (
    <>
      <Field
        label="End"
        name="end"
        type="select"
        required
        value={end}
        onInput={setEnd}
        options={[
          { value: 'term', label: describeTerm(product) },
          { value: 'days', label: 'After some days' },
          { value: 'until', label: 'On a date' },
          { value: 'never', label: 'Never: perpetual' },
        ]}
      />
      {end === 'days' && (
        <Field label="Days" name="days" type="number" min={1} max={36_500} value="30" required />
      )}
      {end === 'until' && (
        <Field label="Date" name="expires_at" type="date" required hint="It ends at 0:00 UTC." />
      )}
    </>
  );
}

function describeTerm(product: Product | undefined): string {
  if (product === undefined) return 'Term of the product';
  const { duration_days: days } = product;
  return `Term of the product: ${days === null ? 'perpetual' : `${days} days`}`;
}

/** Returns the fields as the interface reads them; empty ones are left out. */
function readFields({
  product = '',
  end,
  days = '',
  expires_at: until = '',
  send_mail: send,
  count: _count,
  ...values
}: FormValues) {
  const { max_activations: machines = '', ...texts } = values;
  return {
    product,
    ...Object.fromEntries(Object.entries(texts).filter(([, value]) => value.trim() !== '')),
    ...(machines === '' ? {} : { max_activations: Number(machines) }),
    ...(end === 'days' ? { days: Number(days) } : {}),
    ...(end === 'until' ? { expires_at: `${until}T00:00:00Z` } : {}),
    ...(end === 'never' ? { expires_at: null } : {}),
    send: send === 'on',
  };
}
