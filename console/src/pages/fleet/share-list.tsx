import type { FleetServer } from '@latchkey/contract';
import { writeListFragment } from '@latchkey/agent/fleet/core/list-fragment.ts';
import { useState } from 'preact/hooks';

import { Button } from '#console/ui/button.tsx';
import { CopyButton } from '#console/ui/copy-button.tsx';
import { Dialog } from '#console/ui/dialog.tsx';
import { Field } from '#console/ui/field.tsx';

import { urlOf } from './fleet-resources.ts';

interface ShareListProps {
  readonly servers: readonly FleetServer[];
}

/** Creates a link that shows the list at the `/fleet` of an agent, also while this service is down. */
export function ShareList({ servers }: ShareListProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Link</Button>
      {isOpen && <ShareDialog servers={servers} onClose={() => setOpen(false)} />}
    </>
  );
}

function ShareDialog({ servers, onClose }: ShareListProps & { readonly onClose: () => void }) {
  const [through, setThrough] = useState(servers[0]?.address ?? '');
  const link = linkThrough(through, servers);
  return (
    <Dialog title="Link to this list" onClose={onClose}>
      <p>
        The agent of any server has the fleet page, too. This link opens it with the list as it is
        now, also while this service is down. It contains names, addresses and labels, but no token.
      </p>
      <form class="form" onSubmit={(event) => event.preventDefault()}>
        <Field
          label="Page of"
          name="through"
          type="select"
          required
          value={through}
          options={servers.map(({ name, address }) => ({ value: address, label: name }))}
          onInput={setThrough}
        />
        <Field key={link} label="Link" name="link" type="textarea" readOnly required value={link} />
        <div class="buttons">
          <CopyButton text={link} label="Copy link" />
          <Button onClick={onClose}>Close</Button>
        </div>
      </form>
    </Dialog>
  );
}

/** The agents on the list must allow the origin of the agent whose page it is. */
function linkThrough(address: string, servers: readonly FleetServer[]): string {
  return `${urlOf(address)}/fleet${writeListFragment(servers)}`;
}
