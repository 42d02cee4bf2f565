import { posix } from 'node:path';

const IMPORT = /^import \{[\s\w,$]*\} from '(?<from>\.[^']*)';[^\S\n]*$/gm;
const RENAMED = /^import \{[^}]*\bas\b/m;
const EXPORT = /^export (?=(?:async )?(?:function|class|const)\b)/gm;

/** Names of one file may not be those of another: all stand in one scope, and the browser refuses a second one. */
type ReadSource = (file: string) => string;

/**
 * Joins modules into one script, each before those that import it. They are written plainly for this: named imports of
 * files beside them, exports before declarations.
 * @param read gives a module as JavaScript with its imports
 * @throws Error when something is left that only a module may say
 */
export function linkScripts(main: string, read: ReadSource): string {
  const linked = new Map<string, string>();
  const link = (file: string): void => {
    if (linked.has(file)) return;
    // A circle of imports ends here; functions are there before the script begins.
    linked.set(file, '');
    const text = read(file);
    for (const { groups } of text.matchAll(IMPORT)) {
      link(posix.join(posix.dirname(file), groups?.['from'] ?? ''));
    }
    const body = text.replaceAll(IMPORT, '').replaceAll(EXPORT, '');
    const left = (RENAMED.exec(text) ?? /^(?:import|export)\b.*/m.exec(body))?.[0];
    if (left !== undefined) throw new Error(`${file} cannot be joined: ${left}`);
    linked.delete(file);
    linked.set(file, body);
  };
  link(main);
  return [...linked.values()].map(tidy).join('\n');
}

/** Types leave spaces behind, and comments are for who reads the sources. */
function tidy(text: string): string {
  return text
    .replaceAll(/^[^\S\n]*(?:\/\*\*[^]*?\*\/|\/\/ .*)$/gm, '')
    .replaceAll(/[^\S\n]+$/gm, '')
    .replaceAll(/\n{2,}/g, '\n')
    .trim();
}
