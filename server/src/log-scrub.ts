/** The start of a word in JSON text, possibly after an escape, which `$1` preserves so that the line stays JSON. */
const start = String.raw`(\\u[\da-f]{4}|\\.|\b)`;

/**
 * Confidential text is removed from every line, in any field or message: a list of fields may be incomplete, and a
 * database's error text quotes values.
 */
const patterns: readonly (readonly [RegExp, string])[] = [
  [
    new RegExp(String.raw`${start}[A-Za-z\d]{1,16}(?:-[\dA-Za-z]{5}){5}\b`, 'gu'),
    '$1[license key]',
  ],
  [new RegExp(String.raw`${start}lk_[\dA-Za-z]{16,64}\b`, 'gu'), '$1[api key]'],
  [new RegExp(String.raw`${start}whsec_[A-Za-z\d+/=_-]{16,}`, 'gu'), '$1[webhook secret]'],
  [new RegExp(String.raw`${start}eyJ[\w-]{8,}\.[\w-]+\.[\w-]+`, 'gu'), '$1[token]'],
  [/(:\/\/)[^\s/@"\\]{1,256}@/gu, '$1[credentials]@'],
  [
    new RegExp(
      String.raw`${start}[^\s"'<>()[\]{}@,;:=\\/]{1,64}@[A-Za-z\d-]{1,63}(?:\.[A-Za-z\d-]{1,63}){0,8}\.[A-Za-z]{2,24}`,
      'gu',
    ),
    '$1[e-mail]',
  ],
  [/\bh1=[\da-f]{16,}/giu, 'h1=[signature]'],
];

/** Removes license keys, API keys, tokens, e-mail addresses, signatures and credentials in URLs from a line. */
export function scrub(line: string): string {
  return patterns.reduce((text, [pattern, instead]) => text.replace(pattern, instead), line);
}

/** Fields whose values are hidden, at the first three levels of an entry. */
export const hiddenFields = [
  'licenseKey',
  'license_key',
  'email',
  'fingerprint',
  'machineFingerprint',
  'machine_fingerprint',
  'machineId',
  'machine_id',
  'transactionId',
  'transaction_id',
  'apiKey',
  'secret',
  'secrets',
  'password',
  'token',
  'signature',
  'authorization',
  '["x-api-key"]',
  '["billing-signature"]',
].flatMap((field) => {
  const dotted = field.startsWith('[') ? field : `.${field}`;
  return [field, `*${dotted}`, `*.*${dotted}`];
});
