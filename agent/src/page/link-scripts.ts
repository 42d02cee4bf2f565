import { posix } from 'node:path';

const IMPORT = /^import \{[\s\w,$]*\} from '(?<from>\.[^']*)';[^\S\n]*$/gm;
const RENAMED = /^import \{[^{}]*\bas\b/m;
const EXPORT = /^export (?=(?:async )?(?:function|class|const)\b)/gm;

/** Reads a module. */
type ReadSource = (file: string) => string;

/**
 * Joins modules into one script in import order. The bundler of the package, rolldown, is a development dependency, and an agent that
 * runs from its sources may lack those. All share one scope, so top-level names must be unique; only named imports of
 * neighbouring files and exports of declarations are supported.
 * @param read returns a module as JavaScript
 * @throws Error for other imports and exports
 */
export function linkScripts(main: string, read: ReadSource): string {
  const linked = new Map<string, string>();
  const link = (file: string): void => {
    if (linked.has(file)) return;
    // Ends import cycles; function declarations are hoisted.
    linked.set(file, '');
    const text = read(file);
    for (const { groups } of text.matchAll(IMPORT)) {
      link(posix.join(posix.dirname(file), groups?.['from'] ?? ''));
    }
    const body = text.replaceAll(IMPORT, '').replaceAll(EXPORT, '');
    const left = (RENAMED.exec(text) ?? /^(?:import|export)\b.*/m.exec(body))?.[0];
    if (left !== undefined) throw new Error(`${file} cannot be linked: ${left}`);
    linked.delete(file);
    linked.set(file, body);
  };
  link(main);
  return [...linked.values()].map(minify).join('\n');
}

/** Removes lines of comments, empty lines, and blanks left by stripped types. */
function minify(text: string): string {
  let isComment = false;
  const lines = text.split('\n').filter((line) => {
    const content = line.trim();
    isComment ||= content.startsWith('/**');
    const isKept = !isComment && content !== '' && !content.startsWith('// ');
    isComment &&= !content.endsWith('*/');
    return isKept;
  });
  return lines.map((line) => line.trimEnd()).join('\n');
}
