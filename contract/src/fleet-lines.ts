/** The list of servers as lines of text, for the command line and the console, in a file without schemas. */

/** A server of a line. */
export interface ServerLine {
  /** The number of the line, from 1. */
  readonly line: number;
  readonly name: string;
  readonly address: string;
  readonly labels: string[];
}

/** A line that is not a server. */
export interface LineProblem {
  readonly line: number;
  readonly problem: string;
}

/**
 * Reads lines `name address label,label`, separated by spaces, or by tabs where names contain spaces. One word alone is the
 * address and the name. Empty lines, and lines that begin with `#`, are skipped. The service checks the fields.
 */
export function readServerLines(text: string): { servers: ServerLine[]; problems: LineProblem[] } {
  const servers: ServerLine[] = [];
  const problems: LineProblem[] = [];
  for (const [index, content] of text.split('\n').entries()) {
    const line = index + 1;
    const trimmed = content.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const fields = trimmed.includes('\t') ? splitAtTabs(trimmed) : trimmed.split(/\s+/);
    const [name = '', address = name, labels = ''] = fields;
    if (fields.length > 3) {
      problems.push({ line, problem: PROBLEM });
    } else {
      const words = labels.split(',').map((label) => label.trim());
      servers.push({ line, name, address, labels: words.filter((word) => word !== '') });
    }
  }
  return { servers, problems };
}

function splitAtTabs(line: string): string[] {
  const fields = line.split('\t').map((field) => field.trim());
  return fields.filter((field) => field !== '');
}

const PROBLEM =
  'Write name, address and labels; separate them with tabs if a name contains spaces, and labels with commas';
