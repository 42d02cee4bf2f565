import type { AdminLicenseDetails } from '@latchkey/contract';
import { revealLicenseKey } from '@latchkey/contract/admin/license-keys';

import { call } from '#console/app/call.ts';
import { hrefOf } from '#console/app/router.ts';
import { Facts } from '#console/ui/facts.tsx';
import { Section } from '#console/ui/page.tsx';
import { RevealedSecret } from '#console/ui/revealed-secret.tsx';
import { Time } from '#console/ui/time.tsx';
import { labelOf, nameProvider } from '#console/ui/labels.ts';

/** Customer, key, terms and purchase of a license. */
export function LicenseFacts({ license }: { readonly license: AdminLicenseDetails }) {
  const { id, customer_email: address, customer_name: name, features } = license;
  return (
    <Section title="License">
      <Facts
        items={[
          [
            'Key',
            <RevealedSecret
              name="license key"
              hint={`…${license.key_hint}`}
              of={revealLicenseKey}
              request={async () =>
                (await call(revealLicenseKey, { params: { id }, body: {} })).license_key
              }
            />,
          ],
          ['Customer', name ?? undefined],
          ['E-mail', address === null ? null : <CustomerLink address={address} />],
          ['Note', license.note ?? undefined],
          ['Test', license.is_test ? 'Bought in the test mode of a provider' : undefined],
          ['Product', license.product_name],
          ['Tier', license.tier],
          ['Features', features.length === 0 ? undefined : features.join(', ')],
          ['Ends', <End license={license} />],
          ...updates(license),
          ...changes(license),
          ['Offline', `${license.offline_days} days without the service`],
          [
            'Moves',
            `${license.moves.used} of ${license.moves.limit + license.moves.extra} in ${license.moves.days} days`,
          ],
          ...purchase(license),
          ['Created', <Time at={license.created_at} />],
          ['Id', <code>{id}</code>],
        ]}
      />
    </Section>
  );
}

function CustomerLink({ address }: { readonly address: string }) {
  return (
    <a
      href={hrefOf(`/customer?email=${encodeURIComponent(address)}`)}
      title="Everything about the customer"
    >
      {address}
    </a>
  );
}

function End({ license }: { readonly license: AdminLicenseDetails }) {
  const { expires_at: end, extended_until: extended, subscription } = license;
  return (
    <>
      <Time at={end} as="date" />
      {end !== null && subscription && <span class="dim"> · renewed by payments</span>}
      {extended !== null && <span class="dim"> · set by an operator</span>}
    </>
  );
}

type Items = readonly (readonly [string, preact.ComponentChildren])[];

/** The end of updates, unless the license gets all. */
function updates({ updates_until: end }: AdminLicenseDetails): Items {
  if (end === null) return [];
  const until = (
    <>
      until <Time at={end} as="date" />
    </>
  );
  return [['Updates', until]];
}

/** The times that explain the status. */
function changes(license: AdminLicenseDetails): Items {
  const times: readonly (readonly [string, string | null])[] = [
    ['Cancels', license.cancel_scheduled_for],
    ['Canceled', license.canceled_at],
    ['Paused', license.paused_at],
    ['Suspended', license.suspended_at],
    ['Disputed', license.disputed_at],
    ['Refunded', license.refunded_at],
    ['Revoked', license.revoked_at],
  ];
  return times.flatMap(([label, time]) => (time === null ? [] : [[label, <Time at={time} />]]));
}

function purchase(license: AdminLicenseDetails): Items {
  const { provider, transaction_id: transaction, key_email_state: mail } = license;
  if (transaction === null) return [];
  return [
    [
      'Purchase',
      <>
        {provider !== null && `${nameProvider(provider)} · `}
        <code>{transaction}</code>
      </>,
    ],
    [
      'Key e-mail',
      mail === null ? undefined : (
        <>
          {labelOf(mail)}
          {license.key_email_reason !== null && ` (${labelOf(license.key_email_reason)})`}
          {license.key_email_sent_at !== null && (
            <>
              {' '}
              <Time at={license.key_email_sent_at} as="relative" />
            </>
          )}
        </>
      ),
    ],
  ];
}
