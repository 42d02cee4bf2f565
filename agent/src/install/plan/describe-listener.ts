import type { Listener } from '../facts.ts';

/** Who has a port, for a sentence: `apache2 (process 712, apache2.service)`. */
export function describeListener({ process }: Listener): string {
  if (process === null) return 'a program that is not to be seen from here';
  const { pid, name, unit } = process;
  return `${name} (process ${pid}${unit === null ? '' : `, ${unit}`})`;
}

/** How to stop it, for the end of a sentence. */
export function describeStop({ process }: Listener): string {
  const unit = process?.unit ?? null;
  return unit === null ? 'stop it' : `stop it (systemctl stop ${unit})`;
}
