/** The maintainer of Debian packages; replace it by an address that people can write to. */
export const MAINTAINER = 'Latchkey maintainers <latchkey@packages.invalid>';
