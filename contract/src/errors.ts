import { type Static, Type } from 'typebox';
import { ref } from './schema.ts';

export const ValidationError = Type.Object(
  {
    loc: Type.Array(Type.Unsafe<string | number>({ type: ['string', 'integer'] }), {
      description:
        'The place of the error: `path`, `query`, `header` or `body`, then names and indexes.',
      examples: [['body', 'events', 0, 'event_id']],
    }),
    msg: Type.String({ examples: ['Field required'] }),
    type: Type.String({ description: 'The kind of error: a stable code.', examples: ['missing'] }),
  },
  { $id: 'ValidationError', description: 'One error of a request.' },
);
export type ValidationError = Static<typeof ValidationError>;

export const HTTPValidationError = Type.Object(
  { detail: Type.Array(ref(ValidationError)) },
  { $id: 'HTTPValidationError', description: 'The request does not match its schema.' },
);
export type HTTPValidationError = Static<typeof HTTPValidationError>;

export const Problem = Type.Object(
  {
    type: Type.String({
      format: 'uri-reference',
      description: 'The address of the explanation of this problem.',
      examples: ['/docs/errors#license_not_found'],
    }),
    title: Type.String({ examples: ['License not found'] }),
    status: Type.Integer({ examples: [404] }),
    detail: Type.String({ description: 'The problem, in one sentence.' }),
    code: Type.String({ description: 'A stable code.', examples: ['license_not_found'] }),
  },
  {
    $id: 'Problem',
    description: 'Problem details (RFC 9457); some codes add members of their own.',
    additionalProperties: true,
  },
);
export type Problem = Static<typeof Problem>;
