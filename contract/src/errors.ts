import { type Static, Type } from 'typebox';
import { ref } from './schema.ts';

export const ValidationError = Type.Object(
  {
    loc: Type.Array(Type.Unsafe<string | number>({ type: ['string', 'integer'] }), {
      description: 'Where the fault is: `body`, `header` or `path`, then names and indexes.',
      examples: [['body', 'events', 0, 'event_id']],
    }),
    msg: Type.String({ examples: ['Field required'] }),
    type: Type.String({ description: 'The kind of fault: a stable word.', examples: ['missing'] }),
  },
  { $id: 'ValidationError', description: 'One fault of a request.' },
);
export type ValidationError = Static<typeof ValidationError>;

export const HTTPValidationError = Type.Object(
  { detail: Type.Array(ref(ValidationError)) },
  { $id: 'HTTPValidationError', description: 'The request does not fit its schema.' },
);
export type HTTPValidationError = Static<typeof HTTPValidationError>;

export const Problem = Type.Object(
  {
    type: Type.String({
      format: 'uri-reference',
      description: 'Where this kind of problem is explained.',
      examples: ['/docs/errors#license_not_found'],
    }),
    title: Type.String({ examples: ['License not found'] }),
    status: Type.Integer({ examples: [404] }),
    detail: Type.String({ description: 'What happened, in a sentence.' }),
    code: Type.String({ description: 'A stable word.', examples: ['license_not_found'] }),
  },
  {
    $id: 'Problem',
    description: 'Problem details (RFC 9457); some codes add members of their own.',
    additionalProperties: true,
  },
);
export type Problem = Static<typeof Problem>;
