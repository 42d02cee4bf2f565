import type { FleetServer } from '@latchkey/contract';
import { addFleetServer, fleetServers } from '@latchkey/contract/admin/fleet';
import { useEffect, useState } from 'preact/hooks';

import { useOperation } from '#console/app/call.ts';
import { mayCall } from '#console/app/session.ts';
import { Button, LinkButton } from '#console/ui/button.tsx';
import { Empty, Loading } from '#console/ui/empty.tsx';
import { Notice } from '#console/ui/error-box.tsx';
import { Loaded } from '#console/ui/loaded.tsx';
import { Page } from '#console/ui/page.tsx';

import { findUnnamed, forgetLoading, loadDocumentFor, readPolicy } from './document-policy.ts';
import { EDIT_PATH } from './fleet-resources.ts';
import { FleetView } from './fleet-view.tsx';
import { useQuietReload } from './use-quiet-reload.ts';

/** All servers watched by agents, each second; the browser connects to each of them. */
export function FleetPage() {
  const servers = useOperation(fleetServers.list, {}, { polls: true });
  if (servers.data === undefined) {
    return (
      <Page title="Fleet">
        <Loaded resource={servers}>{() => null}</Loaded>
      </Page>
    );
  }
  return <Watched servers={servers.data.items} />;
}

interface WatchedProps {
  readonly servers: readonly FleetServer[];
}

function Watched({ servers }: WatchedProps) {
  const unnamed = new Set(
    findUnnamed(
      servers.map(({ address }) => address),
      readPolicy(),
    ),
  );
  // The page watches already, so that it is not loaded again while somebody uses it.
  const [isShown, setShown] = useState(false);
  const [isLoading, setLoading] = useState(false);
  useEffect(() => {
    if (unnamed.size === 0) forgetLoading();
    if (isShown) return;
    if (unnamed.size > 0 && loadDocumentFor([...unnamed])) setLoading(true);
    else setShown(true);
  }, [unnamed.size]);
  useQuietReload(isShown ? [...unnamed] : []);
  if (servers.length === 0) return <NoServer />;
  if (isLoading || !isShown)
    return (
      <Page title="Fleet">
        <Loading />
      </Page>
    );
  return (
    <article class="page">
      {unnamed.size > 0 && <Unnamed addresses={[...unnamed]} />}
      <FleetView servers={servers.filter(({ address }) => !unnamed.has(address))} />
    </article>
  );
}

function NoServer() {
  return (
    <Page title="Fleet">
      <Empty title="No server is listed yet.">
        <p>Install the agent on a server, then add its address to see it here each second.</p>
        {mayCall(addFleetServer) ? (
          <LinkButton to={EDIT_PATH} kind="primary">
            Add servers
          </LinkButton>
        ) : (
          <p>Administrators change the list.</p>
        )}
      </Empty>
    </Page>
  );
}

const MAX_NAMED = 3;

/** Servers that were added since the document was loaded. */
function Unnamed({ addresses }: { readonly addresses: readonly string[] }) {
  const named = addresses.slice(0, MAX_NAMED).join(', ');
  const others = addresses.length - MAX_NAMED;
  return (
    <Notice kind="warning">
      <p role="status">
        This page was opened before {named}
        {others > 0 && ` and ${others} more`} {addresses.length === 1 ? 'was' : 'were'} added, and
        may not connect there. It loads again by itself when nobody has used it for a minute.
      </p>
      <Button onClick={() => globalThis.location.reload()}>Load again</Button>
    </Notice>
  );
}
