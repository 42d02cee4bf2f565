import assert from 'node:assert/strict';

/** The formats of values that differ between runs, longer ones first. */
const FORMS: readonly RegExp[] = [
  /LK(?:-[\dA-HJKMNP-TV-Z]{5}){5}/,
  /[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}/,
  /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/,
  /\d{4}-\d\d-\d\d \d\d:\d\d UTC/,
  /(?<![\w-])[\w-]{43}(?![\w-])/,
];

const ANY_FORM = new RegExp(FORMS.map((form) => form.source).join('|'), 'g');

/**
 * Compares examples in a document with real output. An example of a key, an identifier or a time matches any value of its
 * format, and always the same value; `…` matches any text.
 */
export class Examples {
  readonly #real = new Map<string, string>();

  /** Replaces the examples in a command with the real values of earlier output. */
  replaceIn(command: string): string {
    return command.replaceAll(ANY_FORM, (example) => this.#real.get(example) ?? example);
  }

  /** @throws AssertionError when the text does not match the example */
  matchText(example: string, real: string, message: string): void {
    const names: string[] = [];
    const source = example
      .trimEnd()
      .split(new RegExp(`(${ANY_FORM.source}|…)`))
      .map((part) => {
        if (part === '…') return '.*';
        const form = FORMS.find((each) => new RegExp(`^(?:${each.source})$`).test(part));
        if (form === undefined) return RegExp.escape(part);
        names.push(part);
        return `(${form.source})`;
      })
      .join('');
    const found = new RegExp(`^${source}$`).exec(real.trimEnd());
    if (found === null) assert.equal(real.trimEnd(), example.trimEnd(), message);
    names.forEach((name, index) => this.#remember(name, found?.[index + 1] ?? '', message));
  }

  /** @throws AssertionError when a value does not match the example */
  matchJson(example: unknown, real: unknown, message: string): void {
    if (typeof example === 'string' && typeof real === 'string') {
      this.matchText(example, real, message);
      return;
    }
    if (!isContainer(example) || !isContainer(real)) {
      assert.deepEqual(real, example, message);
      return;
    }
    assert.deepEqual(Object.keys(real).sort(), Object.keys(example).sort(), message);
    const counterparts = new Map(Object.entries(real));
    for (const [name, value] of Object.entries(example)) {
      this.matchJson(value, counterparts.get(name), `${name} in the answer to ${message}`);
    }
  }

  #remember(example: string, real: string, message: string): void {
    assert.equal(
      real,
      this.#real.get(example) ?? real,
      `${example} stands for two values: ${message}`,
    );
    this.#real.set(example, real);
  }
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
