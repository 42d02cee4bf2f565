/** For packages that are not published: mail to this address is not delivered. */
export const PLACEHOLDER = 'Latchkey maintainers <latchkey@packages.invalid>';

/** The maintainer of Debian packages, in the form `Name <address>`. `npm run release` rejects the placeholder. */
export const MAINTAINER: string = PLACEHOLDER;
