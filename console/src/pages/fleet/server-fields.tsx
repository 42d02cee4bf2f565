import type { FleetServer } from '@latchkey/contract';

import { Field } from '#console/ui/field.tsx';
import type { FormValues } from '#console/ui/form.tsx';

/** The fields of a server. */
export function ServerFields({ server }: { readonly server?: FleetServer }) {
  return (
    <>
      <Field
        label="Address"
        name="address"
        value={server?.address ?? ''}
        required
        autoFocus
        autoComplete="off"
        spellcheck={false}
        maxLength={260}
        placeholder="web-1.example.com"
        hint="Host name or IPv4 address of its agent, as your browser reaches it, with a port other than 4096: 10.0.0.7:4100. Behind a web server with its path: db-1.example.com/latchkey."
      />
      <Field
        label="Name"
        name="name"
        value={server?.name ?? ''}
        autoComplete="off"
        maxLength={100}
        hint="Default: the address."
      />
      <Field
        label="Labels"
        name="labels"
        value={server?.labels.join(', ') ?? ''}
        autoComplete="off"
        hint="Groups of the fleet page, separated by commas: web, berlin."
      />
    </>
  );
}

/** Converts the fields to the body of an operation. */
export function readServerFields({ address = '', name = '', labels = '' }: FormValues) {
  return {
    address: address.trim(),
    name: name.trim() === '' ? address.trim() : name.trim(),
    labels: labels
      .split(',')
      .map((label) => label.trim())
      .filter((label) => label !== ''),
  };
}
