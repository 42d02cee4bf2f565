import type { FleetImported, FleetServerEntry } from '@latchkey/contract';
import { fleetServers, importFleetServers } from '@latchkey/contract/admin/fleet';
import { useState } from 'preact/hooks';

import { ApiError } from '#console/app/api-error.ts';
import { call, pathOf } from '#console/app/call.ts';
import { readAgain } from '#console/app/resources.ts';
import { mayCall } from '#console/app/session.ts';
import { Button } from '#console/ui/button.tsx';
import { Dialog } from '#console/ui/dialog.tsx';
import { Field } from '#console/ui/field.tsx';
import { Form, type FormValues } from '#console/ui/form.tsx';
import { showToast } from '#console/ui/toast.tsx';

import { readImport } from './read-import.ts';

/** Adds several servers at once. */
export function ImportServers() {
  const [isOpen, setOpen] = useState(false);
  if (!mayCall(importFleetServers)) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>Import</Button>
      {isOpen && <ImportDialog onClose={() => setOpen(false)} />}
    </>
  );
}

const FIELD = 'lines';

function ImportDialog({ onClose }: { readonly onClose: () => void }) {
  async function send({ [FIELD]: text = '' }: FormValues): Promise<void> {
    const { added, changed, unchanged } = await importServers(text);
    await readAgain(pathOf(fleetServers.list));
    onClose();
    showToast(`Added ${added}, changed ${changed}, unchanged ${unchanged}.`);
  }

  return (
    <Dialog title="Import servers" onClose={onClose}>
      <p>
        Adds all of them, or none if one is invalid. A server whose address is listed gets the name
        and the labels from here.
      </p>
      <Form onSubmit={send} submit="Import" buttons={<Button onClick={onClose}>Cancel</Button>}>
        <Field
          label="Lines, or a link to a fleet page"
          name={FIELD}
          type="textarea"
          rows={8}
          required
          spellcheck={false}
          placeholder={'web-1 web-1.example.com web,berlin\nnas 10.0.0.7:4100 storage'}
          hint="Name, address and labels on each line. Separate them with tabs if a name contains spaces."
        />
      </Form>
    </Dialog>
  );
}

/** @throws ApiError that names the line */
async function importServers(text: string): Promise<FleetImported> {
  const { servers, problems } = readImport(text);
  const [problem] = problems;
  if (problem !== undefined) throw lineError(problem.line, problem.problem);
  if (servers.length === 0) throw fieldError('There is no server in this text.');
  const entries = servers.map(({ name, address, labels }): FleetServerEntry => ({
    name,
    address,
    labels,
  }));
  try {
    return await call(importFleetServers, { body: { servers: entries } });
  } catch (error) {
    const [first] = error instanceof ApiError ? error.fields : [];
    const index = /^servers\.(?<index>\d+)/.exec(first?.field ?? '')?.groups?.['index'];
    const line = servers[Number(index)]?.line;
    if (first === undefined || line === undefined) throw error;
    throw lineError(line, first.message);
  }
}

function lineError(line: number, message: string): ApiError {
  return fieldError(`Line ${line}: ${message}.`);
}

function fieldError(message: string): ApiError {
  return new ApiError('invalid_request', 422, message, { fields: [{ field: FIELD, message }] });
}
