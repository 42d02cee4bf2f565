/** Values that the console needs in the browser, in a file without schemas, which it would have to load. */

/** The roles of operators, each with all permissions of the one before it. */
export const OPERATOR_ROLES = ['viewer', 'support', 'admin'] as const;

export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** In characters. */
export const MIN_PASSWORD_LENGTH = 12;
export const MAX_PASSWORD_LENGTH = 200;
