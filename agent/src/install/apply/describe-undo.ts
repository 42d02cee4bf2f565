import { type Entry, nameEntry } from './step-kind.ts';

/** What the undoing of a step does, for people. */
export function describeUndo(entry: Entry): string[] {
  const { kind, subject, before } = entry;
  if (kind === 'packages') return describePackages(entry);
  if (kind === 'certificate') return [`Have certbot delete the certificate ${subject['domain']}`];
  if (kind === 'nginx') return ['Reload nginx'];
  if (kind === 'service') return [`Stop and disable ${subject['unit']}`];
  if (kind === 'firewall') return [`Close port ${subject['port']} (${subject['tool']})`];
  if (kind === 'user') return [`Remove the user ${subject['name']}`];
  if (before.paths.length === 0) return [`Remove the ${nameEntry(entry)}`];
  return before.paths.map(({ type, path }) =>
    type === 'absent' ? `Remove ${path}` : `Bring back ${path} as it was before`,
  );
}

function describePackages({ before, after }: Entry): string[] {
  if (after !== null) return [`Remove the packages ${(after['added'] ?? []).join(', ')}`];
  const planned = (before.facts['planned'] ?? []).join(', ');
  return [`Remove what the interrupted run installed of the packages ${planned}`];
}
