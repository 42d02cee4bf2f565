/** Configuration that is not understood. The message is a sentence for the one who installs. */
export class NginxFault extends Error {
  override readonly name = 'NginxFault';
}

/** A fault with its place. */
export function faultAt(path: string, text: string, offset: number, what: string): NginxFault {
  return new NginxFault(`${describePlace(path, text, offset)} is not understood: ${what}.`);
}

/** A place as people look it up: `/etc/nginx/nginx.conf, line 12`. */
export function describePlace(path: string, text: string, offset: number): string {
  return `${path}, line ${text.slice(0, offset).split('\n').length}`;
}
