/** Finds the SQL statements of the service that name a table which Citus may spread. */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { SPREAD_TABLES } from '#server/features/spread/rules/layout.ts';

const SOURCES = join(import.meta.dirname, '../src');

/** A statement on a spread table. */
export interface FoundStatement {
  /** Its name; without one, the file and the function or constant that contains it. */
  readonly name: string;
  /** Of its text and of all that is inserted into it in the same file, without white space. */
  readonly hash: string;
}

const TABLES = SPREAD_TABLES.map(({ table }) => table).join('|');

/** A call that returns the name of a partition of events, or the name of a table as a parameter. */
const PASSES_TABLE = /\bpartitionOf\(|'(?:event_ids|usage_days|usage_first_days)'/;

/** Names of spread tables after a keyword of SQL, or quoted as a regclass. */
const NAMES_TABLE = new RegExp(
  `\\b(?:from|join|into|update|table|like|truncate)\\s+(?:only\\s+)?(?:${TABLES})(?![\\w.-])|'(?:${TABLES})'(?:::regclass|\\))`,
);

/** Returns the statements of the service on spread tables, in the order of their names. */
export function findSpreadStatements(): FoundStatement[] {
  const files = globSync('**/*.ts', { cwd: SOURCES }).filter(
    (file) => !/\.(?:test|fixture)\.ts$/.test(file) && !file.startsWith('features/spread/'),
  );
  return files
    .flatMap((file) => findInSource(file, readFileSync(join(SOURCES, file), 'utf8')))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns the statements of a source file on spread tables. @param file its path */
export function findInSource(file: string, source: string): FoundStatement[] {
  const declarations = splitDeclarations(source);
  return [...declarations].flatMap(([name, text]) => {
    const isFound =
      PASSES_TABLE.test(text) || listTexts(text).some((each) => NAMES_TABLE.test(each));
    if (!isFound) return [];
    const label = /(?:defineStatement|defineCommand)\(\s*'(\w+)'|name: '(\w+)'/.exec(text);
    return [
      { name: label?.[1] ?? label?.[2] ?? `${file} ${name}`, hash: hashOf(name, declarations) },
    ];
  });
}

/** Returns the declarations of a module by name. The formatter begins each at the start of a line. */
function splitDeclarations(source: string): ReadonlyMap<string, string> {
  const starts = /^(?:export )?(?:async )?(?:const|let|function|class|interface|type)\*? (\w+)/gmu;
  const found = [...source.matchAll(starts)];
  return new Map(
    found.map((match, index) => [
      match[1] ?? '',
      withoutComments(source.slice(match.index, found[index + 1]?.index)),
    ]),
  );
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gmu, '');
}

/** Returns the texts in quotes and backticks. */
function listTexts(declaration: string): string[] {
  return [...declaration.matchAll(/`[^`]*`|'(?:[^'\n\\]|\\.)*'|"[^"\n]*"/gu)].map(([text]) => text);
}

function hashOf(name: string, declarations: ReadonlyMap<string, string>): string {
  const texts: string[] = [];
  const pending = [name];
  const done = new Set<string>();
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (done.has(next)) continue;
    done.add(next);
    const own = listTexts(declarations.get(next) ?? '');
    texts.push(...own);
    const inserted = own.flatMap((text) => [...text.matchAll(/\$\{([^}]*)\}/gu)]);
    const names = inserted.flatMap(([, code = '']) => code.match(/\w+/gu) ?? []);
    pending.push(...names.filter((each) => declarations.has(each)));
  }
  const text = texts.join('\n').replaceAll(/\s+/gu, ' ');
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
