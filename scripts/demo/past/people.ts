import type { OperatorRole } from '@latchkey/contract';

/** An operator of the demo. */
export interface DemoOperator {
  readonly name: string;
  readonly email: string;
  readonly role: OperatorRole;
  /** As the audit log names it. */
  readonly actor: string;
}

function operator(name: string, email: string, role: OperatorRole): DemoOperator {
  return { name, email, role, actor: `operator:${email}` };
}

export const ADMIN = operator('Nora Lindqvist', 'nora@contour.example', 'admin');
export const SUPPORT = operator('Samir Haddad', 'samir@contour.example', 'support');
export const VIEWER = operator('Wren Castillo', 'wren@contour.example', 'viewer');
/** Signs in with one-time codes. */
export const SECOND_ADMIN = operator('Tomasz Zieliński', 'tomasz@contour.example', 'admin');
/** Left the company. */
export const FORMER = operator('Ines Duarte', 'ines@contour.example', 'support');

/** The operators who can sign in. */
export const OPERATORS = [ADMIN, SUPPORT, VIEWER, SECOND_ADMIN] as const;

/** The actor of commands that the demo runs itself. */
export const SHELL = 'shell:deploy';
