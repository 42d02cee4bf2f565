import type { AdminLicenseDetails, LicenseMachine } from '@latchkey/contract';
import { freeMachine } from '@latchkey/contract/admin/license-changes';

import { serviceNowMs } from '#console/app/service-clock.ts';
import { Badge } from '#console/ui/badge.tsx';
import type { Column } from '#console/ui/data-table.tsx';
import { Empty } from '#console/ui/empty.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';
import { Section } from '#console/ui/page.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';
import { Time } from '#console/ui/time.tsx';

import { AFFECTED, labelOfRefusal } from './license-labels.ts';

interface LicenseProps {
  readonly license: AdminLicenseDetails;
}

/** The machines of a license, n of m, active ones first. */
export function MachinesSection({ license }: LicenseProps) {
  const { machines, active_machines: count, max_activations: max } = license;
  const active = machines.filter((each) => each.is_active);
  const freed = machines.filter((each) => !each.is_active);
  return (
    <Section title={`Machines: ${count} of ${max}`} intro={<Refused license={license} />}>
      <div class="seats" aria-hidden="true">
        {Array.from({ length: Math.min(max, 24) }, (_, index) => (
          <span key={index} class={index < count ? 'taken' : ''} />
        ))}
      </div>
      {active.length === 0 ? (
        <Empty title="No active machine">
          The customer enters the key in the software, which activates the computer.
        </Empty>
      ) : (
        <PlainTable
          caption="Active machines"
          rows={active}
          rowKey={({ activation_id: id }) => id}
          columns={activeColumns(license)}
        />
      )}
      {freed.length > 0 && (
        <details class="folded">
          <summary>
            {freed.length} deactivated {freed.length === 1 ? 'machine' : 'machines'}
          </summary>
          <PlainTable
            caption="Deactivated machines"
            rows={freed}
            rowKey={({ activation_id: id }) => id}
            columns={FREED_COLUMNS}
          />
        </details>
      )}
    </Section>
  );
}

function Refused({ license: { refusals } }: LicenseProps) {
  if (refusals.length === 0) return null;
  return (
    <>
      Refused this week:{' '}
      {refusals
        .map(({ reason, refusals: count }) => `${count}× ${labelOfRefusal(reason)}`)
        .join(', ')}
    </>
  );
}

function activeColumns(license: AdminLicenseDetails): readonly Column<LicenseMachine>[] {
  return [
    { key: 'machine', label: 'Computer', grow: true, cell: (each) => <Machine machine={each} /> },
    { key: 'version', label: 'Version', cell: ({ app_version: version }) => version ?? '–' },
    {
      key: 'seen',
      label: 'Last seen',
      cell: (each) => <Time at={each.last_seen_at} as="relative" />,
    },
    {
      key: 'offline',
      label: 'Runs offline until',
      cell: (machine) => <OfflineUntil machine={machine} />,
    },
    {
      key: 'free',
      label: '',
      align: 'end',
      cell: (machine) => <Free license={license} machine={machine} />,
    },
  ];
}

const FREED_COLUMNS: readonly Column<LicenseMachine>[] = [
  { key: 'machine', label: 'Computer', grow: true, cell: (each) => <Machine machine={each} /> },
  { key: 'version', label: 'Version', cell: ({ app_version: version }) => version ?? '–' },
  {
    key: 'activated',
    label: 'Activated',
    cell: (each) => <Time at={each.activated_at} as="date" />,
  },
  {
    key: 'deactivated',
    label: 'Deactivated',
    cell: (each) => (
      <span>
        <Time at={each.deactivated_at} as="date" />
        {isFuture(each.airgapped_until) && (
          <span class="dim second-line">
            runs until <Time at={each.airgapped_until} as="date" />
          </span>
        )}
      </span>
    ),
  },
];

function Machine({ machine }: { readonly machine: LicenseMachine }) {
  const { machine_id: id, os_version: os, validation_count: count } = machine;
  return (
    <span>
      <code>{id ?? 'not named yet'}</code>
      <span class="dim second-line">
        {os !== null && `${/^\d/.test(os) ? 'OS ' : ''}${os} · `}
        {count} {count === 1 ? 'validation' : 'validations'}
      </span>
    </span>
  );
}

function OfflineUntil({ machine }: { readonly machine: LicenseMachine }) {
  const { offline_until: until } = machine;
  if (until !== null && !isFuture(until)) return <Badge tone="warning">Over</Badge>;
  return (
    <span>
      <Time at={until} as="date" />
      {isFuture(machine.airgapped_until) && <span class="dim second-line">no connection</span>}
    </span>
  );
}

function isFuture(at: string | null): boolean {
  return at !== null && Date.parse(at) > serviceNowMs();
}

interface FreeProps extends LicenseProps {
  readonly machine: LicenseMachine;
}

function Free({ license, machine }: FreeProps) {
  const { offline_until: until } = machine;
  return (
    <OperationAction
      of={freeMachine}
      params={{ id: license.id, activation_id: machine.activation_id }}
      label="Free"
      title="Free this machine"
      explanation={
        <>
          <code>{machine.machine_id ?? machine.activation_id}</code> is deactivated, so that another
          computer can be activated.
          {isFuture(until) && (
            <>
              {' '}
              Without a connection, the software still runs there until{' '}
              <Time at={until} as="date" />.
            </>
          )}
          {isFuture(machine.airgapped_until) && (
            <>
              {' '}
              It was activated without a connection, and nothing ends that earlier: free it if it is
              lost or broken.
            </>
          )}
        </>
      }
      reason="required"
      invalidates={AFFECTED}
      done="The machine is free."
    />
  );
}
