/** What firmware, drivers and scripts fill in when they know nothing, in lower case. */
const PLACEHOLDERS: ReadonlySet<string> = new Set([
  'none',
  'null',
  'nil',
  'undefined',
  'unknown',
  'invalid',
  'empty',
  'default',
  'default string',
  'n/a',
  'na',
  'not available',
  'not applicable',
  'not specified',
  'not present',
  'oem',
  'o.e.m.',
  'to be filled by oem',
  'to be filled by o.e.m',
  'to be filled by o.e.m.',
  'serial number',
  'system serial number',
  'base board serial number',
  'chassis serial number',
  'type2 - board serial number',
  '123456789',
  '0123456789',
  '1234567890',
  '03000200-0400-0500-0006-000700080009',
  '00020003-0004-0005-0006-000700080009',
]);

const SEPARATORS = /[\s:._-]+/gu;

/** Zeroed and unprogrammed numbers, and numbers that were blotted out, once their separators are gone. */
const ONE_REPEATED_DIGIT = /^(?:0+|f{4,}|x{4,})$/u;

/** Whether a normalised text says nothing about a machine. */
export function isJunk(text: string): boolean {
  if (text === '' || PLACEHOLDERS.has(text)) return true;
  return ONE_REPEATED_DIGIT.test(text.replace(SEPARATORS, ''));
}
