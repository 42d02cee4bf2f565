/** Nobody reads mail at this address. */
export const PLACEHOLDER = 'Latchkey maintainers <latchkey@packages.invalid>';

/** The maintainer of Debian packages, in the form `Name <address>`. `npm run release` rejects the placeholder. */
export const MAINTAINER: string = PLACEHOLDER;
