import { join } from 'node:path';

import { readText } from '../../read/small-file.ts';
import type { InstalledFacts } from '../facts.ts';
import { INSTALLED_FILE, parseInstalled } from '../installed.ts';
import { paths } from '../paths.ts';
import type { Detection } from './detection.ts';

/** What an earlier installation wrote down; null where there was none. A damaged one is a sentence with its fix. */
export function detectInstalled({ root }: Pick<Detection, 'root'>): {
  readonly installed: InstalledFacts | null;
  readonly fault: string | null;
} {
  const path = join(paths.journal, INSTALLED_FILE);
  const text = readText(join(root, path));
  if (text === null) return { installed: null, fault: null };
  const installed = parseInstalled(text);
  if (installed !== null) return { installed, fault: null };
  const fault = `${path} is damaged, so it is not known what is installed: remove that file and install again with all options, or run latchkey-agent uninstall.`;
  return { installed, fault };
}
