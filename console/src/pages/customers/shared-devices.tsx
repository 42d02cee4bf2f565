import type { Customer } from '@latchkey/contract';

import { addQuery } from '#console/app/query.ts';
import { hrefOf } from '#console/app/router.ts';
import { Field } from '#console/ui/field.tsx';
import type { FormValues } from '#console/ui/form.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';

/** The installs and machines of a customer on which licenses of others were activated, too. */
export type SharedDevices = Pick<Customer, 'shared_installs' | 'shared_machines'>;

interface SharedDevice {
  readonly kind: 'install' | 'machine';
  readonly id: string;
  readonly otherLicenses: number;
}

/** Lists the shared installs, then the shared machines. */
export function listShared({
  shared_installs: installs,
  shared_machines: machines,
}: SharedDevices) {
  const toDevice =
    (kind: SharedDevice['kind']) =>
    ({ id, other_licenses: otherLicenses }: SharedDevices['shared_installs'][number]) => ({
      kind,
      id,
      otherLicenses,
    });
  return [...installs.map(toDevice('install')), ...machines.map(toDevice('machine'))];
}

/** The table of shared devices; each links to the page that shows the licenses. */
export function SharedTable({ rows }: { readonly rows: readonly SharedDevice[] }) {
  return (
    <PlainTable
      caption="Shared installs and machines"
      rows={rows}
      rowKey={({ id, kind }) => `${kind} ${id}`}
      columns={[
        {
          key: 'device',
          label: 'Install or machine',
          grow: true,
          cell: ({ id, kind }) => (
            <a href={hrefOf(kind === 'install' ? `/installs/${id}` : addQuery('/machine', { id }))}>
              {kind} {id}
            </a>
          ),
        },
        {
          key: 'others',
          label: 'Licenses of others',
          cell: ({ otherLicenses }) => otherLicenses,
        },
      ]}
    />
  );
}

/** More are included by the command line. */
const MAX_FIELDS = 20;

/** A box for each shared device, which includes its data. */
export function SharedFields({ devices }: { readonly devices: readonly SharedDevice[] }) {
  return (
    <>
      {devices.slice(0, MAX_FIELDS).map(({ id, kind, otherLicenses }, index) => (
        <Field
          key={`${kind} ${id}`}
          label={`Include ${kind} ${id}`}
          name={`${FIELD}${index}`}
          type="checkbox"
          hint={`Licenses of others activated there: ${otherLicenses}. Its data may be about another person.`}
        />
      ))}
    </>
  );
}

const FIELD = 'shared_';

/** Returns the members of the request that include the devices whose box is checked. */
export function includeShared(values: FormValues, devices: readonly SharedDevice[]) {
  const chosen = devices.filter((_, index) => values[`${FIELD}${index}`] === 'on');
  const idsOf = (kind: SharedDevice['kind']) =>
    chosen.filter((each) => each.kind === kind).map(({ id }) => id);
  return {
    include_shared_installs: idsOf('install'),
    include_shared_machines: idsOf('machine'),
  };
}
