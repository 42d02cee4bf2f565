import { readServerLines, type LineProblem, type ServerLine } from '@latchkey/contract/fleet-lines';
import { readListFragment } from '@latchkey/agent/fleet/core/list-fragment.ts';

/** A list in the address of a fleet page. */
const LINK = /#(?<fragment>m=\S+)/;

/** Reads servers of pasted lines, or of a link to a fleet page; those of a link have their place in it as line. */
export function readImport(text: string): {
  readonly servers: readonly ServerLine[];
  readonly problems: readonly LineProblem[];
} {
  const fragment = LINK.exec(text)?.groups?.['fragment'];
  if (fragment === undefined) return readServerLines(text);
  const { machines, ignored } = readListFragment(fragment);
  return {
    servers: machines.map(({ name, address, labels }, index) => ({
      line: index + 1,
      name,
      address,
      labels: [...labels],
    })),
    problems: ignored === 0 ? [] : [{ line: 1, problem: 'The link is damaged or too long' }],
  };
}
