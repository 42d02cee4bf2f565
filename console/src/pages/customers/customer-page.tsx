import type { Customer } from '@latchkey/contract';
import { exportCustomer } from '@latchkey/contract/admin/customer-data';
import { showCustomer } from '@latchkey/contract/admin/customers';

import { pathOf, useOperation } from '#console/app/call.ts';
import { query } from '#console/app/router.ts';
import { saveJson } from '#console/app/save-file.ts';
import { Badge } from '#console/ui/badge.tsx';
import { Empty } from '#console/ui/empty.tsx';
import { Facts } from '#console/ui/facts.tsx';
import { Loaded } from '#console/ui/loaded.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';
import { Card, Page, Section } from '#console/ui/page.tsx';
import { Time } from '#console/ui/time.tsx';
import { Timeline } from '#console/ui/timeline.tsx';
import { labelOf, nameActor, nameProvider } from '#console/ui/labels.ts';

import { Licenses, Machines, Mails, Payments, Subscriptions } from './customer-tables.tsx';
import { EraseCustomer } from './erase-customer.tsx';
import { includeShared, listShared, SharedFields, SharedTable } from './shared-devices.tsx';

/** Everything about the owner of an e-mail address. */
export function CustomerPage() {
  const email = query.value.get('email') ?? '';
  const customer = useOperation(showCustomer, email === '' ? null : { query: { email } });
  const shared = customer.data === undefined ? [] : listShared(customer.data);
  if (email === '') {
    return (
      <Page title="Customer">
        <Empty title="Which customer?">Press / and search for the e-mail address.</Empty>
      </Page>
    );
  }
  return (
    <Page
      title={email}
      back={{ to: '/licenses', label: 'Licenses' }}
      actions={
        <>
          <OperationAction
            of={exportCustomer}
            label="Export data"
            explanation="A file with all stored data, for a request for access. It reads all payment events, which may take minutes."
            reason="required"
            body={(values) => ({ email, ...includeShared(values, shared) })}
            invalidates={[pathOf(showCustomer)]}
            done="The export is ready."
            onDone={(data) => saveJson('customer.json', data)}
          >
            <SharedFields devices={shared} />
          </OperationAction>
          <EraseCustomer email={email} />
        </>
      }
    >
      <Loaded resource={customer}>{(data) => <Content customer={data} />}</Loaded>
    </Page>
  );
}

function Content({ customer }: { readonly customer: Customer }) {
  const { changes, licenses, machines, mails, payments, subscriptions } = customer;
  const shared = listShared(customer);
  return (
    <>
      <Summary customer={customer} />
      <Section title="Licenses">
        <Licenses rows={licenses} />
      </Section>
      {machines.length > 0 && (
        <Section title="Machines">
          <Machines rows={machines} />
        </Section>
      )}
      {shared.length > 0 && (
        <Section
          title="Shared installs and machines"
          intro="Licenses of others were activated on these, too. Their events and days of use are neither exported nor erased unless you include them."
        >
          <SharedTable rows={shared} />
        </Section>
      )}
      {subscriptions.length > 0 && (
        <Section title="Subscriptions">
          <Subscriptions rows={subscriptions} />
        </Section>
      )}
      <Section title="Payments">
        <Payments rows={payments} />
      </Section>
      <Section title="E-mails">
        <Mails rows={mails} />
      </Section>
      {changes.length > 0 && (
        <Section title="Exports and erasures">
          <Timeline
            items={changes.map(({ action, actor, occurred_at: at, reason }, index) => ({
              id: `${at} ${index}`,
              at,
              title: action,
              detail: reason === null ? nameActor(actor) : `${nameActor(actor)}: ${reason}`,
            }))}
          />
        </Section>
      )}
    </>
  );
}

function Summary({ customer }: { readonly customer: Customer }) {
  const { accounts, licenses, newsletter, suppressed } = customer;
  const names = new Set([
    ...licenses.flatMap(({ customer_name: name }) => name ?? []),
    ...accounts.flatMap(({ name }) => name ?? []),
  ]);
  return (
    <Card>
      <Facts
        items={[
          ['Name', names.size === 0 ? null : [...names].join(', ')],
          [
            'Payment accounts',
            accounts.length === 0
              ? null
              : accounts
                  .map((each) => `${nameProvider(each.provider)} ${each.customer_id}`)
                  .join(', '),
          ],
          ['Newsletter', describeNewsletter(newsletter)],
          [
            'Suppressed',
            suppressed === null ? (
              'no'
            ) : (
              <>
                <Badge tone="warning">{labelOf(suppressed.reason)}</Badge>{' '}
                <Time at={suppressed.suppressed_at} as="date" />
              </>
            ),
          ],
        ]}
      />
    </Card>
  );
}

function describeNewsletter(newsletter: Customer['newsletter']) {
  if (newsletter === null) return 'not subscribed';
  const { confirmed_at: confirmedAt, subscribed_at: subscribedAt } = newsletter;
  return confirmedAt === null ? (
    <>
      not confirmed, subscribed <Time at={subscribedAt} as="date" />
    </>
  ) : (
    <>
      confirmed <Time at={confirmedAt} as="date" />
    </>
  );
}
