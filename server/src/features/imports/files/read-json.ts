import { isRecord } from '#server/lib/unknown-values.ts';

import { ImportFileError } from './import-file-error.ts';
import type { SourceRow } from './source-row.ts';

/** A longer record is refused: an unclosed quote must not consume the whole file. */
const MAX_RECORD_CHARACTERS = 4_194_304;

const MAX_DEPTH = 100;

/** The properties of a response whose arrays contain records. */
const LISTS = ['data', 'included', 'items', 'licenses'];

const [QUOTE, BACKSLASH, LINE_FEED, SPACE, COMMA, BYTE_ORDER_MARK] = [34, 92, 10, 32, 44, 0xfeff];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];

/** A text between its first and last bracket, and where it begins. */
interface Part {
  readonly line: number;
  readonly text: string;
  /** Whether it is in an array: the line then does not identify it, because interfaces send the whole array in one. */
  readonly isListed: boolean;
}

type Unnumbered =
  | { readonly record: Readonly<Record<string, unknown>> }
  | { readonly problem: string };

/**
 * Reads the records of a JSON file as a stream: those of an array, of the pages of an interface (`{"data": [...]}`, one or
 * several in an array or after each other), or of JSON lines. Records of arrays are numbered, the others have their line.
 * @throws ImportFileError for a file that is not JSON, or a record of more than four million characters
 */
export async function* readJson(chunks: AsyncIterable<string>): AsyncGenerator<SourceRow> {
  const scanner = new JsonScanner();
  let count = 0;
  for await (const chunk of chunks) {
    for (const part of scanner.scan(chunk)) {
      for (const row of readPart(part)) {
        count += 1;
        yield { line: part.isListed ? count : part.line, ...row };
      }
    }
  }
  scanner.end();
}

function readPart({ text }: Part): Unnumbered[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [{ problem: 'The record is not JSON.' }];
  }
  return isRecord(value) ? expand(value) : [{ problem: 'The record is not an object.' }];
}

/** A page of an interface within an array contains records of its own. */
function expand(value: Readonly<Record<string, unknown>>): Unnumbered[] {
  const lists = LISTS.flatMap((name) => {
    const list = value[name];
    return Array.isArray(list) && typeof value['id'] === 'undefined' ? [list] : [];
  });
  if (lists.length === 0) return [{ record: value }];
  return lists.flat().flatMap((record) => (isRecord(record) ? [{ record }] : []));
}

/** The longest name of a property that is compared with {@link LISTS}. */
const MAX_NAME_CHARACTERS = 20;

/**
 * Finds the records of a JSON text without parsing the whole: objects at the top, in an array at the top, and in the arrays
 * of {@link LISTS} of an object at the top. An object at the top that has such an array is a page; any other is a record.
 */
class JsonScanner {
  #line = 1;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isTopObject = false;
  /** The latest string of the object at the top: the name of the array that begins. */
  #name = '';
  #isPage = false;
  #isInList = false;
  /** The text of the record that is being read; null between records. */
  #text: string | null = null;
  #textLine = 1;
  #textDepth = 0;
  /** The line of the latest text outside a value. */
  #outsideTextLine = 0;

  *scan(chunk: string): Generator<Part> {
    let start = 0;
    for (let index = 0; index < chunk.length; index += 1) {
      const code = chunk.charCodeAt(index);
      if (code === LINE_FEED) this.#line += 1;
      if (this.#isInString) {
        this.#continueString(code);
      } else if (this.#isOutsideValue(code)) {
        yield* this.#reportOutsideText();
      } else if (code === QUOTE) {
        this.#isInString = true;
        this.#name = '';
      } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
        if (this.#open(code)) start = index;
      } else if ((code === CLOSE_OBJECT || code === CLOSE_ARRAY) && this.#close()) {
        yield this.#take(chunk.slice(start, index + 1));
        start = index + 1;
      }
    }
    if (this.#text !== null) this.#append(chunk.slice(start));
  }

  /** Text beside the values at the top, which no record contains. */
  #isOutsideValue(code: number): boolean {
    if (this.#depth > 0 || code <= SPACE || code === COMMA) return false;
    return ![OPEN_ARRAY, OPEN_OBJECT, CLOSE_ARRAY, CLOSE_OBJECT, BYTE_ORDER_MARK].includes(code);
  }

  /** Reports it once for each line, as a record that is not JSON. */
  *#reportOutsideText(): Generator<Part> {
    if (this.#outsideTextLine === this.#line) return;
    this.#outsideTextLine = this.#line;
    yield { line: this.#line, text: '', isListed: false };
  }

  /** @throws ImportFileError when the text ends within a value */
  end(): void {
    if (this.#depth !== 0 || this.#isInString) {
      throw new ImportFileError(`Line ${this.#line}: the file ends within a JSON value.`);
    }
  }

  #continueString(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === BACKSLASH) this.#isEscaped = true;
    else if (code === QUOTE) this.#isInString = false;
    else if (this.#depth === 1 && this.#name.length < MAX_NAME_CHARACTERS) {
      this.#name += String.fromCharCode(code);
    }
  }

  /** Opens an object or an array; returns whether a record begins with it. */
  #open(code: number): boolean {
    const depth = this.#depth;
    if (depth === 0) this.#isTopObject = code === OPEN_OBJECT;
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) {
      throw new ImportFileError(`Line ${this.#line}: the JSON is nested too deeply.`);
    }
    if (depth === 1 && this.#isTopObject && code === OPEN_ARRAY && LISTS.includes(this.#name)) {
      this.#isPage = true;
      this.#isInList = true;
      this.#text = null;
      return false;
    }
    const begins = this.#text === null && this.#isRecordAt(depth, code);
    if (begins) this.#begin(depth);
    return begins;
  }

  #isRecordAt(depth: number, code: number): boolean {
    if (depth === 0) return code === OPEN_OBJECT;
    if (depth === 1) return !this.#isTopObject;
    return depth === 2 && this.#isInList;
  }

  #begin(depth: number): void {
    this.#text = '';
    this.#textLine = this.#line;
    this.#textDepth = depth;
  }

  /** Closes an object or an array; returns whether a record ends with it. */
  #close(): boolean {
    this.#depth -= 1;
    if (this.#depth < 0) throw new ImportFileError(`Line ${this.#line}: the file is not JSON.`);
    if (this.#depth <= 1 && this.#isPage) this.#isInList = false;
    if (this.#depth === 0) this.#isPage = false;
    return this.#text !== null && this.#depth === this.#textDepth;
  }

  #append(text: string): void {
    this.#text = (this.#text ?? '') + text;
    if (this.#text.length > MAX_RECORD_CHARACTERS) {
      throw new ImportFileError(`Line ${this.#textLine}: the record is too long.`);
    }
  }

  #take(text: string): Part {
    this.#append(text);
    const isListed = this.#textDepth > 0;
    const part = { line: this.#textLine, text: this.#text ?? '', isListed };
    this.#text = null;
    return part;
  }
}
