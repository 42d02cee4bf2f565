import type { FleetServer } from '@latchkey/contract';
import {
  addFleetServer,
  fleetServers,
  removeFleetServer,
  updateFleetServer,
} from '@latchkey/contract/admin/fleet';

import { pathOf, useOperation } from '#console/app/call.ts';
import { mayCall } from '#console/app/session.ts';
import { CsvButton, exportOf } from '#console/ui/csv-button.tsx';
import type { Column } from '#console/ui/data-table.tsx';
import { Loaded } from '#console/ui/loaded.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';
import { Page, Section } from '#console/ui/page.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';

import { AllowConsole } from './allow-console.tsx';
import { ImportServers } from './import-servers.tsx';
import { readServerFields, ServerFields } from './server-fields.tsx';
import { ShareList } from './share-list.tsx';

const INTRO =
  'The servers that every operator sees on the fleet page. Each needs the agent, which decides who may watch it.';

/** The list of servers watched by agents. */
export function ServersPage() {
  const servers = useOperation(fleetServers.list, {});
  return (
    <Page
      title="Servers"
      back={{ to: '/fleet', label: 'Fleet' }}
      intro={mayCall(addFleetServer) ? INTRO : `${INTRO} Administrators change the list.`}
      actions={<ListActions servers={servers.data?.items ?? []} />}
    >
      <Loaded resource={servers}>
        {({ items }) => (
          <>
            <AllowConsole />
            <Section title="Listed servers">
              <PlainTable
                caption="Servers"
                columns={COLUMNS}
                rows={items}
                rowKey={({ id }) => id}
                empty="No server is listed yet."
              />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function ListActions({ servers }: { readonly servers: readonly FleetServer[] }) {
  return (
    <>
      {servers.length > 0 && <CsvButton {...exportOf(fleetServers.export, {})} />}
      {servers.length > 0 && <ShareList servers={servers} />}
      <ImportServers />
      <OperationAction
        of={addFleetServer}
        label="Add server"
        kind="primary"
        confirm="Add"
        body={readServerFields}
        invalidates={[pathOf(fleetServers.list)]}
        done="The server was added."
      >
        <ServerFields />
      </OperationAction>
    </>
  );
}

const COLUMNS: readonly Column<FleetServer>[] = [
  { key: 'name', label: 'Name', grow: true, cell: ({ name }) => <span dir="auto">{name}</span> },
  { key: 'address', label: 'Address', cell: ({ address }) => <code class="break">{address}</code> },
  { key: 'labels', label: 'Labels', cell: ({ labels }) => labels.join(', ') },
  { key: 'actions', label: '', align: 'end', cell: (server) => <ServerActions server={server} /> },
];

function ServerActions({ server }: { readonly server: FleetServer }) {
  if (!mayCall(updateFleetServer)) return null;
  const common = {
    params: { id: server.id },
    version: server.version,
    invalidates: [pathOf(fleetServers.list)],
  };
  return (
    <span class="buttons" style={{ flexWrap: 'nowrap' }}>
      <OperationAction
        of={updateFleetServer}
        {...common}
        label="Edit"
        title={`Edit “${server.name}”`}
        confirm="Save"
        body={readServerFields}
        done="The server was changed."
      >
        <ServerFields server={server} />
      </OperationAction>
      <OperationAction
        of={removeFleetServer}
        {...common}
        label="Remove"
        title={`Remove “${server.name}”`}
        explanation="It disappears from the fleet page of every operator. Its agent is not changed."
        kind="danger"
        done="The server was removed."
      />
    </span>
  );
}
