import type { FleetServer, FleetServers } from '@latchkey/contract';

import { useResource } from '#console/app/resources.ts';
import { hasRole } from '#console/app/session.ts';
import { Action } from '#console/ui/action.tsx';
import { CsvButton } from '#console/ui/csv-button.tsx';
import type { Column } from '#console/ui/data-table.tsx';
import { Loaded } from '#console/ui/loaded.tsx';
import { Page, Section } from '#console/ui/page.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';

import { AllowConsole } from './allow-console.tsx';
import { FLEET_SERVERS } from './fleet-resources.ts';
import { ImportServers } from './import-servers.tsx';
import { readServerFields, ServerFields } from './server-fields.tsx';
import { ShareList } from './share-list.tsx';

const INTRO =
  'The servers that every operator sees on the fleet page. Each needs the agent, which decides who may watch it.';

/** The list of servers watched by agents. */
export function ServersPage() {
  const servers = useResource<FleetServers>(FLEET_SERVERS);
  return (
    <Page
      title="Servers"
      back={{ to: '/fleet', label: 'Fleet' }}
      intro={hasRole('admin') ? INTRO : `${INTRO} Administrators change the list.`}
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
      {servers.length > 0 && <CsvButton path={`${FLEET_SERVERS}/export`} fresh />}
      {servers.length > 0 && <ShareList servers={servers} />}
      <ImportServers />
      <Action
        label="Add server"
        kind="primary"
        confirm="Add"
        role="admin"
        path={FLEET_SERVERS}
        body={readServerFields}
        invalidates={[FLEET_SERVERS]}
        done="The server was added."
      >
        <ServerFields />
      </Action>
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
  if (!hasRole('admin')) return null;
  const common = {
    role: 'admin',
    version: server.version,
    invalidates: [FLEET_SERVERS],
  } as const;
  const path = `${FLEET_SERVERS}/${server.id}`;
  return (
    <span class="buttons" style={{ flexWrap: 'nowrap' }}>
      <Action
        {...common}
        label="Edit"
        title={`Edit “${server.name}”`}
        confirm="Save"
        path={`${path}/update`}
        body={readServerFields}
        done="The server was changed."
      >
        <ServerFields server={server} />
      </Action>
      <Action
        {...common}
        label="Remove"
        title={`Remove “${server.name}”`}
        explanation="It disappears from the fleet page of every operator. Its agent is not changed."
        kind="danger"
        path={`${path}/remove`}
        done="The server was removed."
      />
    </span>
  );
}
