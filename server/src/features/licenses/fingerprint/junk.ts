/** What firmware, drivers and scripts say when they have nothing to say, in lower case. */
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

/** Only one of 0, f and x, however it is grouped: zeroed and unprogrammed numbers. */
const ONE_REPEATED_DIGIT = /^[\s:._-]*(?:0[0\s:._-]*|f[f\s:._-]*|x[x\s:._-]*)$/u;

/** Whether a normalised text says nothing about a machine. */
export function isJunk(text: string): boolean {
  return text === '' || PLACEHOLDERS.has(text) || ONE_REPEATED_DIGIT.test(text);
}
