import type { FileStep } from '../steps.ts';

const HEADER =
  '# Written by the installer of latchkey-agent: what is changed here is lost at the next installation, and with the agent.\n';

/** A file of ours that everybody may read. */
export function writeFile(path: string, text: string): FileStep {
  return {
    kind: 'file',
    path,
    text: HEADER + text,
    mode: 0o644,
    group: 'root',
    keepsExisting: false,
  };
}
