import type { ListedMachine, Fleet } from '@latchkey/agent/fleet/core/types.ts';
import { mountFleet } from '@latchkey/agent/fleet/mount.ts';
import { openFleet } from '@latchkey/agent/fleet/view/open-fleet.ts';
import { saveToken } from '@latchkey/agent/fleet/view/token-store.ts';
import type { FleetServer } from '@latchkey/contract';
import { addFleetServer } from '@latchkey/contract/admin/fleet';
import { useEffect, useRef } from 'preact/hooks';

import { hrefOf } from '#console/app/router.ts';
import { mayCall } from '#console/app/session.ts';

import { EDIT_PATH } from './fleet-resources.ts';
import { addFleetStyles } from './fleet-styles.ts';

/** The page that agents have at `/fleet`, with the list of the service. */
export function FleetView({ servers }: { readonly servers: readonly FleetServer[] }) {
  const place = useRef<HTMLDivElement>(null);
  const fleet = useRef<Fleet>(null);
  const list = toMachines(servers);
  // Another version of an equal list would make the page draw everything again.
  const content = JSON.stringify(list);
  useEffect(() => {
    if (place.current === null) return undefined;
    const removeStyles = addFleetStyles();
    const opened = openFleet(list);
    fleet.current = opened;
    const url = hrefOf(EDIT_PATH);
    const unmount = mountFleet(place.current, {
      fleet: opened,
      list: mayCall(addFleetServer) ? { editUrl: url } : { showUrl: url },
      saveToken,
    });
    return () => {
      unmount();
      opened.close();
      removeStyles();
    };
  }, []);
  useEffect(() => fleet.current?.setList(list), [content]);
  return <div ref={place} />;
}

function toMachines(servers: readonly FleetServer[]): ListedMachine[] {
  return servers.map(({ id, name, address, labels }) => ({ id, name, address, labels }));
}
