/** The part of a product's link that is replaced by the id of a license. */
const LICENSE_ID = '{license_id}';

const SAMPLE_ID = '00000000-0000-7000-8000-000000000000';

/** Returns a link for a license. */
export function fillProductLink(template: string, licenseId: string): string {
  return template.replaceAll(LICENSE_ID, encodeURIComponent(licenseId));
}

/** Returns what is wrong with the link of a product, as in "renew_url must …"; null: nothing. */
export function findLinkProblem(template: string): string | null {
  const url = URL.parse(fillProductLink(template, SAMPLE_ID));
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') {
    return 'must be an address that starts with https://, without a user';
  }
  const { hash, host, pathname, search } = url;
  const isInHost = host.includes(SAMPLE_ID);
  if (isInHost || !`${pathname}${search}${hash}`.includes(SAMPLE_ID)) {
    return `must contain ${LICENSE_ID} after the host: it becomes the id of the license, which the purchase has to name`;
  }
  return null;
}
