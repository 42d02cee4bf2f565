import type { AgentRaspberryPi } from '@latchkey/contract';

/** By name, for what another agent says may hold anything beside them. */
const TROUBLES = [
  'under_voltage',
  'frequency_capped',
  'throttled',
  'soft_temperature_limit',
] as const satisfies readonly (keyof AgentRaspberryPi)[];

/** What holds a Raspberry Pi back now, in words. */
export function listPiTroubles(part: AgentRaspberryPi): string[] {
  return TROUBLES.filter((name) => part[name].now).map((name) => name.replaceAll('_', ' '));
}
