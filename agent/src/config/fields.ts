import type { ConfigPath } from './yaml-source.ts';

/** A problem: the rest of a sentence that begins with the field's name. */
export interface Problem {
  readonly path: ConfigPath;
  readonly text: string;
}

/** A mapping that is being read. Problems are collected; with any, the result is discarded. */
export class Fields {
  readonly #values: ReadonlyMap<string, unknown>;
  readonly #path: ConfigPath;
  readonly #problems: Problem[];
  readonly #isMapping: boolean;

  /** An unknown field is a problem: it would have no effect. */
  constructor(value: unknown, path: ConfigPath, known: readonly string[], problems: Problem[]) {
    const isMapping = typeof value === 'object' && value !== null && !Array.isArray(value);
    this.#values = new Map<string, unknown>(isMapping ? Object.entries(value) : []);
    this.#path = path;
    this.#problems = problems;
    this.#isMapping = isMapping;
    if (!isMapping) this.#report([], `must be a mapping with the fields ${known.join(', ')}`);
    for (const name of this.#values.keys()) {
      const text = `is not a field here; known are ${known.join(', ')}`;
      if (!known.includes(name)) this.#report([name], text);
    }
  }

  /** Opens a nested mapping; a missing one has no fields. */
  open(name: string, known: readonly string[]): Fields {
    const value = this.#values.get(name) ?? {};
    return new Fields(value, [...this.#path, name], known, this.#problems);
  }

  /** Whether a field is present and null. */
  isNull(name: string): boolean {
    return this.#values.get(name) === null;
  }

  /** Reads a text; required without a default, which may be null. */
  text<Default extends string | null = never>(
    name: string,
    rule: { readonly pattern: RegExp; readonly must: string },
    byDefault?: Default,
  ): string | Default {
    const value = this.#values.get(name) ?? null;
    if (value === null && byDefault !== undefined) return byDefault;
    if (typeof value === 'string' && rule.pattern.test(value)) return value;
    return this.#report(
      [name],
      value === null ? `is missing: ${rule.must}` : `must be ${rule.must}`,
    );
  }

  integer(name: string, min: number, max: number, byDefault: number): number {
    const value = this.#values.get(name) ?? byDefault;
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) {
      return value;
    }
    this.#report([name], `must be a whole number from ${min} to ${max}`);
    return byDefault;
  }

  flag(name: string, byDefault: boolean): boolean {
    const value = this.#values.get(name) ?? byDefault;
    if (typeof value === 'boolean') return value;
    this.#report([name], 'must be true or false');
    return byDefault;
  }

  /** Reads a list of texts; empty when it is missing. */
  texts(name: string, rule: { readonly pattern: RegExp; readonly must: string }): string[] {
    const value = this.#values.get(name) ?? [];
    if (!Array.isArray(value) || value.length > 100) {
      this.#report([name], 'must be a list of up to 100 texts');
      return [];
    }
    return value.map((each: unknown, at) => {
      if (typeof each === 'string' && rule.pattern.test(each)) return each;
      return this.#report([name, at], `must be ${rule.must}`);
    });
  }

  /** Reports that a field conflicts with another one. */
  reject(name: string, text: string): void {
    this.#report([name], text);
  }

  /** Reports the first problem of a field, and none inside a value that is not a mapping. */
  #report(below: ConfigPath, text: string): string {
    const path = [...this.#path, ...below];
    const isReported = this.#problems.some((each) => each.path.join('.') === path.join('.'));
    if (!isReported && (this.#isMapping || below.length === 0)) this.#problems.push({ path, text });
    return '';
  }
}
