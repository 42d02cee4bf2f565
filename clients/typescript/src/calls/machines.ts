import type { Machine, Machines } from '../answers/machine.ts';
import { refuse, type Result } from '../answers/results.ts';
import { readMachines } from '../answers/shapes.ts';
import { isObject } from '../json.ts';
import type { Session } from '../session.ts';
import { activate } from './activate.ts';
import { requestDeactivation } from './deactivate.ts';
import { reportFailure } from './report-failure.ts';
import { refuseUnactivated, reportNoAnswer, unexpectedShape } from './outcome.ts';
import { LICENSES } from './service.ts';

type Listed = NonNullable<ReturnType<typeof readMachines>>;

/** Lists the machines of the license, or of the key that was just refused because none is free. */
export async function listMachines(session: Session): Promise<Machines> {
  const listed = await list(session);
  return listed.ok ? { ok: true, machines: listed.machines.map(describe(session)) } : listed;
}

/** Frees another machine of the license and activates this one. */
export async function moveHere(session: Session, activationId: string): Promise<Result> {
  const key = chooseKey(session);
  const listed = await list(session);
  if (!listed.ok) return listed;
  const machine = listed.machines.find(({ activation_id: id }) => id === activationId);
  if (key === null || machine === undefined) return refuse('activation_not_found');
  if (machine.is_active) {
    const answer = await requestDeactivation(session, {
      license_key: key,
      activation_id: activationId,
      machine_id: machine.machine_id,
    });
    if (answer.kind !== 'success') return reportFailure(session, answer);
    if (!isObject(answer.body) || answer.body['success'] !== true) {
      return reportNoAnswer(session, unexpectedShape());
    }
  }
  return activate(session, key);
}

function chooseKey({ refusedKey, kept }: Session): string | null {
  return refusedKey ?? kept.key;
}

async function list(session: Session): Promise<Result<{ readonly machines: Listed }>> {
  const key = chooseKey(session);
  if (key === null) return refuseUnactivated(session);
  const answer = await session.parts.service.get(
    `${LICENSES}/${encodeURIComponent(key)}/activations`,
  );
  if (answer.kind !== 'success') return reportFailure(session, answer);
  const machines = readMachines(answer.body);
  if (machines === null) return reportNoAnswer(session, unexpectedShape());
  session.noteAnswer(true);
  return { ok: true, machines };
}

function describe({ kept, machine: own }: Session) {
  return (machine: Listed[number]): Machine => ({
    activationId: machine.activation_id,
    isActive: machine.is_active,
    isThis: machine.activation_id === kept.activationId || machine.machine_id === own.machine_id,
    osVersion: machine.os_version ?? null,
    appVersion: machine.app_version ?? null,
    activatedAt: machine.activated_at,
    lastValidatedAt: machine.last_validated_at,
  });
}
