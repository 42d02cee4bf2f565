import { credentialsOf } from '../../../bench/lib/credentials.ts';
import { chooseMachine, type LoadContext } from './actor.ts';

/** Sends a heartbeat. A client does not repeat it. */
export async function sendHeartbeat(
  { client, ledger, machines }: LoadContext,
  number: number,
  dueAt: number,
): Promise<void> {
  const machine = chooseMachine(number, machines);
  const { machineId } = credentialsOf(machine);
  const body = {
    machine_id: machineId,
    machine_fingerprint: { machine_id: machineId, os_version: '15.1' },
    app_version: '2.4.0',
  };
  const path = '/api/v1/usage/heartbeat';
  const { acknowledgement } = await client.send('heartbeat', {
    path,
    body,
    client: machine,
    dueAt,
  });
  ledger.heartbeats.record(machine, acknowledgement);
}
