import type { Person, SharedDevice, SharedDeviceChoice } from '../facts.ts';

/** Returns the devices whose data is treated as the person's own: without shared ones, unless they are included. */
export function selectDevices(
  ids: readonly string[],
  shared: readonly SharedDevice[],
  included: readonly string[] | 'all',
): string[] {
  if (included === 'all') return [...ids];
  const leftOut = listLeftOut(shared, included);
  return ids.filter((id) => !leftOut.includes(id));
}

/** Returns the ids of the shared devices that are not included. */
export function listLeftOut(
  shared: readonly SharedDevice[],
  included: readonly string[],
): string[] {
  return shared.map(({ id }) => id).filter((id) => !included.includes(id));
}

/** The numbers of shared devices that the operator included, for the audit log; nothing without any. */
export function describeIncluded({
  installIds,
  machineIds,
  sharedInstalls,
  sharedMachines,
}: Pick<Person, 'installIds' | 'machineIds' | 'sharedInstalls' | 'sharedMachines'>) {
  const installs = sharedInstalls.filter(({ id }) => installIds.includes(id)).length;
  const machines = sharedMachines.filter(({ id }) => machineIds.includes(id)).length;
  return installs + machines === 0
    ? {}
    : { included_installs: installs, included_machines: machines };
}

/** The numbers of shared devices that an operator names for an export, for the audit log; nothing without any. */
export function describeChoice({ installs, machines }: SharedDeviceChoice) {
  return installs.length + machines.length === 0
    ? {}
    : { included_installs: countChosen(installs), included_machines: countChosen(machines) };
}

function countChosen(chosen: readonly string[] | 'all'): number | 'all' {
  return chosen === 'all' ? chosen : chosen.length;
}
