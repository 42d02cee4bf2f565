import { badRequest } from '#server/errors.ts';

/** The fields of a form: a text, or a file as its text. */
export type FormFields = ReadonlyMap<string, string>;

const FORM_TYPE = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/iu;

/** Whether a content type is that of a form. */
export function isForm(contentType: string | undefined): contentType is string {
  return contentType !== undefined && FORM_TYPE.test(contentType);
}

/**
 * Reads the form that a browser sent. A later field of the same name counts only if it is not empty, so that an empty
 * file does not replace a text.
 * @param body the bytes of the body
 * @throws badRequest (400) for anything but a form
 */
export async function readForm(
  contentType: string | undefined,
  body: unknown,
): Promise<FormFields> {
  const fields = new Map<string, string>();
  if (!Buffer.isBuffer(body) || body.length === 0) return fields;
  if (!isForm(contentType)) throw badRequest();
  const headers = { 'content-type': contentType };
  const form = await new Response(new Uint8Array(body), { headers }).formData().catch(() => null);
  if (form === null) throw badRequest('The body is not the form that its type declares.');
  for (const [name, value] of form) {
    const text = typeof value === 'string' ? value : await value.text();
    // PostgreSQL stores neither U+0000 nor lone surrogates.
    const storable = text.replaceAll('\0', '').toWellFormed();
    if (storable !== '' || !fields.has(name)) fields.set(name, storable);
  }
  return fields;
}
