import { posix } from 'node:path';

import type { NginxFile } from '../facts.ts';
import { paths } from '../paths.ts';
import { type Directive, readDirectives } from './directives.ts';
import { describePlace, NginxFault } from './tokens.ts';

const MARK = /^# configuration file (?<path>\/.*):\n/gm;

/**
 * Splits the output of `nginx -T` into files, the main one first. A line of a file that resembles a separator splits it, so
 * callers that need the exact text read the files.
 */
export function parseDump(
  stdout: string,
): readonly { readonly path: string; readonly text: string }[] {
  const marks = [...stdout.matchAll(MARK)];
  return marks.map((mark, index) => {
    const text = stdout.slice(mark.index + mark[0].length, marks[index + 1]?.index);
    // nginx adds a line end to each file.
    return { path: mark.groups?.['path'] ?? '', text: text.replace(/\n$/, '') };
  });
}

/** A directive in the order of nginx: included directives follow their `include`. */
export interface Node {
  readonly file: NginxFile;
  readonly directive: Directive;
  readonly children: readonly Node[];
}

/** The limit of nginx for nested includes. */
const MAX_DEPTH = 24;
/** Only files that include others many times exceed this. */
const MAX_NODES = 200_000;

/** The agent's snippets, which are skipped in the blocks of other sites. */
const OWN_SNIPPETS: ReadonlySet<string> = new Set([paths.nginxRoute, paths.nginxChallenge]);

/**
 * Reads the configuration as nginx does, from its main file.
 * @param files the files that nginx loads, the main one first
 * @throws NginxFault for a text that cannot be parsed
 */
export function readConfiguration(files: readonly NginxFile[]): readonly Node[] {
  const [main] = files;
  return main === undefined ? [] : new Expander(files, findDirectory(files)).expand(main, 0);
}

/** Returns the directory of nginx's main file, from which it resolves relative paths. */
export function findDirectory([main]: readonly NginxFile[]): string {
  return main === undefined ? '/etc/nginx' : posix.dirname(main.path);
}

class Expander {
  readonly #files: readonly NginxFile[];
  readonly #prefix: string;
  readonly #read = new Map<NginxFile, readonly Directive[]>();
  #count = 0;

  constructor(files: readonly NginxFile[], prefix: string) {
    this.#files = files;
    this.#prefix = prefix;
  }

  expand(file: NginxFile, depth: number): readonly Node[] {
    const directives = this.#read.get(file) ?? readDirectives(file.path, file.text);
    this.#read.set(file, directives);
    return this.#place(file, directives, depth);
  }

  #place(file: NginxFile, directives: readonly Directive[], depth: number): readonly Node[] {
    return directives.flatMap((directive) => {
      this.#count += 1;
      if (this.#count > MAX_NODES || depth > MAX_DEPTH) {
        throw new NginxFault('The files of nginx include each other too often to be parsed.');
      }
      const children = this.#place(file, directive.block?.directives ?? [], depth);
      return [{ file, directive, children }, ...this.#include(directive, depth)];
    });
  }

  #include({ name, args }: Directive, depth: number): readonly Node[] {
    const [pattern] = args;
    if (name !== 'include' || pattern === undefined) return [];
    return this.#files
      .filter(({ path }) => !OWN_SNIPPETS.has(path) && isIncluded(pattern, path, this.#prefix))
      .toSorted((a, b) => (a.path < b.path ? -1 : 1))
      .flatMap((file) => this.expand(file, depth + 1));
  }
}

/**
 * Whether the pattern of an `include` matches a file. It is a `glob(3)` pattern, relative to the directory of the main file.
 */
export function isIncluded(pattern: string, path: string, prefix: string): boolean {
  const absolute = posix.resolve(prefix, pattern);
  const plain = absolute.replaceAll(/\*+/g, '*').replaceAll(/[{}()]/g, String.raw`\$&`);
  return path === absolute || posix.matchesGlob(path, plain);
}

/** Returns file and line of a directive: `/etc/nginx/nginx.conf, line 12`. */
export function describeNode({ file, directive }: Node): string {
  return describePlace(file.path, file.text, directive.start);
}

/** Returns the directives of a name, in order. */
export function listNamed(nodes: readonly Node[], name: string): readonly Node[] {
  return nodes.filter(({ directive }) => directive.name === name);
}
