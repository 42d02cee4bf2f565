/** A range of texts by their bytes: `from` inclusive, `until` exclusive. */
export interface TextRange {
  readonly from: string;
  readonly until: string;
}

/** A range of UUIDs, both ends included. */
export interface IdRange {
  readonly from: string;
  readonly to: string;
}

/** What a searched text can be; null: not that. */
export interface SearchReading {
  /** Without surrounding spaces. */
  readonly text: string;
  /** The last symbols of a license key, as lists show them. */
  readonly keyHint: string | null;
  /** Addresses that begin with the text, in lower case. */
  readonly addresses: TextRange | null;
  /** UUIDs that begin with the text, in lower case; the same text twice for a whole one. */
  readonly uuids: IdRange | null;
  /** An id of a payment provider or of a machine. */
  readonly id: string | null;
}

/** A shorter text is found in too much. */
const MIN_SEARCHED_CHARACTERS = 2;

/** The longest id that the ledgers have is shorter. */
const MAX_ID_CHARACTERS = 1_024;

const MAX_ADDRESS_CHARACTERS = 254;

/** The end of a key after the dots or stars that replace the rest of it, with or without its prefix. */
const MASKED_KEY =
  /^[\p{L}\p{N}]{0,8}[-–—\s]*(?:…|\.{2,}|\*+|•+|·+)[-–—\s]*(?<hint>[^\s…*•·]{1,4})$/u;
const KEY_HINT = /^[^\s…*•·]{1,4}$/u;

/** The highest code point after the last one of a text is above every text that begins with it. */
const ABOVE_ALL = '\u{10FFFF}';

/** Reads what a searched text can be; null for a text that is too short. */
export function readSearch(searched: string): SearchReading | null {
  const text = searched.trim();
  const length = Array.from(text).length;
  if (length < MIN_SEARCHED_CHARACTERS) return null;
  return {
    text,
    keyHint: readKeyHint(text),
    addresses: readAddresses(text),
    uuids: readUuids(text),
    id: length <= MAX_ID_CHARACTERS ? text : null,
  };
}

function readKeyHint(text: string): string | null {
  const hint = MASKED_KEY.exec(text)?.groups?.['hint'] ?? KEY_HINT.exec(text)?.[0];
  return hint ?? null;
}

/** An address has no spaces, except in quotes, which nobody types. */
function readAddresses(text: string): TextRange | null {
  if (/\s/u.test(text) || text.length > MAX_ADDRESS_CHARACTERS) return null;
  return rangeOf(text.toLowerCase());
}

/** Returns the range of all texts that begin with a text. */
export function rangeOf(beginning: string): TextRange {
  return { from: beginning, until: `${beginning}${ABOVE_ALL}` };
}

/** Whether a range of UUIDs is a single one. */
export function isWhole({ from, to }: IdRange): boolean {
  return from === to;
}

const MIN_UUID_DIGITS = 8;
const UUID_DIGITS = 32;
const UUID_START = /^[0-9a-f]{8}(?:-?[0-9a-f]{0,4}){0,3}(?:-?[0-9a-f]{0,12})$/u;

/** Reads a UUID, with or without hyphens, or the first digits of one. */
function readUuids(text: string): SearchReading['uuids'] {
  const lower = text.toLowerCase();
  if (!UUID_START.test(lower)) return null;
  const digits = lower.replaceAll('-', '');
  if (digits.length < MIN_UUID_DIGITS || digits.length > UUID_DIGITS) return null;
  return {
    from: toUuid(digits.padEnd(UUID_DIGITS, '0')),
    to: toUuid(digits.padEnd(UUID_DIGITS, 'f')),
  };
}

function toUuid(digits: string): string {
  const parts = [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16)];
  return [...parts, digits.slice(16, 20), digits.slice(20)].join('-');
}
